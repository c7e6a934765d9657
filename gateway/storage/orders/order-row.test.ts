/** Orders survive their row, and a row of another schema version is refused. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Order } from "../../orders/order.ts";
import { noCard, openPage } from "../../orders/payment-page.ts";
import {
  amount,
  answer,
  approved,
  asks,
  draft,
  events,
  inStage,
  meet,
} from "../../orders/testing.ts";
import { asReceiptId } from "../../values/ids.ts";
import { type OrderRow, packEvents, packFacts, packProgress, unpackOrder } from "./order-row.ts";

const refunded = meet(meet(approved(), asks("return")), events.returned);

test("an order that is read from its row equals the stored one", () => {
  for (const order of [inStage("authorizing"), approved(), refunded]) {
    assertSame(unpackOrder(rowOf(order)), order);
  }
});

test("amounts that are packed in advance are written like all others", () => {
  const answered = { kind: "authorized", answer: { ...answer, approvedAmount: amount } } as const;
  const stored = [events.received, { ...answered, receiptId: asReceiptId("1") }] as const;
  assert.equal(packEvents(stored), JSON.stringify(stored));
  const order = meet(inStage("authorizing"), stored[1]);
  const { acceptedAt, purchase, transaction } = order;
  assert.equal(packFacts(order), JSON.stringify({ acceptedAt, purchase }));
  assert.deepEqual(progressOf(order).transaction, JSON.parse(JSON.stringify(transaction)));
});

test("an order of the payment page keeps its tries", () => {
  const opened = { ...draft, ...openPage(draft, { lifeMs: 1_000, triesMax: 3 }), card: noCard };
  const waiting = meet(opened, events.received);
  const refused = meet(meet(waiting, events.card_entered), events.refused);

  for (const order of [waiting, refused]) {
    const read = unpackOrder(rowOf(order));
    assertSame(read, order);
    assert.equal(read.sequence, order.sequence);
  }
  const [kept] = unpackOrder(rowOf(refused)).page?.refused[0]?.attempts ?? [];
  assert.equal(kept?.amount.minor, draft.transaction.amount.minor);
});

test("a row that a newer gateway has written is refused", () => {
  const newer = { ...progressOf(approved()), schema: 2 };

  assert.throws(() => unpackOrder(rowOf(approved(), newer)), /schema 2; this gateway reads 1/);
});

/** Compares orders by their rows, because JSON has no undefined members. */
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
    changed_at: order.changedAt ?? order.acceptedAt,
    facts: JSON.parse(packFacts(order)),
    progress,
  };
}
