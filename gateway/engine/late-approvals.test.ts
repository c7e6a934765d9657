/** Late approvals: the charges that they confirm are reversed, or the operator is told. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { OrderEvent } from "../orders/events.ts";
import type { LateApproval, Order, PriorAttempt } from "../orders/order.ts";
import { answer, approved, draft, events, meet } from "../orders/testing.ts";
import { Failure } from "../values/failure.ts";
import { makeLateApprovals } from "./late-approvals.ts";

/** A payment whose first amount was reversed in doubt, and whose second is approved. */
const listed: Order = meet(
  meet(meet(meet(draft, events.received), events.outcome_unknown), events.amount_reversed),
  events.authorized,
);

function approvalOf(order: Order, changes: Partial<LateApproval> = {}): LateApproval {
  const reference = order.transaction.identifiers?.reference ?? "";
  return { reference, answer, minor: undefined, ...changes };
}

async function report(order: Order | undefined, approval: LateApproval, reverses = true) {
  const applied: OrderEvent[] = [];
  const started: Order[] = [];
  const reversed: PriorAttempt[] = [];
  const forgotten: PriorAttempt[] = [];
  const late = makeLateApprovals({
    find: async () => order,
    apply: async (met, event) => {
      applied.push(event);
      return met.transaction.stage === "approved" && event.kind !== "noted"
        ? new Failure("not_allowed_now", "", "it is over")
        : met;
    },
    runner: {
      start: (next) => void started.push(next),
      has: () => false,
      count: 0,
      idle: async () => undefined,
    },
    reversePriorAttempt: async (_order, priorAttempts) => {
      reversed.push(priorAttempts);
      return reverses;
    },
    onUnreversed: (_order, priorAttempts) => void forgotten.push(priorAttempts),
  });
  await late.report(approval);
  return { applied, started, reversed, forgotten };
}

test("the charge of an order in doubt goes on to its reversal, with the approved amount", async () => {
  const doubtful = meet(meet(draft, events.received), events.outcome_unknown);

  const { applied, started } = await report(doubtful, approvalOf(doubtful, { minor: 521n }));

  const [event] = applied;
  assert.ok(event?.kind === "approved_late");
  assert.equal(event.answer.approvedAmount?.minor, 521n);
  assert.deepEqual(started, [doubtful]);
});

test("an order that has no use for it keeps a note of it", async () => {
  const order = approved();

  const { applied, started } = await report(order, approvalOf(order));

  assert.deepEqual(
    applied.map(({ kind }) => kind),
    ["approved_late", "noted"],
  );
  assert.deepEqual(started, []);
});

test("an earlier try is taken back by itself, and the present one is left alone", async () => {
  const [priorAttempts] = listed.transaction.priorAttempts ?? [];
  assert.ok(priorAttempts !== undefined);
  const approval = approvalOf(listed, { reference: priorAttempts.identifiers.reference });

  const done = await report(listed, approval);
  const undone = await report(listed, approval, false);

  assert.deepEqual([done.reversed, done.forgotten, done.started], [[priorAttempts], [], []]);
  assert.deepEqual(undone.forgotten, [priorAttempts]);
  const whats = [done, undone].map(({ applied: [event] }) => event?.kind === "noted" && event.what);
  assert.deepEqual(whats, ["earlier_try_reversed", "earlier_try_approved"]);
});

test("what names no order and no try of ours changes nothing", async () => {
  const nothing = { applied: [], started: [], reversed: [], forgotten: [] };

  assert.deepEqual(await report(undefined, approvalOf(listed)), nothing);
  assert.deepEqual(await report(listed, approvalOf(listed, { reference: "garbage" })), nothing);
  assert.deepEqual(
    await report(listed, approvalOf(listed, { reference: "ZZZZZZZZZZ01" })),
    nothing,
  );
});
