/** Series of random or repeated tests: short in `npm test`, in full by `npm test -- long`. */

const isInFull = process.env["TOLLGATE_LONG"] !== undefined;

export function series(short: number, inFull: number): number {
  return isInFull ? inFull : short;
}

/** Printed by the tests that use it: the same seed repeats them. */
export const seed = Number(process.env["TOLLGATE_SEED"] ?? Date.now() % 1_000_000_007);
