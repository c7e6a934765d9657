/** Tests the actions on an order: which ones are offered, their effects, and their requests. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { english, german } from "../language/texts.ts";
import {
  type Action,
  actionsFor,
  amountField,
  amountOf,
  confirmationOf,
  givenAmount,
  isConfirmed,
  isIrreversible,
  outcomeOf,
  type Preview,
  requestOf,
  whyNot,
} from "./action-texts.ts";

test("only actions that the gateway allows are offered, moves of money before decisions", () => {
  const none = { capture: false, return: false, void: false, resend: false, settle: [] };

  assert.deepEqual(actionsFor({ may: none }), []);
  assert.deepEqual(actionsFor({ may: { ...none, return: true, resend: true } }), [
    "return",
    "resend",
  ]);
  assert.deepEqual(
    actionsFor({ may: { ...none, capture: true, settle: ["ask", "settle-done"] } }),
    [...["capture", "ask", "settle-done"]],
  );
});

// biome-ignore format: a table
const outcomes: readonly (readonly [Action, Partial<Preview>, keyof typeof texts])[] = [
  ["capture",         { of: "capture" },                       "taken"],
  ["return",          { of: "refund" },                        "back"],
  ["return",          { of: "cancel" },                        "released"],
  ["void",            { of: "void" },                          "takenBack"],
  ["ask",             { of: "sale", becomes: "approved" },     "asked"],
  ["settle-done",     { of: "sale", becomes: "approved" },     "approved"],
  ["settle-done",     { of: "refund" },                        "stays"],
  ["settle-done",     { of: "void", becomes: "approved" },     "voided"],
  ["settle-not-done", { of: "void", becomes: "error" },        "notVoided"],
  ["settle-not-done", { of: "sale", becomes: "error" },        "error"],
  ["settle-not-done", { of: "sale", becomes: "processing" },   "try"],
];
// biome-ignore format: a table
const texts = {
  taken: /taken from what is held/, back: /goes back to the cardholder/, released: /is released/, takenBack: /taken back before it is cleared/, asked: /stays in doubt/,
  approved: /becomes approved/, stays: /stays as it is/, error: /no money has moved/, try: /another card/,
  voided: /charge is taken back/, notVoided: /charge stands/,
};

for (const [action, preview, text] of outcomes) {
  test(`${action} of ${preview.of} that becomes ${preview.becomes} says: ${text}`, () => {
    assert.match(outcomeOf(action, { isAllowed: true, ...preview }, english), texts[text]);
  });
}

const detail = { line: { order: "12" }, version: 7 };
const order = "12";
const reason = "broken cup";
const once = "the-id-of-a-dialog";

// biome-ignore format: a table
const requests: readonly (readonly [Action, amount: string, action: string, more: object])[] = [
  ["capture",         " 49.00 ", "order capture",   { values: { order, amount: "49.00" }, once }],
  ["return",          "",        "order return",    { values: { order }, once }],
  ["return",          "49.00",   "order return",    { values: { order, amount: "49.00" }, once }],
  ["resend",          "49.00",   "callback resend", { values: { order } }],
  ["ask",             "",        "doubt ask",       { values: { order }, seen: 7 }],
  ["settle-done",     "",        "doubt settle",    { values: { order, as: "done" }, seen: 7 }],
  ["settle-not-done", "",        "doubt settle",    { values: { order, as: "not-done" }, seen: 7 }],
];

for (const [name, amount, action, more] of requests) {
  test(`${name} with the amount “${amount}” sends ${JSON.stringify(more)}`, () => {
    const request = requestOf(name, detail, { reason, amount, once });

    assert.deepEqual(request, { action, reason, ...more });
  });
}

test("the button names the amount as soon as the preview has it", () => {
  const amount = { minor: 4_900, currency: "USD", text: "49.00" };

  assert.equal(amountOf(undefined), "");
  assert.equal(amountOf({ isAllowed: false }), "");
  assert.equal(amountOf({ isAllowed: true, amount }), "49.00 USD");
  assert.deepEqual(givenAmount("  "), {});
});

test("a refusal is the gateway's sentence in English, and translated in German if possible", () => {
  const refused = { isAllowed: false, why: "The acquirer is asked.", code: "bank_is_asked" };

  assert.equal(whyNot({ isAllowed: true }, english), undefined);
  assert.equal(whyNot(refused, english), "The acquirer is asked.");
  assert.match(whyNot(refused, german) ?? "", /^Der Acquirer wird gerade gefragt/);
  assert.equal(whyNot({ ...refused, code: "new_code" }, german), "The acquirer is asked.");
});

const usd = (text: string) => ({ minor: 0, currency: "USD", text });

test("a refusal of an amount names the maximum, in both languages", () => {
  const refused = {
    isAllowed: false,
    code: "amount_out_of_range",
    most: usd("200.00"),
    why: "The amount is zero or not possible here. At most 200.00 USD.",
  };

  assert.match(whyNot(refused, english) ?? "", /possible here. At most 200.00 USD.$/);
  assert.equal(whyNot(refused, german), "Betrag hier nicht möglich. Höchstens 200.00 USD.");
});

// biome-ignore format: a table
const typed: readonly (readonly [Action, typed: string, isConfirmed: boolean])[] = [
  ["capture",         "",        true],
  ["resend",          "",        true],
  ["ask",             "",        true],
  ["return",          " ",       false],
  ["return",          "5.00",    true],
  ["settle-done",     "",        false],
  ["settle-done",     "31",      true],
  ["settle-done",     "31,00",   true],
  ["settle-done",     " 31.0 ",  true],
  ["settle-not-done", "3.10",    false],
  ["settle-not-done", "31.00 x", false],
];

for (const [action, text, may] of typed) {
  test(`${action} of an order of 31.00 is ${may ? "" : "not "}confirmed by typing “${text}”`, () => {
    assert.equal(isConfirmed(action, text, { amount: usd("31.00") }), may);
  });
}

test("irreversible actions say so, and every move of money shows the maximum", () => {
  const amounts = { most: usd("20.00"), whole: usd("31.00") };
  const hintOf = (action: Action) => amountField(action, amounts, english)?.description;

  assert.match(hintOf("return") ?? "", /At most 20.00 USD. This cannot be undone/);
  assert.match(hintOf("capture") ?? "", /At most 20.00 USD/);
  assert.match(hintOf("settle-done") ?? "", /cannot be undone. Type 31.00 USD/);
  assert.equal(amountField("ask", amounts, english), undefined);
  const irreversible = ["capture", "return", "resend", "ask", "settle-done"] as const;
  assert.deepEqual(irreversible.filter(isIrreversible), ["return", "settle-done"]);
});

const sale = {
  kind: "sale",
  stage: "sale_approved",
  status: "approved",
  amount: usd("31.00"),
  serialNumber: "s-1",
};
const callback = {
  order: "12",
  merchant: "demo",
  sequence: 1,
  url: "https://shop.example/",
  madeAt: 1,
  ...({ state: "due", tries: 0, resentAt: 90 } as const),
};
const refund = { ...sale, kind: "refund", amount: usd("5.00"), serialNumber: "s-2" };

function confirm(
  done: Parameters<typeof confirmationOf>[0],
  { status = "approved", refunded = {}, delivered = {} },
) {
  const transactions = [sale, { ...refund, ...refunded }];
  const callbacks = [{ callback: { ...callback, ...delivered }, attempts: [] }];
  const line = { status } as Parameters<typeof confirmationOf>[1]["line"];
  const { text, status: colour } = confirmationOf(done, { line, transactions, callbacks }, english);
  return `${colour}: ${text}`;
}

test("a move of money is confirmed with its amount, and later with its result", () => {
  const done = { action: "return", serialNumber: "s-2" } as const;
  const refused = { status: "declined", reason: "lost_card" };

  assert.equal(
    confirm(done, { refunded: { status: "processing" } }),
    "processing: Refund 5.00 USD is on its way to the acquirer.",
  );
  assert.equal(confirm(done, {}), "approved: Refund 5.00 USD: Approved");
  assert.equal(
    confirm(done, { refunded: refused }),
    "declined: Refund 5.00 USD: Declined: Lost card",
  );
});

test("a resend is confirmed by how many were delivered, and a decision by the order's status", () => {
  const resent = { action: "resend", count: 1, resentAt: 90 } as const;

  assert.equal(confirm(resent, {}), "processing: Resend callbacks: 0 of 1 delivered.");
  assert.equal(confirm(resent, { delivered: { tries: 1 } }).slice(0, 9), "declined:");
  assert.equal(
    confirm(resent, { delivered: { state: "delivered", tries: 1 } }),
    "approved: Resend callbacks: 1 of 1 delivered.",
  );
  assert.equal(
    confirm({ action: "settle-not-done" }, { status: "error" }),
    "error: Settle as not done: the order is now Error.",
  );
});
