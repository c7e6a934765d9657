/** Reconciliation: the state of a day, its address, and lines of an import that were left. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { english } from "../language/texts.ts";
import { readPlace } from "../shell/place.ts";
import { acquirersTotal, addressOf, readDay, stateOf, unrecordedIn } from "./day-lines.ts";

// biome-ignore format: a table
const states = [
  [true,  0, "approved", "Agrees"],
  [false, 1, "declined", "1 difference"],
  [false, 3, "declined", "3 differences"],
  // Totals tell that a day differs, and not where.
  [false, 0, "declined", "Differs"],
] as const;

for (const [agrees, differences, colour, text] of states) {
  test(`a day reads “${text}” with ${differences} differences`, () => {
    assert.deepEqual(stateOf({ agrees, differences }, english), [colour, text]);
  });
}

test("the address of a day asks for that day again", () => {
  for (const way of ["file", "totals"] as const) {
    const line = { gate: "north", day: "2030-01-31", way };

    const { item, query } = readPlace(`/portal/${addressOf(line)}`);

    assert.deepEqual(readDay(item, query), line);
  }
  assert.deepEqual(readDay("north", new URLSearchParams("day=2030-01-31&way=guess")), {
    gate: "north",
    day: "2030-01-31",
    way: "file",
  });
});

test("the acquirer's side is its sum and count, else the balance that its host tells, else unknown", () => {
  assert.deepEqual(acquirersTotal({ there: "9.00", countThere: 2 }), { sum: "9.00", count: 2 });
  assert.deepEqual(acquirersTotal({ balance: "agrees" }), { sum: "agrees" });
  assert.deepEqual(acquirersTotal({}), { sum: "–" });
});

test("of an import, lines that were recorded or known before are not complained of", () => {
  const rows = ["recorded", "known", "no such order", "recorded before with another amount"].map(
    (result, at) => ({ line: String(at + 2), result }),
  );

  assert.deepEqual(
    unrecordedIn([...rows, { line: "6" }]).map(({ line }) => line),
    ["4", "5", "6"],
  );
});
