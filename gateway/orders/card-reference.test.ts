/** Which payments a card can be registered with. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { refuseRegistration } from "./card-reference.ts";
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
