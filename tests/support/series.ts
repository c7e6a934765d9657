/**
 * The two runs of the tests: `npm test`, which takes ten minutes, and `npm test -- long`, which has
 * all dialects, longer series and the tests that are too slow for the first.
 */

export const isLongRun = process.env["TOLLGATE_LONG"] !== undefined;

export function series(short: number, inFull: number): number {
  return isLongRun ? inFull : short;
}

/** All rows in the long run; in the short one those that `isShort` chooses. */
export function rowsOf<Row>(rows: readonly Row[], isShort: (row: Row) => boolean): readonly Row[] {
  return isLongRun ? rows : rows.filter(isShort);
}

/** Printed by the tests that use it: the same seed repeats them. */
export const seed = Number(process.env["TOLLGATE_SEED"] ?? Date.now() % 1_000_000_007);

/** The same inputs in every short run, of which few are enough then; others in every long one. */
export function seedOf(short: number): number {
  return isLongRun || process.env["TOLLGATE_SEED"] !== undefined ? seed : short;
}
