/** Tests which users see which screen, and what the palette finds. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Session, User } from "./call.ts";
import { choiceBeside, entriesFor, findChoices } from "./entries.ts";

function screensOf(user: Omit<User, "login">, environment: Session["environment"] = "production") {
  const session: Session = { state: "in", environment, user: { login: "ann", ...user } };
  return entriesFor(session).map(({ screen }) => screen);
}

const everyone = ["home", "orders", "callbacks", "requests"];
// biome-ignore format: a table
const rights = [
  "see_orders", "see_configuration", "see_audit", "reconcile", "manage_keys", "manage_users", "operate",
];

test("an administrator sees every screen in staging, and all but the sandbox in production", () => {
  const all = screensOf({ role: "admin", rights }, "staging");

  assert.deepEqual(all.slice(0, everyone.length), everyone);
  for (const [screen] of needed) assert.ok(all.includes(screen), screen);
  assert.equal(all.at(-1), "sandbox");
  assert.deepEqual(screensOf({ role: "admin", rights }, "production"), all.slice(0, -1));
});

test("a user without rights sees the screens that need no right", () => {
  assert.deepEqual(screensOf({ role: "support", rights: [] }), everyone);
});

test("a merchant's user with the same rights sees no screen of the operator", () => {
  const screens = screensOf({ role: "merchant-admin", merchant: "demo", rights });

  for (const screen of ["gates", "screening", "reconciliation", "vault-keys"]) {
    assert.equal(
      screens.some((each) => each === screen),
      false,
      screen,
    );
  }
  assert.ok(screens.includes("merchants"));
  assert.ok(screens.includes("team"));
});

// biome-ignore format: a table
const needed = [
  ["transaction-report", "see_orders"], ["statement", "see_orders"], ["payment-links", "see_orders"], ["merchants", "see_configuration"], ["reconciliation", "reconcile"], ["vault-keys", "manage_keys"],
  ["team", "manage_users"], ["audit", "see_audit"],
] as const;

test("each right adds only the screens that need it", () => {
  for (const [screen, right] of needed) {
    const without = screensOf({ role: "admin", rights: rights.filter((each) => each !== right) });
    assert.equal(without.includes(screen), false, screen);
    assert.ok(screensOf({ role: "admin", rights: [right] }).includes(screen), screen);
  }
});

const choices = ["Orders", "Payment links", "Audit", "As the system"].map((name) => ({ name }));
const orders = [{ name: "open" }, { name: "search" }] as const;

// biome-ignore format: a table
const searches = [
  ["",               ["Orders", "Payment links", "Audit", "As the system"]],
  ["aud",            ["Audit", "search"]],
  ["AUD",            ["Audit", "search"]],
  ["links payment",  ["Payment links", "search"]],
  ["s",              ["Orders", "Payment links", "As the system", "search"]],
  ["nothing such",   ["search"]],
  ["12345678",       ["open", "search"]],
  // The following numbers are too short, have a leading zero, or are too long for an order id.
  ["12345",          ["search"]],
  ["012345678",      ["search"]],
  ["12345678901234567890", ["search"]],
] as const;

for (const [text, expected] of searches) {
  test(`the palette offers ${expected.join(", ")} for “${text}”`, () => {
    const found = findChoices(choices, text, orders).map(({ name }) => name);

    assert.deepEqual(found, expected);
  });
}

test("arrow keys go round the choices, and other keys do not", () => {
  assert.equal(choiceBeside(0, "ArrowDown", 3), 1);
  assert.equal(choiceBeside(2, "ArrowDown", 3), 0);
  assert.equal(choiceBeside(0, "ArrowUp", 3), 2);
  assert.equal(choiceBeside(0, "Enter", 3), undefined);
});
