/** Charges of late approvals are reversed, or the operator gets an alert. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { OrderEvent } from "../orders/events.ts";
import { referenceOf } from "../orders/messages.ts";
import type { LateApproval, Order } from "../orders/order.ts";
import { findPriorAttempt } from "../orders/prior-attempts.ts";
import { answer, approved, draft, events, meet, start } from "../orders/testing.ts";
import { Failure } from "../values/failure.ts";
import { asReceiptId } from "../values/ids.ts";
import { makeLateApprovals } from "./late-approvals.ts";

/**
 * An order whose first charge was reversed because its outcome was unknown, and whose second
 * charge, for the next amount, is approved.
 */
const listed: Order = meet(
  meet(meet(meet(draft, events.received), events.outcome_unknown), events.amount_reversed),
  events.authorized,
);

function approvalOf(order: Order, changes: Partial<LateApproval> = {}): LateApproval {
  const reference = order.transaction.identifiers?.reference ?? "";
  return { reference, answer, minor: undefined, ...changes };
}

async function report(order: Order | undefined, approval: LateApproval, failures = 0) {
  const applied: OrderEvent[] = [];
  const started: Order[] = [];
  const delayed: LateApproval[] = [];
  const unknown: LateApproval[] = [];
  const reversed: LateApproval[] = [];
  const late = makeLateApprovals({
    find: async () => {
      if (delayed.length < failures) throw new Error("the database is unreachable");
      return order;
    },
    apply: async (met, event) => {
      applied.push(event);
      const isLate = event.kind === "approved_late" || event.kind === "paid_out";
      const isOver = ["approved", "error"].includes(met.transaction.stage) && isLate;
      const isUnknown = "reference" in event && !findPriorAttempt(met, event.reference);
      return isOver || isUnknown ? new Failure("not_allowed_now", "", "it is over") : met;
    },
    runner: { start: (next) => void started.push(next), runs: () => false },
    clock: { now: () => start },
    vault: { receiptIdOf: () => asReceiptId("receipt") },
    onLate: (each) => void reversed.push(each),
    onDelayed: (each) => void delayed.push(each),
    onUnknown: (each) => void unknown.push(each),
  });
  void late.report(approval);
  await late.idle();
  return { applied, started, delayed, unknown, reversed, lost: late.stop() };
}

test("the charge of an order in doubt goes on to its reversal, with the approved amount", async () => {
  const doubtful = meet(meet(draft, events.received), events.outcome_unknown);

  const { applied, started } = await report(doubtful, approvalOf(doubtful, { minor: 521n }));

  const [event] = applied;
  assert.ok(event?.kind === "approved_late");
  assert.equal(event.answer.approvedAmount?.minor, 521n);
  assert.deepEqual(started, [doubtful]);
});

test("an approval that another process waits for, or has recorded, changes nothing", async () => {
  const nothing = { applied: [], started: [], delayed: [], unknown: [], reversed: [], lost: [] };
  const inFlight = meet(draft, events.received);
  const isOver = { ...inFlight, owed: { effect: "authorize", claimableAt: start } } as const;
  const recorded = approved();

  assert.deepEqual(await report(inFlight, approvalOf(inFlight)), nothing);
  assert.deepEqual(await report(recorded, approvalOf(recorded)), nothing);
  const { reversed } = await report(isOver, approvalOf(isOver));
  assert.equal(reversed.length, 1, "no process waits for it after the lease");
});

test("a payout in doubt is paid, and one that counts as unpaid keeps a note and alerts", async () => {
  const draftOfPayout = {
    ...draft,
    transaction: { ...draft.transaction, kind: "payout" },
  } as const;
  const doubtful = meet(meet(draftOfPayout, events.received), events.outcome_unknown);
  const unpaid: Order = { ...doubtful, transaction: { ...doubtful.transaction, stage: "error" } };

  const paid = await report(doubtful, approvalOf(doubtful));
  const late = await report(unpaid, approvalOf(unpaid));

  const kinds = ({ applied }: typeof paid) => applied.map(({ kind }) => kind);
  assert.deepEqual([kinds(paid), paid.unknown.length], [["paid_out"], 0]);
  assert.deepEqual([kinds(late), late.unknown.length], [["paid_out", "noted"], 1]);
  assert.deepEqual([paid.reversed, late.reversed], [[], []]);
});

test("an order that has no use for it keeps a note of it", async () => {
  const order = approved();
  const other = { ...answer, approvalCode: "999999" };

  const { applied, started } = await report(order, approvalOf(order, { answer: other }));

  assert.deepEqual(
    applied.map(({ kind }) => kind),
    ["approved_late", "noted"],
  );
  assert.deepEqual(started, []);
});

test("an approval of an earlier try is reported as that, and what else is owed is left alone", async () => {
  const [prior = assert.fail()] = listed.transaction.priorAttempts ?? [];
  const { reference } = prior.identifiers;
  const approval = approvalOf(listed, { reference });
  const owed = { effect: "reverse_prior", claimableAt: start } as const;

  const busy = await report(listed, approval);
  const free = await report({ ...listed, owed }, approval);

  assert.deepEqual(busy.applied, [{ kind: "prior_approved_late", reference, answer }]);
  assert.deepEqual([busy.started.length, free.started.length], [0, 1]);
});

test("what cannot be stored is tried again until it is", async () => {
  const doubtful = meet(meet(draft, events.received), events.outcome_unknown);

  const { delayed, started, lost } = await report(doubtful, approvalOf(doubtful), 2);

  assert.deepEqual([delayed.length, started, lost], [2, [doubtful], []]);
});

test("a node that ends says which approvals it could not store", async () => {
  const approval = approvalOf(listed);
  const late = makeLateApprovals({
    find: () => Promise.reject(new Error("the database is unreachable")),
    apply: () => assert.fail(),
    runner: { start: () => assert.fail(), runs: () => false },
    clock: { now: () => start },
    vault: { receiptIdOf: () => asReceiptId("receipt") },
    onLate: () => assert.fail(),
    onDelayed: () => undefined,
    onUnknown: () => undefined,
  });
  const reported = late.report(approval);

  assert.deepEqual(late.stop(), [approval]);
  await reported;
});

test("what names no order and no try of ours changes nothing, and an operator is told", async () => {
  const garbage = approvalOf(listed, { reference: "garbage" });
  const ofOrder = approvalOf(listed);
  const ofLostTry = approvalOf(listed, { reference: referenceOf(listed, 9) });
  const nothing = { applied: [], started: [], delayed: [], reversed: [], lost: [] };

  assert.deepEqual(await report(undefined, ofOrder), { ...nothing, unknown: [ofOrder] });
  assert.deepEqual(await report(listed, garbage), { ...nothing, unknown: [garbage] });
  const { started, unknown } = await report(listed, ofLostTry);
  assert.deepEqual([started, unknown], [[], [ofLostTry]]);
});
