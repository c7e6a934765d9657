/** Waits for a condition, never for a time; what never comes true becomes an error with a name. */
import { setTimeout as pause } from "node:timers/promises";

/** The pause between two looks begins with the first value and grows to the second. */
const [firstPauseMs, longestPauseMs] = [10, 100];
/** Only for what never comes true: no test passes or fails by how fast the machine is. */
const patienceMs = 120_000;

/** Looks again and again until it finds something, and answers that. */
export async function until<Found>(
  what: string,
  find: () => Promise<Found | undefined> | Found | undefined,
): Promise<Found> {
  const giveUpAt = performance.now() + patienceMs;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(1.25 * pauseMs, longestPauseMs)) {
    const found = await find();
    if (found !== undefined) return found;
    if (performance.now() > giveUpAt) {
      throw new Error(`waited ${patienceMs / 1000} s in vain until ${what}`);
    }
    await pause(pauseMs);
  }
}

export function untilTrue(what: string, isSo: () => boolean): Promise<true> {
  return until(what, () => (isSo() ? true : undefined));
}
