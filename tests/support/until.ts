/**
 * Waits for a condition, and never for a fixed time. A condition that never becomes true is an
 * error with a name.
 */
import { setTimeout as pause } from "node:timers/promises";

/** The pause between two attempts begins with the first value and grows to the second. */
const [firstPauseMs, longestPauseMs] = [10, 100];
/**
 * Applies only to conditions that never become true. No test passes or fails by the speed of the
 * machine.
 */
const patienceMs = 120_000;

/** Repeats until `find` returns a result, and returns that. */
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
