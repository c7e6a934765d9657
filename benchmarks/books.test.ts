/** The audit must find each way in which orders or money can be lost. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { areClean, auditBooks, type LedgerEntry, type OrderRow } from "./books.ts";

const name = { clientOrderId: "a", orderId: "1" };
const money = { amount: 1042, currency: "USD" };
const order: OrderRow = { ...name, stage: "approved", isFinal: true, reference: "R1", ...money };
const sale: LedgerEntry = { reference: "R1", kind: "sale", ...money };
const reversal: LedgerEntry = { ...sale, kind: "reversal" };
const hold: LedgerEntry = { ...sale, kind: "authorisation" };
const capture: LedgerEntry = { ...sale, kind: "capture" };

type Case = readonly [string, readonly OrderRow[], readonly LedgerEntry[], readonly number[]];

// biome-ignore format: a table
const cases: readonly Case[] = [
  ["one order, one sale",             [order],                                                  [sale],                         [0, 0, 0]],
  ["not in the database",             [],                                                       [],                             [1, 0, 0]],
  ["still open",                      [{ ...order, stage: "authorizing", isFinal: false }],     [],                             [1, 0, 0]],
  ["acknowledged with another's id",  [{ ...order, clientOrderId: "b" }],                       [sale],                         [1, 0, 0]],
  ["two orders for one id",           [order, { ...order, orderId: "2", stage: "declined", reference: "R2" }], [sale],          [0, 1, 0]],
  ["charged twice",                   [order],                                                  [sale, sale],                   [0, 1, 1]],
  ["charged once for each order",     [order, { ...order, orderId: "2", reference: "R2" }],     [sale, { ...sale, reference: "R2" }], [0, 2, 0]],
  ["held and captured",               [order],                                                  [hold, capture],                [0, 0, 0]],
  ["captured twice",                  [order],                                                  [hold, capture, capture],       [0, 1, 1]],
  ["approved, never booked",          [order],                                                  [],                             [0, 0, 1]],
  ["approved, taken back",            [order],                                                  [sale, reversal],               [0, 0, 1]],
  ["another amount",                  [order],                                                  [{ ...sale, amount: 1043 }],    [0, 0, 1]],
  ["another currency",                [order],                                                  [{ ...sale, currency: "EUR" }], [0, 0, 2]],
  ["booked, not approved",            [{ ...order, stage: "error" }],                           [sale],                         [0, 0, 1]],
  ["booked and taken back",           [{ ...order, stage: "error" }],                           [sale, reversal],               [0, 0, 0]],
];

for (const [what, orders, entries, expected] of cases) {
  test(`the audit counts lost, doubled and differing: ${what}`, () => {
    const books = auditBooks([name], orders, entries);

    const found = [books.lost.length, books.doubled.length, books.differing.length];
    assert.deepEqual(found, expected);
    assert.equal(
      areClean(books),
      expected.every((count) => count === 0),
    );
  });
}
