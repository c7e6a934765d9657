/**
 * The two runs of the tests: `npm test`, which takes ten minutes, and `npm test -- long`, which has
 * all dialects, longer series and the tests that are too slow for the first.
 */
import { type TestContext, test } from "node:test";

export const isLongRun = process.env["TOLLGATE_LONG"] !== undefined;

/** Defines a test of the long run. The short run covers the same behaviour in another test. */
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

/**
 * Returns a number below `bound` that is always the same for a text, to spread tests over variants.
 */
export function numberOf(text: string, bound: number): number {
  return [...text].reduce((sum, letter) => sum + (letter.codePointAt(0) ?? 0), 0) % bound;
}

/** The seed of random inputs. Tests that use it print it, and the same seed repeats them. */
export const seed = Number(process.env["TOLLGATE_SEED"] ?? Date.now() % 1_000_000_007);

/**
 * Returns a seed: a fixed one in every short run, which needs few inputs, and another one in every
 * long run.
 */
export function seedOf(short: number): number {
  return isLongRun || process.env["TOLLGATE_SEED"] !== undefined ? seed : short;
}
