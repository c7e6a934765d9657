/**
 * The two runs of the tests: `npm test`, which takes ten minutes, and `npm test -- long`, which has
 * all dialects, longer series and the tests that are too slow for the first.
 */
import { type TestContext, test } from "node:test";

export const isLongRun = process.env["TOLLGATE_LONG"] !== undefined;

/** Defines a test of the long run: the short run takes the same path in another test. */
export function testInLongRun(name: string, run: (t: TestContext) => Promise<void>): void {
  if (isLongRun) test(name, run);
}

export function series(short: number, inFull: number): number {
  return isLongRun ? inFull : short;
}

/** Returns all rows in the long run, and those that `isShort` chooses in the short one. */
export function rowsOf<Row>(rows: readonly Row[], isShort: (row: Row) => boolean): readonly Row[] {
  return isLongRun ? rows : rows.filter(isShort);
}

/** A number below `bound` that is always the same for a text: it spreads tests over variants. */
export function numberOf(text: string, bound: number): number {
  return [...text].reduce((sum, letter) => sum + (letter.codePointAt(0) ?? 0), 0) % bound;
}

/** Printed by the tests that use it: the same seed repeats them. */
export const seed = Number(process.env["TOLLGATE_SEED"] ?? Date.now() % 1_000_000_007);

/** The same inputs in every short run, of which few are enough then; others in every long one. */
export function seedOf(short: number): number {
  return isLongRun || process.env["TOLLGATE_SEED"] !== undefined ? seed : short;
}
