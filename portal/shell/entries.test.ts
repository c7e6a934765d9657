/** Who is led to which screen, and what the palette finds. */
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

test("an administrator of staging is led to every screen, and of production to all but the sandbox", () => {
  const all = [
    ...[...everyone, "payment-links", "merchants", "gates", "screening", "reconciliation"],
    ...["vault-keys", "team", "audit"],
  ];

  assert.deepEqual(screensOf({ role: "admin", rights }, "staging"), [...all, "sandbox"]);
  assert.deepEqual(screensOf({ role: "admin", rights }, "production"), all);
});

test("a user without rights is led to what every user may see", () => {
  assert.deepEqual(screensOf({ role: "support", rights: [] }), everyone);
});

test("with the same rights a merchant's user is led to nothing of the operator's", () => {
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
  ["payment-links", "see_orders"], ["merchants", "see_configuration"], ["reconciliation", "reconcile"], ["vault-keys", "manage_keys"],
  ["team", "manage_users"], ["audit", "see_audit"],
] as const;

test("a screen that needs a right is missing without it, and alone added by it", () => {
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
  // Neither too short nor too long for an order, and no leading zero.
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

test("arrows go round the choices, and other keys are not theirs", () => {
  assert.equal(choiceBeside(0, "ArrowDown", 3), 1);
  assert.equal(choiceBeside(2, "ArrowDown", 3), 0);
  assert.equal(choiceBeside(0, "ArrowUp", 3), 2);
  assert.equal(choiceBeside(0, "Enter", 3), undefined);
});
