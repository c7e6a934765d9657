/** Reversals: what is named, when it is a repeat, and how an order with a list goes on. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Order } from "../orders/order.ts";
import { amount, draft, events, meet, start } from "../orders/testing.ts";
import { CardNumber } from "../values/card-number.ts";
import { Money } from "../values/money.ts";
import { later } from "../values/time.ts";
import type { Acquirer, AuthorizationRequest, Reversal, ReversalRequest } from "./acquirer.ts";
import { makeReverse, makeReversePriorAttempt } from "./reverse.ts";

const card = { number: new CardNumber("4000001000000018"), expiryYear: "31", expiryMonth: "12" };
const fresh = { startedBefore: false, cardData: undefined };
const unused = () => Promise.reject(new Error("not asked for"));

function makeBank(says: Reversal = { kind: "reversed" }, isReady = true) {
  const sent: { readonly attempt: AuthorizationRequest; readonly advice: ReversalRequest }[] = [];
  const acquirer: Acquirer = {
    isReady: () => isReady,
    authorize: unused,
    inquire: undefined,
    reverse: async (attempt, advice) => {
      sent.push({ attempt, advice });
      return says;
    },
    capture: unused,
    refund: unused,
  };
  const dependencies = { findCard: async () => card, findAcquirer: () => acquirer };
  const reverse = (isInTime: boolean) =>
    makeReverse({
      ...dependencies,
      clock: { now: () => later(start, 1_000) },
      processingDeadlineMs: isInTime ? 1_000 : 999,
    });
  return { sent, reverse, reversePriorAttempt: makeReversePriorAttempt(dependencies) };
}

const half = new Money(521n, amount.currency);
const listed: Order = { ...draft, purchase: { ...draft.purchase, otherAmounts: [half] } };
const doubtful = meet(meet(listed, events.received), events.outcome_unknown);
const second = meet(doubtful, { ...events.amount_reversed, next: half });

test("a list goes on when its amount is proved not to be charged, and while it is young", async () => {
  const bank = makeBank();

  assert.equal((await bank.reverse(true)(doubtful, fresh)).kind, "amount_reversed");
  assert.equal((await bank.reverse(false)(doubtful, fresh)).kind, "reversed");
  const last = meet(second, events.outcome_unknown);
  assert.equal((await bank.reverse(true)(last, fresh)).kind, "reversed");
});

test("an order that is over does not go on with its list when a late approval is reversed", async () => {
  const over = meet(meet(doubtful, events.reversed), events.approved_late);

  assert.equal((await makeBank().reverse(true)(over, fresh)).kind, "reversed");
});

test("an earlier try is named by its own numbers and amount, as a repeat", async () => {
  const [priorAttempts] = second.transaction.priorAttempts ?? [];
  assert.ok(priorAttempts !== undefined);
  const bank = makeBank();

  const isDone = await bank.reversePriorAttempt(second, priorAttempts);

  const [{ attempt, advice } = assert.fail()] = bank.sent;
  assert.equal(isDone, true);
  assert.deepEqual([attempt.identifiers, attempt.amount], [priorAttempts.identifiers, amount]);
  assert.equal(advice.repeated, true);
  await bank.reverse(true)(doubtful, fresh);
  assert.equal(advice.traceNumber, bank.sent[1]?.advice.traceNumber);
});

test("an earlier try is not taken back without an answer, nor without a link", async () => {
  const [priorAttempts] = second.transaction.priorAttempts ?? [];
  assert.ok(priorAttempts !== undefined);
  const away = makeBank({ kind: "reversed" }, false);

  assert.equal(
    await makeBank({ kind: "unknown", cause: "timeout" }).reversePriorAttempt(
      second,
      priorAttempts,
    ),
    false,
  );
  assert.equal(await away.reversePriorAttempt(second, priorAttempts), false);
  assert.deepEqual(away.sent, []);
});
