/** Tests how a merchant's settings are shown, and the initial values of their forms. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { showSetting } from "../actions/values.ts";
import { german } from "../language/texts.ts";
import { conditionsOf, gatesTextOf, keyActionsFor, membersOf, termsOf } from "./terms.ts";

// biome-ignore format: a table
const settings = [
  ["true", "An"], ["false", "Aus"], ["when_possible", "Wenn möglich"], ["USD,EUR", "USD, EUR"], ["Pottery", "Pottery"], ["", ""],
] as const;

for (const [value, shown] of settings) {
  test(`the setting “${value}” reads “${shown}” in German`, () => {
    assert.equal(showSetting(value, german.choices), shown);
  });
}

test("the gates of an endpoint are in its form as the command reads them", () => {
  const gates = [
    { name: "north", rank: 1, weight: 3 },
    { name: "sandbox", rank: 2, weight: 1 },
  ];

  assert.equal(gatesTextOf({ gates }), "north:1:3\nsandbox:2:1");
  assert.equal(gatesTextOf({ gates: [] }), "");
});

test("a routing rule shows its conditions without its number and result", () => {
  const row = { rule: "2", network: "VISA", amount: "100..", to: "refuse" };

  assert.deepEqual(conditionsOf(row), ["network=VISA", "amount=100.."]);
});

test("a group shows the currencies of its endpoints, and its form has their ids", () => {
  const endpoints = [
    { id: "3", name: "shop", currency: "EUR" },
    { id: "4", name: "shop", currency: "USD" },
  ];

  assert.equal(membersOf(endpoints), "shop (EUR), shop (USD)");
  assert.deepEqual(termsOf(false, endpoints), { enable: "false", endpoints: "3,4" });
});

test("a control key can be renewed or set unless an old one must be dropped first", () => {
  const offered = (oldLastUsed?: string) =>
    keyActionsFor(oldLastUsed === undefined ? {} : { oldLastUsed })
      .filter(({ isOffered }) => isOffered)
      .map(({ action }) => action);

  assert.deepEqual(offered(), ["merchant control-key renew", "merchant control-key set"]);
  assert.deepEqual(offered("never"), ["merchant control-key drop"]);
});
