/**
 * The effects after a charge: `capture` requests money that the acquirer holds, `refund` refunds
 * money or cancels the hold, `reverse` demands that a charge must not stand. A message that may
 * have been sent is sent as a repeat, which the host processes once. A refused repeat proves
 * nothing about the earlier message: an inquiry or an operator settles it.
 */
import assert from "node:assert/strict";
import type { EffectHandler, EventOf, OrderEvent, Unproved } from "../orders/events.ts";
import {
  type Keep,
  keptTries,
  makeKept,
  traceNumberAt,
  traceNumberOf,
} from "../orders/messages.ts";
import type { Answer, Order, Reason, Transaction } from "../orders/order.ts";
import { findOwingAttempt, type OwingAttempt, orderOfAttempt } from "../orders/prior-attempts.ts";
import { captureOf, initialOf, isCharge, nextAmount, totalsOf } from "../orders/transactions.ts";
import { type Money, subtract } from "../values/money.ts";
import type { Instant } from "../values/time.ts";
import {
  type Acquirer,
  type AcquirerDependencies,
  type AuthorizationRequest,
  acquirerOf,
  authorizationRequestOf,
  cardLost,
  describeFound,
  type FollowUpAnswer,
  isReady,
  isTooLate,
  leastOf,
  notSent,
  type ReversalRequest,
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
    // Until this time, the first message or a repeat may still be on its way to the host.
    const { unansweredAt = sent.transmittedAt } = order.transaction.reversal ?? {};
    const isConfirmed = sentAt >= unansweredAt + answerTimeoutMs;
    if (found?.kind !== "not_found" || !isConfirmed) return { kind: "repeat_refused", code };
    const { kind, stage } = order.transaction;
    if (kind !== "void") return { kind: "refused", answer, reason };
    // An order of a node that died must be in doubt before its doubt can end.
    if (stage !== "repeating") return { kind: "repeat_refused", code };
    return { kind: "refused", answer, reason: notVoided };
  }

  function done(answer: Answer): OrderEvent {
    return { kind: effect === "capture" ? "captured" : "returned", answer };
  }
}

const notVoided: Reason = { code: "not_voided", detail: "" };

type Sent = {
  readonly acquirer: Acquirer;
  readonly sent: SentFollowUp;
  readonly sentAt: Instant;
};

/** Returns undefined if the order's first transaction is not a charge or has no gate. */
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
  const isMoto = order.purchase.channel === "MOTO";
  return { original, amount, traceNumber, ...reference, transmittedAt, repeated, isMoto };
}

/** Returns the amount that the cardholder still pays. A cancel releases the whole hold. */
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

type ReverseDependencies = Pick<
  AcquirerDependencies,
  "findAcquirer" | "findCard" | "getEndpoint" | "clock" | "answerTimeoutMs" | "processingDeadlineMs"
>;

/**
 * The `reverse` effect. The advice is repeated until the host confirms it, however long that takes.
 * An answer that the host does not know the charge must be confirmed by an inquiry or by the answer
 * to a repeat, after the timeout for answers: until then the charge itself may still be on its way,
 * because a lost link does not empty the host's queue.
 */
export function makeReverse(dependencies: ReverseDependencies): EffectHandler {
  const { findCard, clock, processingDeadlineMs } = dependencies;
  return async (order, { cardData, startedBefore }) => {
    const { answer, tries, reversal } = order.transaction;
    const acquirer = acquirerOf(order, dependencies);
    if (acquirer?.isReady() !== true) return unanswered("gate_unavailable");
    const card = cardData ?? (await findCard(order));
    const request = card && authorizationRequestOf(order, card);
    if (request === undefined) return unanswered("card_not_held");
    if (isTooLate(order, dependencies)) return unanswered("too_late");

    const traceNumber = traceNumberOf(order, 1, request.identifiers.attempt);
    const advice = {
      traceNumber: answer ? traceNumberAt(answer.processedAt, traceNumber) : traceNumber,
      repeated: tries > 0 || startedBefore,
      approvalCode: answer?.approvalCode,
      notFoundAt: reversal?.notFoundAt,
    };
    const kept = keptOf(tries);
    const sent = { ...request, ...(kept && { keep: kept.keep }) };
    const event = (await sendReversal(acquirer, sent, advice, dependencies)) ?? endOfDoubt(order);
    return kept?.with(event) ?? event;
  };

  function endOfDoubt(order: Order): OrderEvent {
    const { reason, stage } = order.transaction;
    const isInTime = clock.now() <= order.acceptedAt + processingDeadlineMs;
    if (stage !== "reversing") return { kind: "reversed" };
    // A smaller amount would have the same results for address and CVV.
    const isByRule = reason?.code === "address_refused" || reason?.code === "cvv_refused";
    const mayGoOn = isInTime && !isByRule;
    const next = mayGoOn ? nextAmount(order, leastOf(order, dependencies)) : undefined;
    if (next !== undefined) return { kind: "amount_reversed", next };
    // A reason says that the host declined the charge. Without one, settled doubt is an error.
    return { kind: reason === undefined ? "reversed" : "part_reversed" };
  }
}

