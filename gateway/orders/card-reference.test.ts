/** The payments whose card can be registered, and those that show its hash id. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { refuseRegistration, shownHashId } from "./card-reference.ts";
import type { Order } from "./order.ts";
import { approved, asks, events, inStage, meet } from "./testing.ts";

const returned = (order: Order, minor?: bigint) =>
  meet(meet(order, asks("return", minor)), events.returned);

// biome-ignore format: a table
const rows: readonly (readonly [what: string, order: Order, detail: string | undefined])[] = [
  ["approved sale",          approved("sale"),                        undefined],
  ["approved hold",          approved("preauth"),                     undefined],
  ["approved verification",  approved("account-verification"),        undefined],
  ["partly returned sale",   returned(approved("sale"), 42n),         undefined],
  ["captured hold",          meet(meet(approved("preauth"), asks("capture")), events.captured), undefined],
  ["return under way",       meet(approved("sale"), asks("return")),  undefined],
  ["returned sale",          returned(approved("sale")),              "the first payment was refunded"],
  ["cancelled hold",         returned(approved("preauth")),           "the first payment was refunded"],
  ["declined sale",          inStage("declined"),                     "the first payment is not approved"],
  ["sale in doubt",          inStage("reversing"),                    "the first payment is not approved"],
  ["filtered sale",          inStage("filtered"),                     "the first payment is not approved"],
];

for (const [what, order, detail] of rows) {
  test(`${what}: ${detail ?? "can be registered"}`, () => {
    assert.equal(refuseRegistration(order)?.detail, detail);
  });
}

const authenticated = (eci: string, status: "AUTHENTICATED" | "UNSUPPORTED" = "AUTHENTICATED") => {
  const order = inStage("declined");
  return { ...order, transaction: { ...order.transaction, authentication: { status, eci } } };
};

// biome-ignore format: a table
const shown: readonly (readonly [what: string, order: Order, isShown: boolean])[] = [
  ["an approved sale",                              approved("sale"),                    true],
  ["a returned sale",                               returned(approved("sale")),          true],
  ["an approved account verification",              approved("account-verification"),    true],
  ["a declined sale whose issuer authenticated it", authenticated("05"),                 true],
  ["the same at Mastercard",                        authenticated("02"),                 true],
  ["a declined sale with an attempt (06)",          authenticated("06"),                 false],
  ["a declined sale with an attempt (01)",          authenticated("01"),                 false],
  ["a declined sale of a card without 3-D Secure",  authenticated("07", "UNSUPPORTED"),  false],
  ["a declined sale",                               inStage("declined"),                 false],
  ["a filtered sale",                               inStage("filtered"),                 false],
  ["a sale that ended with an error",               inStage("error"),                    false],
  ["a sale on its way",                             inStage("authorizing"),              false],
];

for (const [what, order, isShown] of shown) {
  test(`${what} ${isShown ? "shows" : "does not show"} the card's hash id`, () => {
    assert.equal(shownHashId(order), isShown ? order.card.hashId : undefined);
  });
}
