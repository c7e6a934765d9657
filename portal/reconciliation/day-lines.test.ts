/** Tests a reconciled day's state and URL, and the lines of an import that were not recorded. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { english } from "../language/texts.ts";
import { readAddress } from "../shell/address.ts";
import { acquirersTotal, addressOf, readDay, stateOf, unrecordedIn } from "./day-lines.ts";

// biome-ignore format: a table
const states = [
  [true,  0, "approved", "Agrees"],
  [false, 1, "declined", "1 difference"],
  [false, 3, "declined", "3 differences"],
  // Totals only show that a day differs, and not in which orders.
  [false, 0, "declined", "Differs"],
] as const;

for (const [agrees, differences, colour, text] of states) {
  test(`a day reads “${text}” with ${differences} differences`, () => {
    assert.deepEqual(stateOf({ agrees, differences }, english), [colour, text]);
  });
}

test("the address of a day is read as that day", () => {
  for (const way of ["file", "totals"] as const) {
    const line = { gate: "north", day: "2030-01-31", way };

    const { item, query } = readAddress(`/portal/${addressOf(line)}`);

    assert.deepEqual(readDay(item, query), line);
  }
  assert.deepEqual(readDay("north", new URLSearchParams("day=2030-01-31&way=guess")), {
    gate: "north",
    day: "2030-01-31",
    way: "file",
  });
});

test("the acquirer's side is its sum and count, or the balance that its host reports, or unknown", () => {
  assert.deepEqual(acquirersTotal({ there: "9.00", countThere: 2 }), { sum: "9.00", count: 2 });
  assert.deepEqual(acquirersTotal({ balance: "agrees" }), { sum: "agrees" });
  assert.deepEqual(acquirersTotal({}), { sum: "–" });
});

test("lines of an import that were recorded or known before are not listed as unrecorded", () => {
  const rows = ["recorded", "known", "no such order", "recorded before with another amount"].map(
    (result, at) => ({ line: String(at + 2), result }),
  );

  assert.deepEqual(
    unrecordedIn([...rows, { line: "6" }]).map(({ line }) => line),
    ["4", "5", "6"],
  );
});
