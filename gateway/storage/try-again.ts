/** Repeats a statement while the database is away, with growing gaps, as long as it may take. */
import { setTimeout } from "node:timers/promises";
import { isConnectionLoss } from "./database.ts";

const firstGapMs = 50;
const gapMaxMs = 1000;

/** `run` learns how often it was tried before: a try whose answer got lost may have counted. */
export async function tryAgain<Result>(
  run: (tries: number) => Promise<Result>,
  triesMs: number,
): Promise<Result> {
  const giveUpAt = performance.now() + triesMs;
  for (let tries = 0; ; tries += 1) {
    try {
      return await run(tries);
    } catch (error) {
      if (!isConnectionLoss(error) || performance.now() > giveUpAt) throw error;
      await setTimeout(Math.min(firstGapMs * 2 ** tries, gapMaxMs));
    }
  }
}
