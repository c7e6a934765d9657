/** Finds a short plan that still breaks the same law, by dropping faults and purchases in turn. */
import { type Outcome, type Plan, simulate } from "./simulation.ts";

const triesMax = 120;

export async function shorten(failed: Outcome): Promise<Outcome> {
  const law = failed.violations[0]?.law;
  let best = failed;
  let tries = 0;
  const isTired = () => tries >= triesMax;
  for (let before = -1; before !== sizeOf(best.plan) && !isTired(); ) {
    before = sizeOf(best.plan);
    await drop("purchases");
    await drop("faults");
  }
  return best;

  /** Drops halves first, then quarters, down to single ones. */
  async function drop(what: "faults" | "purchases"): Promise<void> {
    for (let size = Math.ceil(best.plan[what].length / 2); size >= 1; size = Math.floor(size / 2)) {
      for (let from = 0; from < best.plan[what].length && !isTired(); ) {
        const left = best.plan[what].filter((_, index) => index < from || index >= from + size);
        if (!(await stillBreaks({ ...best.plan, [what]: left }))) from += size;
      }
    }
  }

  async function stillBreaks(plan: Plan): Promise<boolean> {
    tries += 1;
    const outcome = await simulate(failed.seed, plan);
    const isSame = outcome.violations.some((violation) => violation.law === law);
    if (isSame) best = outcome;
    return isSame;
  }
}

function sizeOf({ faults, purchases }: Plan): number {
  return faults.length + purchases.length;
}