function keptOf(tries: number) {
  return tries < keptTries ? makeKept() : undefined;
}

type Advice = ReversalRequest & { readonly notFoundAt: number | undefined };

/** Returns undefined if it is proved that the charge does not stand. */
async function sendReversal(
  acquirer: Acquirer,
  request: AuthorizationRequest,
  { notFoundAt, ...advice }: Advice,
  { clock, answerTimeoutMs }: Pick<ReverseDependencies, "clock" | "answerTimeoutMs">,
): Promise<Unproved | undefined> {
  const sentAt = clock.earliest();
  const outcome = await acquirer.reverse(request, advice);
  switch (outcome.kind) {
    case "reversed":
      return undefined;
    case "unknown":
      return unanswered(outcome.cause);
    case "refused":
      return { kind: "reversal_refused", code: outcome.code, mayHelp: outcome.mayHelp };
  }
  const { code } = outcome;
  if (acquirer.inquire === undefined) {
    const isConfirmed = notFoundAt !== undefined && sentAt >= notFoundAt + answerTimeoutMs;
    return isConfirmed ? undefined : { kind: "original_not_found", code };
  }
  const found = await acquirer.inquire(request);
  if (found.kind === "not_found") {
    const isConfirmed = sentAt >= request.identifiers.transmittedAt + answerTimeoutMs;
    return isConfirmed ? undefined : { kind: "original_not_found", code };
  }
  // The charge was booked between the two answers. The next advice finds it.
  if (found.kind === "approved" || found.kind === "approved_in_part") {
    return { kind: "reversal_refused", code, mayHelp: true };
  }
  return unanswered(`answered ${code}, inquiry: ${describeFound(found)}`);
}

function unanswered(cause: string): EventOf<"reversal_unanswered"> {
  return { kind: "reversal_unanswered", cause };
}

/**
 * The `reverse_prior` effect: reverses a charge of an earlier attempt that was approved late. It
 * repeats no earlier reversal, because that one may have found no charge.
 */
export function makeReversePrior(dependencies: ReverseDependencies): EffectHandler {
  return async (order, { startedBefore }) => {
    const prior = findOwingAttempt(order);
    assert.ok(prior !== undefined, "no reversal is owed");
    const { identifiers, owes } = prior;
    const { reference } = identifiers;
    const kept = keptOf(owes.tries);
    const answered = await send(order, prior, { keep: kept?.keep, startedBefore });
    const event: OrderEvent =
      answered === undefined
        ? { kind: "prior_reversed", reference, approvedAt: owes.approvedAt }
        : { kind: "prior_unreversed", reference, answered };
    return kept?.with(event) ?? event;
  };

  async function send(
    order: Order,
    prior: OwingAttempt,
    { keep, startedBefore }: { readonly keep: Keep | undefined; readonly startedBefore: boolean },
  ): Promise<Unproved | undefined> {
    const { identifiers, owes } = prior;
    const acquirer = dependencies.findAcquirer(identifiers.gate.id);
    if (acquirer?.isReady() !== true) return unanswered("gate_unavailable");
    const charged = orderOfAttempt(order, prior);
    const card = await dependencies.findCard(charged);
    const request = card && authorizationRequestOf(charged, card);
    if (request === undefined) return unanswered("card_not_held");
    if (isTooLate(order, dependencies)) return unanswered("too_late");
    const { approvalCode, notFoundAt, approvedAt, tries } = owes;
    const repeated = tries > 0 || startedBefore;
    const traceNumber = traceNumberAt(approvedAt, traceNumberOf(order, 1, identifiers.attempt));
    const advice = { traceNumber, repeated, approvalCode, notFoundAt };
    return sendReversal(acquirer, { ...request, ...(keep && { keep }) }, advice, dependencies);
  }
}
