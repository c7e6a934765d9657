/** Disputes: what a reason means, by when to answer, decisions, and payments that are evidence. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Failure } from "../values/failure.ts";
import { asOrderId } from "../values/ids.ts";
import { hours, later } from "../values/time.ts";
import {
  answerDueAt,
  type EvidenceMatch,
  evidencePeriod,
  isCompelling,
  reasonKindOf,
  sharedWith,
  withDecision,
} from "./disputes.ts";
import type { Chargeback, Customer, Order } from "./order.ts";
import { approved, asks, events, inStage, meet, start } from "./testing.ts";
import { totalsOf } from "./transactions.ts";

const dispute: Chargeback = events.charged_back.chargeback;
const days = (count: number) => later(start, hours(24 * count));
const charge = (order: Order, more: Partial<Chargeback> = {}) =>
  meet(order, { ...events.charged_back, chargeback: { ...dispute, ...more } });

test("a reason's code says what the dispute is about, and a fraud report is about fraud", () => {
  // biome-ignore format: a table
  const reasons = [
    ["10.4 Other Fraud", "fraud"], ["4837", "fraud"], ["F29", "fraud"], ["UA02", "fraud"],
    ["11.3", "authorisation"], ["4808", "authorisation"], ["12.6.1", "other"], ["12.6", "processing"],
    ["13.1", "not_received"], ["13.3", "not_as_sold"], ["4853", "not_as_sold"], ["C28", "cancelled"],
    ["13.6", "credit"], ["won", "other"], ["10.45", "other"], ["48377", "other"],
  ] as const;
  for (const [reason, kind] of reasons) {
    assert.equal(reasonKindOf({ reason, stage: "first" }), kind, reason);
  }
  assert.equal(reasonKindOf({ reason: "13.1", stage: "fraud" }), "fraud");
});

test("an answer is due as the acquirer says, or else by the network's rules", () => {
  const order = approved();
  const paidBy = (network: "MASTERCARD" | "AMEX") => ({
    ...order,
    card: { ...order.card, network },
  });

  assert.equal(answerDueAt(order, dispute), days(30));
  assert.equal(answerDueAt(paidBy("MASTERCARD"), dispute), days(45));
  assert.equal(answerDueAt(paidBy("MASTERCARD"), { ...dispute, stage: "arbitration" }), days(30));
  assert.equal(answerDueAt(paidBy("AMEX"), dispute), days(20));
  assert.equal(answerDueAt(order, { ...dispute, dueAt: days(9) }), days(9));
  for (const stage of ["representment", "reversed", "fraud"] as const) {
    assert.equal(answerDueAt(order, { ...dispute, stage, dueAt: days(9) }), undefined);
  }
});

test("a decision belongs to the latest stage of a case, and moves no money", () => {
  const disputed = charge(charge(approved()), { stage: "pre-arbitration" });
  const decided = meet(disputed, events.dispute_decided);
  const again = meet(decided, { ...events.dispute_decided, outcome: "accepted" });

  assert.deepEqual(
    decided.chargebacks?.map(({ outcome }) => outcome),
    [undefined, "contested"],
  );
  assert.equal(again.chargebacks?.[1]?.outcome, "accepted");
  assert.deepEqual(totalsOf(again), totalsOf(disputed));
  for (const order of [approved(), charge(disputed, { stage: "reversed" })]) {
    assert.ok(withDecision(order, events.dispute_decided) instanceof Failure);
  }
  assert.ok(withDecision(disputed, { caseId: "C2", outcome: "accepted" }) instanceof Failure);
});

test("evidence is an approved, undisputed payment of the card with facts in common", () => {
  const sold = approved();
  const { card } = sold;
  const traces = { email: "jane@shop.example", phone: "+1 555 0100", address: "1 Main Street" };
  const customer: Customer = { ...sold.purchase.customer, ...traces };
  const purchase = { ...sold.purchase, customer };
  const order = { ...sold, purchase };
  const earlier = { ...order, id: asOrderId("41000000") };
  const by = (changes: Partial<Customer>, ipAddress = "198.51.100.9"): Order => ({
    ...earlier,
    purchase: { ...purchase, ipAddress, customer: { ...customer, ...changes } },
  });
  const nobody = { email: undefined, phone: undefined, address: undefined };

  assert.deepEqual(sharedWith(order, earlier), ["ip", "email", "phone", "address"]);
  assert.deepEqual(sharedWith(order, by({ ...nobody, email: "JANE@shop.example" })), ["email"]);
  assert.deepEqual(sharedWith(order, by(nobody, purchase.ipAddress)), ["ip"]);
  assert.equal(sharedWith(order, by(nobody)), undefined);
  assert.equal(sharedWith(by(nobody, ""), by(nobody, "")), undefined);
  assert.equal(sharedWith(order, order), undefined);
  assert.equal(sharedWith(order, charge(earlier, { stage: "fraud" })), undefined);
  assert.equal(sharedWith(order, { ...earlier, card: { ...card, hashId: "other" } }), undefined);
  const erased = { ...earlier, card: { ...card, hashId: "" } };
  assert.equal(sharedWith(erased, { ...erased, id: order.id }), undefined);
  assert.equal(sharedWith(order, { ...inStage("declined"), id: earlier.id }), undefined);
  assert.ok(sharedWith(order, { ...meet(earlier, asks("return")), id: earlier.id }));
  const { from, until } = evidencePeriod(dispute);
  assert.deepEqual([from, until], [days(-365), days(-120)]);
});

test("two payments with the same address of the browser and one more fact are compelling to Visa", () => {
  const [visa, fraud] = [{ network: "VISA" }, { reason: "10.4 Other Fraud" }] as const;
  const two: readonly (readonly EvidenceMatch[])[] = [
    ["ip", "email"],
    ["ip", "phone"],
  ];
  assert.equal(isCompelling(visa, fraud, two.slice(0, 1)), false);
  assert.equal(isCompelling(visa, fraud, [["ip", "email"], ["ip"], ["email", "phone"]]), false);
  assert.equal(isCompelling(visa, fraud, two), true);
  assert.equal(isCompelling({ network: "MASTERCARD" }, { reason: "4837" }, two), false);
  assert.equal(isCompelling(visa, { reason: "10.5" }, two), false);
});
