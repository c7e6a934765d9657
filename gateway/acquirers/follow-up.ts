/**
 * The `capture` and `refund` effects: the handler asks the acquirer to take money that it holds, to
 * refund it, or to cancel the hold. What may have been sent already is sent as a repeat, which the
 * host carries out once.
 */
import type { EffectHandler, OrderEvent } from "../orders/events.ts";
import type { Order, Transaction } from "../orders/order.ts";
import { initialOf, totalsOf } from "../orders/transactions.ts";
import { type Money, subtract } from "../values/money.ts";
import type { Refusal } from "./acquirer.ts";
import {
  type AcquirerDependencies,
  acquirerOf,
  cardLost,
  isCharge,
  isReady,
  isTooLate,
  notSent,
  waitForLink,
} from "./authorize.ts";

type Dependencies = Pick<
  AcquirerDependencies,
  "findAcquirer" | "findCard" | "clock" | "answerTimeoutMs" | "linkWaitMs" | "nextReady"
>;

export function makeFollowUpEffect(
  dependencies: Dependencies,
  effect: "capture" | "refund",
): EffectHandler {
  return async (order, { startedBefore }) => {
    const { transaction } = order;
    const acquirer = acquirerOf(order, dependencies);
    const repeated = startedBefore || transaction.stage === "repeating";
    const hasLink = () => isReady(acquirer);
    if (!repeated && !hasLink()) await waitForLink(order, dependencies, hasLink);
    if (!isReady(acquirer)) return unsent(transaction, repeated);
    const card = await dependencies.findCard(order);
    const message = messageOf(order, repeated);
    if (card === undefined && !repeated) return cardLost;
    if (card === undefined || message === undefined) return unsent(transaction, repeated);
    if (isTooLate(order, dependencies)) return inDoubt(transaction, "too_late");

    const remaining = effect === "capture" ? transaction.amount : remainingOf(order);
    const outcome = await acquirer[effect]({ ...message, card, remaining });
    switch (outcome.kind) {
      case "approved":
        return { kind: effect === "capture" ? "captured" : "returned", answer: outcome.answer };
      case "refused": {
        const { answer, refusal } = outcome;
        return isUndecided(refusal, repeated)
          ? inDoubt(transaction, `answered ${answer.responseCode}`)
          : { kind: "refused", answer, reason: refusal.reason };
      }
      case "not_sent":
        return unsent(transaction, repeated);
      case "unknown":
        return inDoubt(transaction, outcome.cause);
    }
  };
}

/**
 * The host has not said what became of the request. What it says about the form of a repeat tells
 * nothing of the message before it.
 */
function isUndecided({ hint }: Refusal, repeated: boolean): boolean {
  if (hint === "message_fault") return repeated;
  return hint === "may_yet_be_done" || hint === "host_fault";
}

/** Nothing when the order's first transaction is no charge, or has no gate. */
function messageOf(order: Order, repeated: boolean) {
  const { amount, asRefund, identifiers: own } = order.transaction;
  const { kind, identifiers, answer, amount: asked } = initialOf(order);
  if (own === undefined || identifiers === undefined || !isCharge(kind)) return undefined;
  const { traceNumber, transmittedAt } = own;
  const { approvalCode, networkId, approvedAmount = asked } = answer ?? {};
  const original = { kind, identifiers, approvalCode, networkId, amount: approvedAmount };
  const reference = asRefund === true ? { reference: own.reference } : {};
  return { original, amount, traceNumber, ...reference, transmittedAt, repeated };
}

/** What the cardholder still pays afterwards. A cancel releases the whole hold. */
function remainingOf(order: Order): Money {
  const { held, standing } = totalsOf(order);
  const before = order.transaction.kind === "cancel" ? held : standing;
  return subtract(before, order.transaction.amount);
}

function unsent(transaction: Transaction, mayHaveBeenSent: boolean): OrderEvent {
  return mayHaveBeenSent ? inDoubt(transaction, "gate_unavailable") : notSent;
}

function inDoubt({ stage }: Transaction, cause: string): OrderEvent {
  return { kind: stage === "repeating" ? "repeat_unanswered" : "outcome_unknown", cause };
}
