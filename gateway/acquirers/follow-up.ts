/**
 * The `capture` and `refund` effects: the handler asks the acquirer to take money that it holds, to
 * refund it, or to cancel the hold. What may have been sent already is sent as a repeat, which the
 * host carries out once. A repeat that the host or the issuer refuses proves nothing about the
 * message before it: an inquiry settles that, or an operator.
 */
import type { EffectHandler, OrderEvent } from "../orders/events.ts";
import { keptTries, makeKept } from "../orders/messages.ts";
import type { Answer, Order, Transaction } from "../orders/order.ts";
import { captureOf, initialOf, totalsOf } from "../orders/transactions.ts";
import { type Money, subtract } from "../values/money.ts";
import type { Instant } from "../values/time.ts";
import {
  type Acquirer,
  type AcquirerDependencies,
  acquirerOf,
  cardLost,
  type FollowUpAnswer,
  isCharge,
  isReady,
  isTooLate,
  notSent,
  type SentFollowUp,
  waitForLink,
} from "./acquirer.ts";

type Dependencies = Pick<
  AcquirerDependencies,
  "findAcquirer" | "findCard" | "clock" | "answerTimeoutMs" | "linkWaitMs" | "nextReady"
>;

export function makeFollowUpEffect(
  dependencies: Dependencies,
  effect: SentFollowUp["effect"],
): EffectHandler {
  const { clock, answerTimeoutMs } = dependencies;
  return async (order, { startedBefore }) => {
    const { transaction } = order;
    const acquirer = acquirerOf(order, dependencies);
    const repeated = startedBefore || transaction.stage === "repeating";
    const hasLink = () => isReady(acquirer);
    if (!repeated && !hasLink()) await waitForLink(order, dependencies, hasLink);
    if (!isReady(acquirer)) return unsent(transaction, repeated);
    const card = await dependencies.findCard(order);
    const message = messageOf(order, repeated);
    if (!repeated && (card === undefined || card.isCondemned === true)) return cardLost;
    if (card === undefined || message === undefined) return unsent(transaction, repeated);
    if (isTooLate(order, dependencies)) return inDoubt(transaction, "too_late");

    const remaining = effect === "capture" ? transaction.amount : remainingOf(order);
    const kept = makeKept();
    const keep = transaction.tries < keptTries ? { keep: kept.keep } : {};
    const sent = { ...message, card, remaining, effect, ...keep };
    const sentAt = clock.earliest();
    const outcome = await acquirer[effect](sent);
    return kept.with(await eventOf(order, outcome, { acquirer, sent, sentAt }));
  };

  async function eventOf(order: Order, outcome: FollowUpAnswer, about: Sent): Promise<OrderEvent> {
    const { transaction } = order;
    switch (outcome.kind) {
      case "approved":
        return done(outcome.answer);
      case "refused":
        return meetRefusal(order, outcome, about);
      case "not_sent":
        return unsent(transaction, about.sent.repeated);
      case "unknown":
        return inDoubt(transaction, outcome.cause);
    }
  }

  async function meetRefusal(
    order: Order,
    { answer, refusal }: Extract<FollowUpAnswer, { readonly kind: "refused" }>,
    { acquirer, sent, sentAt }: Sent,
  ): Promise<OrderEvent> {
    const { reason, hint } = refusal;
    const { responseCode: code } = answer;
    if (hint === "may_yet_be_done" || hint === "host_fault") {
      return inDoubt(order.transaction, `answered ${code}`);
    }
    if (!sent.repeated) return { kind: "refused", answer, reason };
    const found = await acquirer.inquireAfter?.(sent);
    if (found?.kind === "approved") return done(found.answer);
    // Until then the first message, or a repeat, may still be on its way to the host.
    const { unansweredAt = sent.transmittedAt } = order.transaction.reversal ?? {};
    const isConfirmed = sentAt >= unansweredAt + answerTimeoutMs;
    if (found?.kind === "not_found" && isConfirmed) return { kind: "refused", answer, reason };
    return { kind: "repeat_refused", code };
  }

  function done(answer: Answer): OrderEvent {
    return { kind: effect === "capture" ? "captured" : "returned", answer };
  }
}

type Sent = {
  readonly acquirer: Acquirer;
  readonly sent: SentFollowUp;
  readonly sentAt: Instant;
};

/** Returns undefined when the order's first transaction is no charge, or has no gate. */
function messageOf(order: Order, repeated: boolean) {
  const { amount, asRefund, identifiers: own } = order.transaction;
  const { kind, identifiers, answer, amount: asked } = initialOf(order);
  if (own === undefined || identifiers === undefined || !isCharge(kind)) return undefined;
  const { traceNumber, transmittedAt } = own;
  const { approvalCode, networkId, approvedAmount = asked } = answer ?? {};
  const taken = captureOf(order);
  const capture = taken?.identifiers && { ...taken.identifiers, amount: taken.amount };
  const original = { kind, identifiers, approvalCode, networkId, amount: approvedAmount, capture };
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
