/** Actions on an order: which are offered, what each would do, and what is sent. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { english } from "../language/english.ts";
import { german } from "../language/german.ts";
import {
  type Action,
  actionsFor,
  amountOf,
  givenAmount,
  outcomeOf,
  type Preview,
  requestOf,
  whyNot,
} from "./action-texts.ts";

test("only what the gateway allows is offered, moves of money before decisions", () => {
  const none = { capture: false, return: false, resend: false, settle: [] };

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
  ["ask",             { of: "sale", becomes: "approved" },     "asked"],
  ["settle-done",     { of: "sale", becomes: "approved" },     "approved"],
  ["settle-done",     { of: "refund" },                        "stays"],
  ["settle-not-done", { of: "sale", becomes: "error" },        "error"],
  ["settle-not-done", { of: "sale", becomes: "processing" },   "try"],
];
// biome-ignore format: a table
const texts = {
  taken: /taken from what is held/, back: /goes back to the cardholder/, released: /is released/, asked: /stays in doubt/,
  approved: /becomes approved/, stays: /stays as it is/, error: /no money has moved/, try: /another card/,
};

for (const [action, preview, text] of outcomes) {
  test(`${action} of ${preview.of} that becomes ${preview.becomes} tells: ${text}`, () => {
    assert.match(outcomeOf(action, { isAllowed: true, ...preview }, english), texts[text]);
  });
}

const detail = { line: { order: "12" }, version: 7 };
const order = "12";
const reason = "broken cup";
const once = "the-id-of-a-dialog";

// biome-ignore format: a table
const requests: readonly (readonly [Action, amount: string, route: string, input: object])[] = [
  ["capture",         " 49.00 ", "POST /orders/capture/:order", { order, reason, once, amount: "49.00" }],
  ["return",          "",        "POST /orders/return/:order",  { order, reason, once }],
  ["return",          "49.00",   "POST /orders/return/:order",  { order, reason, once, amount: "49.00" }],
  ["resend",          "49.00",   "POST /callbacks/resend",      { order, reason }],
  ["ask",             "",        "POST /orders/ask/:order",     { order, reason, version: 7 }],
  ["settle-done",     "",        "POST /orders/settle/:order",  { order, reason, version: 7, outcome: "done" }],
  ["settle-not-done", "",        "POST /orders/settle/:order",  { order, reason, version: 7, outcome: "not-done" }],
];

for (const [action, amount, route, input] of requests) {
  test(`${action} with the amount “${amount}” sends ${JSON.stringify(input)}`, () => {
    assert.deepEqual(requestOf(action, detail, { reason, amount, once }), [route, input]);
  });
}

test("the button names the amount as soon as the preview has it", () => {
  const amount = { minor: 4_900, currency: "USD", text: "49.00" };

  assert.equal(amountOf(undefined), "");
  assert.equal(amountOf({ isAllowed: false }), "");
  assert.equal(amountOf({ isAllowed: true, amount }), "49.00 USD");
  assert.deepEqual(givenAmount("  "), {});
});

test("a refusal is the gateway's sentence in English, and a German one where there is one", () => {
  const refused = { isAllowed: false, why: "The acquirer is asked.", code: "bank_is_asked" };

  assert.equal(whyNot({ isAllowed: true }, english), undefined);
  assert.equal(whyNot(refused, english), "The acquirer is asked.");
  assert.match(whyNot(refused, german) ?? "", /^Der Acquirer wird gerade gefragt/);
  assert.equal(whyNot({ ...refused, code: "new_code" }, german), "The acquirer is asked.");
});
