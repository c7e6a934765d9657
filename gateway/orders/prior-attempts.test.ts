/** Late approvals of earlier attempts: when their reversal is owed, and which events end that. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Failure } from "../values/failure.ts";
import { later } from "../values/time.ts";
import type { OrderEvent } from "./events.ts";
import type { Order } from "./order.ts";
import { findOwingAttempt } from "./prior-attempts.ts";
import { advance, answer, asks, draft, events, meet, start } from "./testing.ts";

/**
 * A payment whose first amount was reversed because its outcome was unknown, and whose second
 * amount is being sent.
 */
const sending = meet(
  meet(meet(draft, events.received), events.outcome_unknown),
  events.amount_reversed,
);
const [first = assert.fail()] = sending.transaction.priorAttempts ?? [];
const { reference } = first.identifiers;
const approvedLate: OrderEvent = { kind: "prior_approved_late", reference, answer };
const reversed: OrderEvent = { kind: "prior_reversed", reference, approvedAt: answer.processedAt };
const refusal = { kind: "reversal_refused", code: "96", mayHelp: true } as const;
const notFound = { kind: "original_not_found", code: "25" } as const;

function unreversed(answered: typeof refusal | typeof notFound): OrderEvent {
  return { kind: "prior_unreversed", reference, answered };
}

test("an order in progress keeps what it owes, and owes the reversal at its end", () => {
  const marked = meet(sending, approvedLate, later(start, 5));
  assert.deepEqual(marked.owed, sending.owed);

  for (const end of [events.authorized, events.refused]) {
    const over = meet(marked, end);
    assert.equal(over.owed?.effect, "reverse_prior");
    assert.equal(meet(over, reversed).owed, undefined);
  }
  const doubtful = meet(meet(marked, events.outcome_unknown), events.reversed);
  assert.equal(doubtful.owed?.effect, "reverse_prior");
});

test("a final order owes the reversal at once, and a follow-up does not wait for it", () => {
  const owing = meet(meet(sending, events.authorized), approvedLate);
  const refused = meet(owing, unreversed(refusal), start);

  for (const order of [owing, refused]) {
    const refunding = meet(order, asks("return"));

    assert.equal(order.owed?.effect, "reverse_prior");
    assert.equal(refunding.owed?.effect, "refund");
    assert.equal(meet(refunding, reversed).owed?.effect, "refund");
    const over = meet(refunding, events.returned);
    assert.equal(over.owed?.effect, "reverse_prior");
    assert.equal(findOwingAttempt(over)?.identifiers.reference, reference);
  }
});

test("an approval that comes while a refund is open is reversed after it", () => {
  const refunding = meet(meet(meet(sending, events.authorized), asks("return")), approvedLate);
  assert.equal(refunding.owed?.effect, "refund");

  const over = meet(refunding, events.returned);

  assert.equal(over.owed?.effect, "reverse_prior");
  assert.equal(findOwingAttempt(over)?.identifiers.reference, reference);
  assert.equal(findOwingAttempt(meet(over, reversed)), undefined);
});

test("refused, it rests and remembers the refusal; not found, it is asked again in time", () => {
  const owing = meet(meet(sending, events.authorized), approvedLate);

  const once = meet(owing, unreversed(notFound), start);
  const refused = meet(once, unreversed(refusal), later(start, 5));

  const resting = { effect: "reverse_prior", resting: true } as const;
  assert.deepEqual(once.owed, { ...resting, claimableAt: later(start, 30_000) });
  assert.deepEqual(refused.owed, { ...resting, claimableAt: later(start, 5_005) });
  const owes = { approvedAt: answer.processedAt, approvalCode: answer.approvalCode };
  assert.deepEqual(findOwingAttempt(once)?.owes, { ...owes, notFoundAt: start, tries: 1 });
  assert.deepEqual(findOwingAttempt(refused)?.owes, { ...owes, refusedWith: "96", tries: 2 });
});

test("a reversal that was sent before a further approval proves nothing of it", () => {
  const owing = meet(meet(sending, events.authorized), approvedLate);
  const again = { ...answer, processedAt: later(start, 9) };
  const anew = meet(owing, { kind: "prior_approved_late", reference, answer: again });

  assert.ok(advance(anew, reversed, start) instanceof Failure);
});

test("an operator has it sent again, or settles it as reversed, but not as standing", () => {
  const owing = meet(meet(sending, events.authorized), approvedLate);
  const resting = meet(owing, unreversed(refusal), start);

  const asked = meet(resting, events.asked_again, start);
  assert.deepEqual(asked.owed, { effect: "reverse_prior", claimableAt: start, resting: true });
  assert.equal(meet(resting, events.settled_as_not_done).owed, undefined);
  assert.ok(advance(owing, events.settled_as_not_done, start) instanceof Failure);
  assert.ok(advance(resting, events.settled_as_done, start) instanceof Failure);
  assert.equal(meet(resting, events.claimed).owed?.effect, "reverse_prior");
});

test("what names no attempt of the order is refused", () => {
  const over: Order = meet(sending, events.authorized);
  const strange = { ...events.prior_approved_late, reference: "ZZZZZZZZZZ01" };

  assert.ok(advance(over, strange, start) instanceof Failure);
  assert.ok(advance(over, unreversed(refusal), start) instanceof Failure);
});
