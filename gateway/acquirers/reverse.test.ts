/**
 * Reversals: the charge that they name, when they are repeats, and how an order with a list of
 * amounts continues.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { endpointWith } from "../merchant-api/testing.ts";
import type { Order } from "../orders/order.ts";
import { amount, clockAt, draft, events, meet, start } from "../orders/testing.ts";
import { CardNumber } from "../values/card-number.ts";
import { Money } from "../values/money.ts";
import { later } from "../values/time.ts";
import type { Acquirer, AuthorizationRequest, Reversal, ReversalRequest } from "./acquirer.ts";
import { makeReverse, makeReversePrior } from "./follow-up.ts";

const card = { number: new CardNumber("4000001000000018"), expiryYear: "31", expiryMonth: "12" };
const fresh = { startedBefore: false, cardData: undefined };
const unused = () => Promise.reject(new Error("not asked for"));

type Found = Awaited<ReturnType<NonNullable<Acquirer["inquire"]>>>;

function makeHost(
  says: Reversal = { kind: "reversed" },
  isReady = true,
  found?: Found,
  answerTimeoutMs = 500,
) {
  const sent: { readonly attempt: AuthorizationRequest; readonly advice: ReversalRequest }[] = [];
  const acquirer: Acquirer = {
    isReady: () => isReady,
    hasPlaceFor: () => true,
    authorize: unused,
    inquire: found && (async () => found),
    inquireAfter: undefined,
    reverse: async (attempt, advice) => {
      sent.push({ attempt, advice });
      return says;
    },
    capture: unused,
    refund: unused,
  };
  const getEndpoint = () => endpointWith([]);
  const dependencies = { findCard: async () => card, findAcquirer: () => acquirer, getEndpoint };
  const clocked = {
    ...dependencies,
    clock: clockAt(later(start, 1_000)),
    answerTimeoutMs,
  };
  const reverse = (isInTime: boolean) =>
    makeReverse({ ...clocked, processingDeadlineMs: isInTime ? 1_000 : 999 });
  const reversePrior = makeReversePrior({ ...clocked, processingDeadlineMs: 0 });
  return { sent, reverse, reversePrior };
}

const notFound: Reversal = { kind: "not_found", code: "25" };
const half = new Money(521n, amount.currency);
const listed: Order = { ...draft, purchase: { ...draft.purchase, otherAmounts: [half] } };
const doubtful = meet(meet(listed, events.received), events.outcome_unknown);
const second = meet(doubtful, { ...events.amount_reversed, next: half });

test("a list goes on when its amount is proved not to be charged, and while it is young", async () => {
  const host = makeHost();

  assert.equal((await host.reverse(true)(doubtful, fresh)).kind, "amount_reversed");
  assert.equal((await host.reverse(false)(doubtful, fresh)).kind, "reversed");
  const last = meet(second, events.outcome_unknown);
  assert.equal((await host.reverse(true)(last, fresh)).kind, "reversed");
});

test("a reversal after a late approval is no repeat of the one before it", async () => {
  const host = makeHost();
  await host.reverse(true)(doubtful, fresh);
  await host.reverse(true)(meet(doubtful, events.approved_late), fresh);

  const [before, after] = host.sent.map(({ advice }) => advice);
  assert.notEqual(before?.traceNumber, after?.traceNumber);
  assert.equal(after?.repeated, false);
});

test("an order that is over does not go on with its list when a late approval is reversed", async () => {
  const over = meet(meet(doubtful, events.reversed), events.approved_late);

  assert.equal((await makeHost().reverse(true)(over, fresh)).kind, "reversed");
});

const first = second.transaction.priorAttempts?.[0] ?? assert.fail();
const { reference } = first.identifiers;
const over = meet(second, events.refused);
const owing = meet(over, { ...events.prior_approved_late, reference });

test("an earlier try that was approved late is reversed by a message of its own", async () => {
  const host = makeHost();

  const event = await host.reversePrior(owing, fresh);

  const [{ attempt, advice } = assert.fail()] = host.sent;
  assert.deepEqual(event, { kind: "prior_reversed", reference, approvedAt: start });
  assert.deepEqual([attempt.identifiers, attempt.amount], [first.identifiers, amount]);
  assert.deepEqual([advice.repeated, advice.approvalCode], [false, "731904"]);
  await host.reverse(true)(doubtful, fresh);
  // The host's answer to the reversal before the approval says nothing about this one.
  assert.notEqual(advice.traceNumber, host.sent[1]?.advice.traceNumber);
  await host.reversePrior(owing, { ...fresh, startedBefore: true });
  const { advice: repeat } = host.sent[2] ?? assert.fail();
  assert.deepEqual([repeat.repeated, repeat.traceNumber], [true, advice.traceNumber]);
});

test("an earlier try is not taken back without an answer, nor without a link", async () => {
  const silent = { kind: "unknown", cause: "timeout" } as const;
  const refusal = { kind: "refused", code: "12", mayHelp: false } as const;
  const away = makeHost({ kind: "reversed" }, false);

  for (const host of [makeHost(silent), makeHost(refusal), makeHost(notFound), away]) {
    assert.equal((await host.reversePrior(owing, fresh)).kind, "prior_unreversed");
  }
  assert.deepEqual(away.sent, []);
});

test("a refused reversal ends no doubt, with any code", async () => {
  for (const mayHelp of [true, false]) {
    const refusal = { kind: "refused", code: "91", mayHelp } as const;
    const event = await makeHost(refusal).reverse(true)(doubtful, fresh);
    assert.deepEqual(event, { kind: "reversal_refused", code: "91", mayHelp });
  }
});

test("a charge that the host does not know is confirmed by a repeat, but not by an early one", async () => {
  const { reverse } = makeHost(notFound);
  const first = await reverse(true)(doubtful, fresh);
  assert.deepEqual(first, { kind: "original_not_found", code: "25" });

  // The host's clock is a second after the start, and answers are lost after half a second.
  const early = meet(doubtful, events.original_not_found, later(start, 501));
  const early2 = meet(early, events.original_not_found, later(start, 900));
  const due = meet(doubtful, events.original_not_found, later(start, 500));
  assert.equal((await reverse(true)(early, fresh)).kind, "original_not_found");
  assert.equal((await reverse(true)(early2, fresh)).kind, "original_not_found");
  assert.equal((await reverse(true)(due, fresh)).kind, "amount_reversed");

  const refused = meet(due, events.reversal_refused, later(start, 600));
  assert.equal((await reverse(true)(refused, fresh)).kind, "original_not_found");
  const approved = meet(due, events.approved_late, later(start, 600));
  assert.equal((await reverse(true)(approved, fresh)).kind, "original_not_found");
});

test("where the host has an inquiry, only the inquiry confirms that there is no charge", async () => {
  const approval = { kind: "approved", answer: events.authorized.answer } as const;
  const due = meet(doubtful, events.original_not_found, later(start, 1));
  // biome-ignore format: a table
  const rows: readonly (readonly [Found, string])[] = [
    [{ kind: "not_found" },                       "amount_reversed"],
    [approval,                                    "reversal_refused"],
    [{ ...approval, kind: "approved_in_part" },   "reversal_refused"],
    [{ kind: "other_answer", code: "91" },        "reversal_unanswered"],
    [{ kind: "unknown", cause: "timeout" },       "reversal_unanswered"],
    [{ kind: "not_sent" },                        "reversal_unanswered"],
  ];

  for (const [found, kind] of rows) {
    const event = await makeHost(notFound, true, found).reverse(true)(due, fresh);
    assert.equal(event.kind, kind, found.kind);
  }
});

test("an inquiry confirms nothing while the charge may still be on its way to the host", async () => {
  // The link was lost, and another link sent the reversal at once. The charge was sent at the
  // start.
  const confirm = (answerTimeoutMs: number) =>
    makeHost(notFound, true, { kind: "not_found" }, answerTimeoutMs).reverse(true)(doubtful, fresh);

  assert.equal((await confirm(1_001)).kind, "original_not_found");
  assert.equal((await confirm(1_000)).kind, "amount_reversed");
});

test("a reversal behind a decline in doubt keeps the decline; one of a list declines at its end", async () => {
  const single = meet(meet(draft, events.received), events.refused_in_doubt);
  const inList = meet(meet(listed, events.received), events.amount_in_doubt);

  assert.deepEqual([single.transaction.stage, single.owed?.effect], ["declined", "reverse"]);
  assert.equal((await makeHost().reverse(true)(single, fresh)).kind, "reversed");
  assert.equal((await makeHost().reverse(true)(inList, fresh)).kind, "amount_reversed");
  assert.equal((await makeHost().reverse(false)(inList, fresh)).kind, "part_reversed");
});
