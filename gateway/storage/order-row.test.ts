/** Orders survive their row, and rows of earlier schema versions are upgraded when read. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Order } from "../orders/order.ts";
import { noCard, openPage } from "../orders/payment-page.ts";
import { amount, answer, approved, asks, draft, events, inStage, meet } from "../orders/testing.ts";
import { asReceiptId } from "../values/ids.ts";
import { type OrderRow, packEvents, packFacts, packProgress, unpackOrder } from "./order-row.ts";

const refunded = meet(meet(approved(), asks("return")), events.returned);

test("an order comes out of its row as it went in", () => {
  for (const order of [inStage("authorizing"), approved(), refunded]) {
    assertSame(unpackOrder(rowOf(order)), order);
  }
});

test("amounts that are packed beforehand are written as all others are", () => {
  const answered = { kind: "authorized", answer: { ...answer, approvedAmount: amount } } as const;
  const stored = [events.received, { ...answered, receiptId: asReceiptId("1") }] as const;
  assert.equal(packEvents(stored), JSON.stringify(stored));
  const order = meet(inStage("authorizing"), stored[1]);
  const { acceptedAt, purchase, transaction } = order;
  assert.equal(packFacts(order), JSON.stringify({ acceptedAt, purchase }));
  assert.deepEqual(progressOf(order).transaction, JSON.parse(JSON.stringify(transaction)));
});

test("an order of schema version 0 is read with the names of today", () => {
  const { transaction, earlier, ...rest } = progressOf(refunded);
  const { identifiers, ...sale } = earlier[0];
  const tried = [{ charge: identifiers, amount: ["500", "USD"] }];
  const claimable = { claimableAt: 1_700_000_000_000 };
  const { identifiers: ownIdentifiers, tries: _, ...refund } = transaction;
  const stored = {
    ...rest,
    schema: undefined,
    transaction: { ...refund, kind: "reversal", charge: ownIdentifiers },
    earlier: [{ ...sale, charge: identifiers, tried }],
    owed: { effect: "give_back", ...claimable },
  };

  const order = unpackOrder(rowOf(refunded, JSON.parse(JSON.stringify(stored))));

  assert.equal(order.transaction.kind, "refund");
  assert.deepEqual(order.transaction.identifiers, refunded.transaction.identifiers);
  assert.equal(order.transaction.tries, 0);
  assert.deepEqual(order.owed, { effect: "refund", ...claimable });
  assert.deepEqual(order.earlier[0]?.identifiers, refunded.earlier[0]?.identifiers);
  const [prior] = order.earlier[0]?.priorAttempts ?? [];
  assert.deepEqual(prior?.identifiers, refunded.earlier[0]?.identifiers);
  assert.equal(prior?.amount.minor, 500n);
  for (const old of ["charge", "tried"]) {
    assert.ok(!(old in order.transaction) && !(old in (order.earlier[0] ?? {})), old);
  }
});

test("an order of schema version 0 that owes nothing and was never refunded keeps all else", () => {
  const order = inStage("declined");
  const { schema: _, transaction, ...rest } = progressOf(order);
  const { identifiers: charge, ...renamed } = transaction;

  const read = unpackOrder(rowOf(order, { ...rest, transaction: { ...renamed, charge } }));

  assertSame(read, order);
});

test("an order of the payment page keeps its tries; a gateway of before refuses to read it", () => {
  const opened = { ...draft, ...openPage(draft, { lifeMs: 1_000, triesMax: 3 }), card: noCard };
  const waiting = meet(opened, events.received);
  const refused = meet(meet(waiting, events.card_entered), events.refused);

  for (const order of [waiting, refused]) {
    const read = unpackOrder(rowOf(order));
    assertSame(read, order);
    assert.equal(read.sequence, order.sequence);
    assert.equal(progressOf(order).schema, 2);
  }
  const [kept] = unpackOrder(rowOf(refused)).page?.refused[0]?.attempts ?? [];
  assert.equal(kept?.amount.minor, draft.transaction.amount.minor);
  assert.equal(progressOf(approved()).schema, 1);
});

test("a row that a newer gateway has written is refused", () => {
  const newer = { ...progressOf(approved()), schema: 3 };

  assert.throws(() => unpackOrder(rowOf(approved(), newer)), /schema 3; this gateway reads 2/);
});

/** JSON has no members that are undefined. */
function assertSame(read: Order, order: Order): void {
  assert.deepEqual(rowOf(read), rowOf(order));
  assert.deepEqual(read.transaction.amount, order.transaction.amount);
  assert.deepEqual(read.purchase.amount, order.purchase.amount);
}

function progressOf(order: Order) {
  return JSON.parse(packProgress(order));
}

function rowOf(order: Order, progress: object = progressOf(order)): OrderRow {
  return {
    merchant_id: order.merchantId,
    id: order.id,
    endpoint_id: order.endpointId,
    client_orderid: order.clientOrderId,
    attempt: order.attempt,
    version: order.version,
    changed_at: order.changedAt ?? null,
    facts: JSON.parse(packFacts(order)),
    progress,
  };
}
