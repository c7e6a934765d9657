/** Tests how a payment link's uses are counted, who may end it, and what its page shows. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { english } from "../language/texts.ts";
import { factsOf, mayEnd, usesOf } from "./link-facts.ts";

test("the uses of a payment link are counted only if it has a maximum", () => {
  assert.equal(usesOf({ uses: 1, usesMax: 5 }, "Any number"), "1 / 5");
  assert.equal(usesOf({ uses: 0, usesMax: 1 }, "Any number"), "0 / 1");
  assert.equal(usesOf({ uses: 7 }, "Any number"), "Any number");
});

// biome-ignore format: a table
const ends = [
  ["open", ["move_money"], true], ["used", ["move_money"], true], ["expired", ["move_money"], true], ["closed", ["move_money"], false],
  ["open", ["see_orders"], false],
] as const;

for (const [state, rights, may] of ends) {
  test(`a payment link that is ${state} can ${may ? "" : "not "}be ended with ${rights}`, () => {
    assert.equal(mayEnd({ state }, { rights: [...rights] }), may);
  });
}

test("the page of a payment link shows who made it and when it expires", () => {
  const line = {
    state: "open" as const,
    link: "L1",
    description: "Course",
    merchant: "demo",
    endpoint: "3",
    amount: { minor: 1, currency: "USD", text: "0.01" },
    uses: 0,
    usesMax: 1,
    createdAt: 5,
    createdBy: "ann",
  };
  const showTime = (at: number, by = "none") => `at ${at} by ${by}`;

  const facts = new Map(factsOf({ line }, english, showTime));
  const ending = new Map(factsOf({ line: { ...line, expiresAt: 9 } }, english, showTime));

  assert.equal(facts.get("Created"), "at 5 by ann");
  assert.equal(facts.get("Uses"), "0 / 1");
  assert.deepEqual([facts.get("Expires"), ending.get("Expires")], ["", "at 9 by none"]);
});
