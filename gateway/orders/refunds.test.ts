/** Which returns are sent as refunds, and their references at the acquirer. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Failure } from "../values/failure.ts";
import { asInstant, hours, type Instant, later, minutes } from "../values/time.ts";
import type { Order, RefundPolicy } from "./order.ts";
import { advance, approved, asks, events, meet, start } from "./testing.ts";
import { initialOf, refundPolicyNow, travelsAsRefund } from "./transactions.ts";

/** A return of an amount at a moment, through a gate with a refund policy. */
function returnAt(order: Order, at: Instant, refunds: RefundPolicy, minor?: bigint): Order {
  const { serialNumber, request } = asks("return", minor);
  return meet(order, { kind: "return_asked", serialNumber, request, refunds }, at);
}

const isRefund = (order: Order) => order.transaction.asRefund === true;

test("hours count from the charge", () => {
  const policy = { after: "24h" };

  assert.equal(isRefund(returnAt(approved(), later(start, hours(24) - 1), policy)), false);
  assert.equal(isRefund(returnAt(approved(), later(start, hours(24)), policy)), true);
});

test("a daily cut-off ends at the gate's own hour", () => {
  // The charge is at 01:24 UTC.
  const midnight = asInstant(Math.floor(start / hours(24)) * hours(24));
  const order = approved();
  const { identifiers } = order.transaction;
  assert.ok(identifiers !== undefined);
  const gate = { ...identifiers.gate, zone: "America/New_York" };
  const away = {
    ...order,
    transaction: { ...order.transaction, identifiers: { ...identifiers, gate } },
  };
  const cutOff = { after: "23:00" };

  const before = later(midnight, hours(23) - minutes(1));
  assert.equal(isRefund(returnAt(order, before, cutOff)), false);
  assert.equal(isRefund(returnAt(order, later(midnight, hours(23)), cutOff)), true);
  // 23:00 in New York is 04:00 UTC in winter.
  assert.equal(isRefund(returnAt(away, later(midnight, hours(4) - minutes(1)), cutOff)), false);
  assert.equal(isRefund(returnAt(away, later(midnight, hours(4)), cutOff)), true);
});

test("a daily cut-off is a time on the terminal's clock, also on the day when the clocks change", () => {
  // Clocks in Berlin are set back on 2026-10-25. Both times are between the cut-offs of the 24th
  // and the 25th.
  const chargedAt = asInstant(Date.UTC(2026, 9, 24, 21, 30));
  const evening = Date.UTC(2026, 9, 25, 21, 30);
  const asked = { policy: { after: "23:00" }, zone: "Europe/Berlin", chargedAt, isPart: false };

  assert.equal(travelsAsRefund([], { ...asked, at: asInstant(evening) }), false);
  assert.equal(travelsAsRefund([], { ...asked, at: asInstant(evening + minutes(30)) }), true);
});

test("parts may be refunds by themselves, and everything is after one", () => {
  const partial = { partial: true } as const;
  const whole = returnAt(approved(), start, partial);
  const part = returnAt(approved(), start, partial, 1n);
  const returned = meet(part, events.returned);

  assert.equal(isRefund(whole), false);
  assert.equal(isRefund(part), true);
  // This holds even if the gate's policy has changed since, because a reversal would return the
  // refunded part again.
  assert.equal(isRefund(returnAt(returned, start, {})), true);
});

test("each refund has its own reference and trace number, as many as can be named", () => {
  const numbers = new Set<string>();
  let order = approved();
  const { reference: charge = "" } = initialOf(order).identifiers ?? {};
  for (let count = 0; count < 290; count += 1) {
    order = returnAt(order, start, { after: "always" }, 1n);
    const { reference = "", traceNumber = "" } = order.transaction.identifiers ?? {};
    assert.notEqual(reference, charge);
    assert.equal(reference.length, 12);
    assert.equal(reference.slice(0, 10), charge.slice(0, 10));
    numbers.add(reference).add(traceNumber);
    order = meet(order, events.returned);
  }
  const { serialNumber, request } = asks("return", 1n);
  const refunds = { after: "always" };
  const refused = advance(order, { kind: "return_asked", serialNumber, request, refunds }, start);

  assert.equal(numbers.size, 580);
  assert.ok(refused instanceof Failure);
  assert.equal(refused.number, 9);
});

test("a void never becomes a refund", () => {
  const at = (hoursLater: number, refunds: RefundPolicy, minor?: bigint) => {
    const { serialNumber, request } = asks("void", minor);
    const event = { kind: "void_asked", serialNumber, request, refunds } as const;
    const step = advance(approved(), event, later(start, hours(hoursLater)));
    return step instanceof Failure ? step.message : step.order.transaction.kind;
  };

  assert.equal(at(23, { after: "24h", partial: true }), "void");
  assert.equal(at(24, { after: "24h" }), "NOT_ALLOWED_IN_THIS_STATE: cleared");
  assert.equal(
    at(0, { partial: true }, 1041n),
    "AMOUNT_OUT_OF_RANGE: only the whole can be cancelled or voided",
  );
  assert.equal(at(0, { after: "always" }), "NOT_SUPPORTED_BY_GATE");
});

test("the policy that the gate has now counts, also where it has none any more", () => {
  const order = approved();
  const { identifiers } = order.transaction;
  assert.ok(identifiers !== undefined);
  const { gate } = identifiers;
  const now = (refunds?: RefundPolicy) =>
    refundPolicyNow({ gates: [{ ...gate, refunds }] as never }, order);

  assert.deepEqual(now({ after: "24h" }), { after: "24h" });
  assert.equal(now(), undefined);
  assert.equal(refundPolicyNow(undefined, order), undefined);
  const had = { ...identifiers, gate: { ...gate, refunds: { after: "always" } } };
  const charged = { ...order, transaction: { ...order.transaction, identifiers: had } };
  assert.deepEqual(refundPolicyNow({ gates: [{ ...gate }] as never }, charged), {});
});
