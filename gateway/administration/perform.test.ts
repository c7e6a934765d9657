/** Checks the description of waiting work that a second person reads. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { findAction } from "./actions.ts";
import { describeWork } from "./perform.ts";

// biome-ignore format: a table
const works: readonly (readonly [action: string, values: Readonly<Record<string, unknown>>, work: string])[] = [
  ["key rotate",  {},                                          "key rotate"],
  ["user role",   { login: "eve", role: "support" },           "user role eve role support"],
  ["doubt settle", { order: "7", as: "done", by: "anna" }, "doubt settle 7 as done"],
];

for (const [name, values, work] of works) {
  test(`the approval of ${name} shows each value that matters once`, async () => {
    const action = await findAction(name);

    assert.equal(action && describeWork(action, values), work);
  });
}
