/**
 * The `capture` and `refund` effects: the handler asks the acquirer to take money that it holds, to
 * refund it, or to cancel the hold. What may have been sent already is sent as a repeat, which the
 * host carries out once.
 */
import type { EffectHandler, OrderEvent } from "../orders/events.ts";
import type { Answer, Order, Transaction } from "../orders/order.ts";
import { initialOf, totalsOf } from "../orders/transactions.ts";
import { type Money, subtract } from "../values/money.ts";
import type { Acquirer, FollowUpAnswer, FollowUpMessage } from "./acquirer.ts";
import {
  type AcquirerDependencies,
  acquirerOf,
  isCharge,
  isTooLate,
  notSent,
} from "./authorize.ts";

type Dependencies = Pick<
  AcquirerDependencies,
  "findAcquirer" | "findCard" | "clock" | "answerTimeoutMs"
>;

export function makeCapture(dependencies: Dependencies): EffectHandler {
  return makeFollowUp(dependencies, {
    send: (acquirer, request) => acquirer.capture(request),
    remainingOf: ({ transaction }) => transaction.amount,
    done: (answer) => ({ kind: "captured", answer }),
  });
}

export function makeRefund(dependencies: Dependencies): EffectHandler {
  return makeFollowUp(dependencies, {
    send: (acquirer, request) => acquirer.refund(request),
    remainingOf,
    done: (answer) => ({ kind: "returned", answer }),
  });
}

type Variant = {
  readonly send: (acquirer: Acquirer, request: FollowUpMessage) => Promise<FollowUpAnswer>;
  /** What the cardholder still pays afterwards. */
  readonly remainingOf: (order: Order) => Money;
  readonly done: (answer: Answer) => OrderEvent;
};

function makeFollowUp(dependencies: Dependencies, variant: Variant): EffectHandler {
  return async (order, { startedBefore }) => {
    const { transaction } = order;
    const acquirer = acquirerOf(order, dependencies);
    const repeated = startedBefore || transaction.stage === "repeating";
    if (acquirer?.isReady() !== true) return unsent(transaction, repeated);
    const card = await dependencies.findCard(order);
    const message = messageOf(order, repeated);
    if (card === undefined || message === undefined) return unsent(transaction, repeated);
    if (isTooLate(order, dependencies)) return inDoubt(transaction, "too_late");

    const remaining = variant.remainingOf(order);
    const outcome = await variant.send(acquirer, { ...message, card, remaining });
    switch (outcome.kind) {
      case "approved":
        return variant.done(outcome.answer);
      case "refused": {
        const { answer, refusal } = outcome;
        return repeated && refusal.isUndecided
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

/** Nothing when the order's first transaction is no charge, or has no gate. */
function messageOf(order: Order, repeated: boolean) {
  const { amount, identifiers: own } = order.transaction;
  const { kind, identifiers, answer } = initialOf(order);
  if (own === undefined || identifiers === undefined || !isCharge(kind)) return undefined;
  const { traceNumber, transmittedAt } = own;
  const { approvalCode, networkId } = answer ?? {};
  const original = { kind, identifiers, approvalCode, networkId };
  return { original, amount, traceNumber, transmittedAt, repeated };
}

/** A cancel releases the whole hold. */
function remainingOf(order: Order): Money {
  const { held, left } = totalsOf(order);
  const standing = order.transaction.kind === "cancel" ? held : left;
  return subtract(standing, order.transaction.amount);
}

function unsent(transaction: Transaction, mayHaveBeenSent: boolean): OrderEvent {
  return mayHaveBeenSent ? inDoubt(transaction, "gate_unavailable") : notSent;
}

function inDoubt({ stage }: Transaction, cause: string): OrderEvent {
  return { kind: stage === "repeating" ? "repeat_unanswered" : "outcome_unknown", cause };
}
