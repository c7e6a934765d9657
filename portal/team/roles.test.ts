/** The team: which roles a user may give, and what may be done to another user. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { english } from "../language/english.ts";
import { german } from "../language/german.ts";
import { actionLabels, actionsFor, firstChoice, loginOf, roleInput, rolesToGive } from "./roles.ts";

const operator = {};
const administrator = { merchant: "demo" };

test("an operator gives every role, and a merchant's administrator only those of a merchant", () => {
  const all = ["admin", "auditor", "merchant-admin", "merchant-viewer"] as const;

  assert.deepEqual(rolesToGive(all, operator), all);
  assert.deepEqual(rolesToGive(all, administrator), ["merchant-admin", "merchant-viewer"]);
});

test("a user that exists stays an operator's or a merchant's", () => {
  const all = ["admin", "auditor", "merchant-admin", "merchant-viewer"] as const;

  assert.deepEqual(rolesToGive(all, operator, {}), ["admin", "auditor"]);
  assert.deepEqual(rolesToGive(all, operator, { merchant: "demo" }), all.slice(2));
});

test("a merchant's new user signs in with the merchant's login after its own", () => {
  const viewer = { role: "merchant-viewer", merchant: "acme" } as const;

  assert.equal(loginOf("ann", viewer, operator), "ann@acme");
  assert.equal(loginOf("ann", viewer, administrator), "ann@demo");
  assert.equal(loginOf("ann", { role: "admin", merchant: "acme" }, operator), "ann");
});

test("the form of a new user begins with a role that the user may give, and with little power", () => {
  assert.deepEqual(firstChoice(operator), { role: "support", merchant: "" });
  assert.deepEqual(firstChoice(administrator), { role: "merchant-viewer", merchant: "" });
});

// biome-ignore format: a table
const inputs = [
  ["admin",           operator,       { role: "admin" }],
  ["merchant-viewer", operator,       { role: "merchant-viewer", merchant: "acme" }],
  // The gateway takes the administrator's own merchant.
  ["merchant-viewer", administrator,  { role: "merchant-viewer" }],
] as const;

for (const [role, giver, input] of inputs) {
  const who = giver === operator ? "an operator" : "a merchant's administrator";
  test(`the role ${role} given by ${who} is sent as ${JSON.stringify(input)}`, () => {
    assert.deepEqual(roleInput({ role, merchant: "acme" }, giver), input);
  });
}

test("a user is disabled or enabled, whichever changes something, and nobody does it to oneself", () => {
  const own = { login: "ann" };
  const role = "support";

  assert.deepEqual(actionsFor({ login: "carl", enabled: true, role }, own).at(-1), "disable");
  assert.deepEqual(actionsFor({ login: "carl", enabled: false, role }, own).at(-1), "enable");
  assert.deepEqual(actionsFor({ login: "ann", enabled: true, role }, own), []);
  assert.deepEqual(actionsFor({ login: "backup", enabled: true, role: "service" }, own), [
    "disable",
  ]);
});

test("no two actions on a user have the same label", () => {
  for (const messages of [english, german]) {
    const labels = Object.values(actionLabels(messages));
    assert.equal(new Set(labels).size, labels.length);
  }
});
