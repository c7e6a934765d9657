/** Receipts: what they show of a payment and its follow-ups, and what they never show. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Order } from "../orders/order.ts";
import { approved, asks, events, meet } from "../orders/testing.ts";
import { getCurrency } from "../values/iso-codes.ts";
import { formatAmount, Money } from "../values/money.ts";
import { makePrintDate } from "../values/time.ts";
import { type ReceiptOptions, receiptOf } from "./receipt.ts";

const options: ReceiptOptions = {
  merchantName: "Shop",
  printDate: makePrintDate("UTC"),
  printAmount: (money) => `${formatAmount(money)} ${money.currency.code}`,
};

test("a sale tells its rows in order, and of the card the last digits only", () => {
  const sale = approved();

  const receipt = receiptOf(sale, options);

  assert.deepEqual(receipt.rows, [
    ["merchant", "Shop"],
    ["descriptor", "SHOP"],
    ["terminal", "10000018"],
    ["amount", "10.42 USD"],
    ["card", "**** 0018"],
    ["cardType", "VISA"],
    ["approvalCode", "731904"],
    ["reference", sale.transaction.identifiers?.reference],
    ["networkId", "107073092653001"],
    ["processedAt", "2026-11-15 02:04:06 UTC"],
    ["finishedAt", "2026-11-15 02:04:06 UTC"],
    ["clientOrderId", "invoice-1"],
    ["orderId", "42000001"],
    ["receiptId", "814660"],
  ]);
  assert.deepEqual([receipt.state, receipt.kind, receipt.since], ["charged", "sale", []]);
  assert.doesNotMatch(JSON.stringify(receipt), /400000|JANE/);
});

test("what followed is told, with sums", () => {
  const [sale, hold] = [approved(), approved("preauth")];
  const inPart = meet(meet(sale, asks("return", 342n)), events.returned);
  const inFull = meet(meet(inPart, asks("return")), events.returned);
  const captured = meet(meet(hold, asks("capture", 700n)), events.captured);
  const cancelled = meet(meet(hold, asks("return")), events.returned);
  // biome-ignore format: a table
  const told: readonly (readonly [order: Order, state: string, amount: string, since: string, rows: string])[] = [
    [hold,      "held",             "10.42 USD", "",                                      ""],
    [captured,  "charged",          "7.00 USD",  "capture 7.00 USD",                      "charged 7.00 USD"],
    [cancelled, "cancelled",        "10.42 USD", "cancel 10.42 USD",                      ""],
    [inPart,    "returned_in_part", "10.42 USD", "refund 3.42 USD",                     "returned 3.42 USD, left 7.00 USD"],
    [inFull,    "returned",         "10.42 USD", "refund 3.42 USD, refund 7.00 USD",  "returned 10.42 USD, left 0.00 USD"],
  ];

  for (const [order, state, amount, since, rows] of told) {
    const receipt = receiptOf(order, options);

    assert.deepEqual([receipt.state, receipt.amount], [state, amount]);
    assert.equal(receipt.since.map((each) => `${each.kind} ${each.amount}`).join(", "), since);
    const totals = receipt.rows.filter(([name]) => /held|charged|returned|left/.test(name));
    assert.equal(totals.map((row) => row.join(" ")).join(", "), rows);
    assert.ok(receipt.rows.some(([name, value]) => name === "receiptId" && value === "814660"));
  }
});

test("a return that is on its way or came to nothing is not told", () => {
  const asked = meet(approved(), asks("return"));
  const refused = meet(asked, events.refused);

  for (const order of [asked, refused]) {
    const receipt = receiptOf(order, options);
    assert.deepEqual([receipt.state, receipt.since], ["charged", []]);
  }
});

test("less than was asked for is told beside it", () => {
  const part = new Money(500n, getCurrency("USD"));
  const sale = withApproved(approved(), part);
  const hold = withApproved(approved("preauth"), part);

  assert.equal(new Map(receiptOf(sale, options).rows).get("charged"), "5.00 USD");
  assert.equal(new Map(receiptOf(hold, options).rows).get("held"), "5.00 USD");
});

test("a verified card was charged nothing", () => {
  const none = new Money(0n, getCurrency("USD"));
  const verified = withApproved(approved("account-verification"), none);

  const { state, amount } = receiptOf(verified, options);

  assert.deepEqual([state, amount], ["verified", "0.00 USD"]);
});

test("the number of a wallet's device is not shown", () => {
  const sale = approved();
  const wallet = { type: "walleta_encrypted", isDevice: true } as const;
  const order = { ...sale, purchase: { ...sale.purchase, wallet } };

  const rows = new Map(receiptOf(order, options).rows);

  assert.equal(rows.get("card"), undefined);
  assert.equal(rows.get("cardType"), "VISA");
});

function withApproved(order: Order, approvedAmount: Money): Order {
  const { transaction } = order;
  const { answer } = transaction;
  assert.ok(answer !== undefined);
  return { ...order, transaction: { ...transaction, answer: { ...answer, approvedAmount } } };
}
