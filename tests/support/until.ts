/** Waits for a condition, never for a time; what never comes true becomes an error with a name. */
import { setTimeout as pause } from "node:timers/promises";

const lookEveryMs = 20;

/** Looks again and again until it finds something, and answers that. */
export async function until<Found>(
  what: string,
  find: () => Promise<Found | undefined> | Found | undefined,
  withinMs = 30_000,
): Promise<Found> {
  const giveUpAt = performance.now() + withinMs;
  for (;;) {
    const found = await find();
    if (found !== undefined) return found;
    if (performance.now() > giveUpAt) {
      throw new Error(`waited ${withinMs / 1000} s in vain until ${what}`);
    }
    await pause(lookEveryMs);
  }
}

export function untilTrue(what: string, isSo: () => boolean, withinMs?: number): Promise<true> {
  return until(what, () => (isSo() ? true : undefined), withinMs);
}
