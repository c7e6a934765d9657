/** The facts of a transaction after an event. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { later } from "../values/time.ts";
import { applyFacts } from "./facts.ts";
import { referenceOf, traceNumberOf } from "./messages.ts";
import type { Stage } from "./order.ts";
import { answer, events, gate, inStage, meet, start, unsupported } from "./testing.ts";

test("before a charge can leave, all that a reversal must repeat is known", () => {
  const order = inStage("filtering");
  for (const event of [events.cleared, events.cleared_for_3ds]) {
    const { identifiers } = applyFacts(order, event, start);

    assert.deepEqual(identifiers, {
      gate,
      attempt: 1,
      reference: referenceOf(order, 1),
      traceNumber: traceNumberOf(order, 0),
      transmittedAt: start,
    });
  }
});

test("an approval brings the answer and a receipt", () => {
  const { transaction } = meet(inStage("authorizing"), events.authorized);

  assert.deepEqual(transaction.answer, answer);
  assert.equal(transaction.receiptId, events.authorized.receiptId);
  assert.equal(transaction.reason, undefined);
});

test("authentication is remembered, with or without success", () => {
  const order = inStage("authenticating");

  assert.deepEqual(applyFacts(order, events.left_unauthenticated, start), {
    authentication: unsupported,
  });
  assert.equal(
    applyFacts(order, events.authentication_failed, start).reason?.code,
    "authentication_failed",
  );
});

// biome-ignore format: a table
const lateness: readonly (readonly [stage: Stage, code: string])[] = [
  ["filtering",          "processing_expired"],
  ["authenticating",     "processing_expired"],
  ["awaiting_method",    "method_expired"],
  ["awaiting_challenge", "challenge_expired"],
  ["awaiting_pares",     "pares_expired"],
];

test("an order that ends by the clock says what did not come in time", () => {
  for (const [stage, code] of lateness) {
    const { transaction } = meet(inStage(stage), events.expired);
    assert.equal(transaction.reason?.code, code, stage);
  }
});

test("doubt that was settled has its own reason, and a reason that is known is kept", () => {
  const doubtful = meet(inStage("authorizing"), events.outcome_unknown);
  assert.equal(meet(doubtful, events.reversed).transaction.reason?.code, "reversed_after_doubt");

  const declined = meet(inStage("authorizing"), events.refused);
  const late = meet(declined, events.approved_late);
  assert.equal(meet(late, events.reversed).transaction.reason?.code, "insufficient_funds");
});

test("an alarm does not make a partial approval's reason forgotten", () => {
  const partial = meet(inStage("authorizing"), events.approved_in_part);

  const alarmed = meet(partial, events.expired, later(start, 7_000));
  assert.equal(alarmed.transaction.reason?.code, "partial_approval_refused");
});

test("unanswered reversals are counted", () => {
  const once = meet(inStage("reversing"), events.reversal_unanswered);
  const twice = meet(once, events.reversal_unanswered);

  assert.equal(twice.transaction.tries, 2);
});

test("most events teach nothing", () => {
  for (const kind of ["challenge_returned", "operator_alerted"] as const) {
    assert.deepEqual(applyFacts(inStage("authenticating"), events[kind], start), {});
  }
});

test("a demanded challenge makes forgotten what was proved before", () => {
  const proven = meet(inStage("authenticating"), events.authenticated);
  const demanded = applyFacts(proven, events.authentication_demanded, start);

  assert.equal(proven.transaction.authentication?.status, "AUTHENTICATED");
  assert.ok("authentication" in demanded);
  assert.equal(demanded.authentication, undefined);
  assert.equal(demanded.demanded?.code, "authentication_required");
});

test("a void that an operator settles as not done says that the charge stands", () => {
  const reasonOf = (kind: "void" | "refund") =>
    applyFacts(inStage("repeating", kind), events.settled_as_not_done, start).reason?.code;

  assert.equal(reasonOf("void"), "not_voided");
  assert.equal(reasonOf("refund"), "settled_by_operator");
});

test("a payout is unknown to its host only by two answers in succession", () => {
  const draft = inStage("paying");
  const payout = { ...draft, transaction: { ...draft.transaction, kind: "payout" } } as const;
  const unknown = meet(meet(payout, events.outcome_unknown), events.original_not_found);
  const after = (cause: string) =>
    applyFacts(unknown, { kind: "repeat_unanswered", cause }, start).reversal?.notFoundAt;

  assert.equal(unknown.transaction.reversal?.notFoundAt, start);
  assert.equal(after("inquiry: answered 96"), undefined);
  assert.equal(after("gate_unavailable"), start);
});
