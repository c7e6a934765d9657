/** Tests the values that a screen reads from a URL of the portal, and the changes that it makes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { changeAddress, readAddress, rowBelow } from "./address.ts";

// biome-ignore format: a table
const places = [
  ["/portal",                            "",           "",        ""],
  ["/portal/",                           "",           "",        ""],
  ["/portal/orders?status=declined",     "orders",     "",        "status=declined"],
  ["/portal/orders/12?row=3",            "orders",     "12",      "row=3"],
  ["/portal/merchants/shop%20%C3%A4",    "merchants",  "shop ä",  ""],
  ["/portal/gates/a%2Fb",                "gates",      "a/b",     ""],
] as const;

for (const [address, screen, item, query] of places) {
  test(`${address} names the screen and its item`, () => {
    const place = readAddress(address);

    assert.deepEqual([place.screen, place.item, place.query.toString()], [screen, item, query]);
  });
}

const address = { pathname: "/portal/orders", search: "?status=declined&after=7" };

// biome-ignore format: a table
const changes = [
  ["a name that is not changed stays",  { row: "3" },                          "orders?status=declined&after=7&row=3"],
  ["a value is replaced",               { status: "approved" },                "orders?status=approved&after=7"],
  ["an empty value removes its name",   { status: "", after: undefined },      "orders"],
  ["commas of a list stay readable",    { status: "a,b", after: "" },          "orders?status=a,b"],
  ["other signs are encoded",           { status: "ä & b", after: "" },        "orders?status=%C3%A4+%26+b"],
] as const;

for (const [sentence, change, expected] of changes) {
  test(`in a changed query ${sentence}`, () => {
    assert.equal(changeAddress(address, change), expected);
  });
}

// biome-ignore format: a table
const moves = [
  ["a", +1, "b"], ["b", +1, "c"], ["c", +1, "c"], ["c", -1, "b"], ["a", -1, "a"],
  // No row of this page is selected.
  ["",  +1, "a"], ["",  -1, "a"], ["x", +1, "a"],
] as const;

test("keys move from row to row, and stop at both ends", () => {
  for (const [selected, by, expected] of moves) {
    assert.equal(rowBelow(["a", "b", "c"], selected, by), expected, `${selected} ${by}`);
  }
  assert.equal(rowBelow([], "", 1), undefined);
});
