/** The pages of several cells are joined into one list. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Window } from "../../portal-api/reads.ts";
import { joinPages } from "./portal-reads.ts";

type Row = { readonly at: number };

const join = (limit: number, ...windows: readonly Window<Row, number>[]) =>
  joinPages(
    windows,
    limit,
    ({ at }) => at,
    (one, other) => other - one,
  );
const at = (...instants: readonly number[]) => instants.map((each) => ({ at: each }));

test("rows of all cells are sorted together, and a full page has no end", () => {
  const page = join(3, { rows: at(9, 5), end: undefined }, { rows: at(8, 7), end: undefined });

  assert.deepEqual(page, { rows: at(9, 8, 7), end: undefined });
});

test("nothing is shown beyond the position up to which every cell was examined", () => {
  const page = join(5, { rows: at(9, 2), end: undefined }, { rows: at(8), end: 6 });

  assert.deepEqual(page, { rows: at(9, 8), end: 6 });
});

test("the first of several ends counts, and the next page continues there", () => {
  const page = join(5, { rows: at(9, 7), end: 4 }, { rows: at(8, 5), end: 5 });

  assert.deepEqual(page, { rows: at(9, 8, 7, 5), end: 5 });
});
