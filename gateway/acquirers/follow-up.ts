/**
 * Does the `capture` and `give_back` effects: asks the acquirer to take money that it holds, or to
 * let go of money. What may have left already is sent as a repeat, which the host does once.
 */
import type { EffectHandler } from "../orders/effect-handler.ts";
import type { OrderEvent } from "../orders/events.ts";
import type { Answer, Order, Reason, Transaction } from "../orders/order.ts";
import { totalsOf } from "../orders/transactions.ts";
import { type Money, subtract } from "../values/money.ts";
import type { Acquirer, FollowUpAnswer, FollowUpMessage } from "./acquirer.ts";
import { notSent } from "./answer-events.ts";
import { type AcquirerOf, type FindCard, originalOf } from "./attempt.ts";
import type { IsTooLate } from "./too-late.ts";

type Dependencies = {
  readonly acquirerOf: AcquirerOf;
  readonly findCard: FindCard;
  readonly reasonOf: (responseCode: string) => Reason;
  /** An answer to a repeat that says nothing of what became of the first message. */
  readonly isUndecided: (responseCode: string) => boolean;
  readonly isTooLate: IsTooLate;
};

export function makeCapture(dependencies: Dependencies): EffectHandler {
  return makeFollowUp(dependencies, {
    send: (acquirer, request) => acquirer.capture(request),
    remainingOf: ({ transaction }) => transaction.amount,
    done: (answer) => ({ kind: "captured", answer }),
  });
}

export function makeRefund(dependencies: Dependencies): EffectHandler {
  return makeFollowUp(dependencies, {
    send: (acquirer, request) => acquirer.giveBack(request),
    remainingOf,
    done: (answer) => ({ kind: "returned", answer }),
  });
}

type How = {
  readonly send: (acquirer: Acquirer, request: FollowUpMessage) => Promise<FollowUpAnswer>;
  /** What the cardholder still pays afterwards. */
  readonly remainingOf: (order: Order) => Money;
  readonly done: (answer: Answer) => OrderEvent;
};

function makeFollowUp(dependencies: Dependencies, how: How): EffectHandler {
  const { acquirerOf, findCard, reasonOf, isUndecided, isTooLate } = dependencies;
  return async (order, { startedBefore }) => {
    const { stage, amount, identifiers } = order.transaction;
    const acquirer = acquirerOf(order);
    const mayHaveLeft = startedBefore || stage === "repeating";
    if (acquirer?.isReady() !== true) return unsent(order.transaction, mayHaveLeft);
    const card = await findCard(order);
    const original = originalOf(order);
    if (card === undefined || original === undefined || identifiers === undefined) {
      return unsent(order.transaction, mayHaveLeft);
    }
    // Another node may have it in hand by now: whoever still owns the order sends it as a repeat.
    if (isTooLate(order)) return inDoubt(order.transaction, "too_late");

    const { traceNumber, transmittedAt } = identifiers;
    const outcome = await how.send(acquirer, {
      ...{ original, card, amount, traceNumber, transmittedAt },
      remaining: how.remainingOf(order),
      repeated: mayHaveLeft,
    });
    switch (outcome.kind) {
      case "approved":
        return how.done(outcome.answer);
      case "refused": {
        const { answer } = outcome;
        const { responseCode } = answer;
        return mayHaveLeft && isUndecided(responseCode)
          ? inDoubt(order.transaction, `answered ${responseCode}`)
          : { kind: "refused", answer, reason: reasonOf(responseCode) };
      }
      case "not_sent":
        return unsent(order.transaction, mayHaveLeft);
      case "unknown":
        return inDoubt(order.transaction, outcome.cause);
    }
  };
}

/** All that stands but what is given back now. A cancel lets go of all. */
function remainingOf(order: Order): Money {
  const { held, left } = totalsOf(order);
  const standing = order.transaction.kind === "cancel" ? held : left;
  return subtract(standing, order.transaction.amount);
}

function unsent(transaction: Transaction, mayHaveLeft: boolean): OrderEvent {
  return mayHaveLeft ? inDoubt(transaction, "gate_unavailable") : notSent;
}

function inDoubt({ stage }: Transaction, cause: string): OrderEvent {
  return { kind: stage === "repeating" ? "repeat_unanswered" : "outcome_unknown", cause };
}
