/**
 * The `reverse` effect: the handler tells the acquirer that a charge must not stand. The advice is
 * repeated until the host says that it is done, however long that takes. That the host does not
 * know the charge counts once it is confirmed: by an inquiry, or by the same answer to a repeat.
 * Either confirms it only after the timeout for answers: until then the charge itself may still be
 * on its way, because a lost link does not empty the host's queue.
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
import type { Order } from "../orders/order.ts";
import { findOwingAttempt, type OwingAttempt, orderOfAttempt } from "../orders/prior-attempts.ts";
import { nextAmount } from "../orders/transactions.ts";
import {
  type Acquirer,
  type AcquirerDependencies,
  type AuthorizationRequest,
  acquirerOf,
  authorizationRequestOf,
  describeFound,
  isTooLate,
  leastOf,
  type ReversalRequest,
} from "./acquirer.ts";

type Dependencies = Pick<
  AcquirerDependencies,
  "findAcquirer" | "findCard" | "getEndpoint" | "clock" | "answerTimeoutMs" | "processingDeadlineMs"
>;

export function makeReverse(dependencies: Dependencies): EffectHandler {
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
    const next = isInTime ? nextAmount(order, leastOf(order, dependencies)) : undefined;
    if (next !== undefined) return { kind: "amount_reversed", next };
    // A reason means that the host has answered the charge: a decline. Settled doubt is an error.
    return { kind: reason === undefined ? "reversed" : "part_reversed" };
  }
}

function keptOf(tries: number) {
  return tries < keptTries ? makeKept() : undefined;
}

type Advice = ReversalRequest & { readonly notFoundAt: number | undefined };

/** Returns undefined when it is proved that the charge does not stand. */
async function sendReversal(
  acquirer: Acquirer,
  request: AuthorizationRequest,
  { notFoundAt, ...advice }: Advice,
  { clock, answerTimeoutMs }: Pick<Dependencies, "clock" | "answerTimeoutMs">,
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
  // Booked between the two answers: the next advice finds it.
  if (found.kind === "approved" || found.kind === "approved_in_part") {
    return { kind: "reversal_refused", code, mayHelp: true };
  }
  return unanswered(`answered ${code}, inquiry: ${describeFound(found)}`);
}

function unanswered(cause: string): EventOf<"reversal_unanswered"> {
  return { kind: "reversal_unanswered", cause };
}

/**
 * The `reverse_prior` effect: the same for a charge of an earlier attempt that was approved late.
 * It is no repeat of a reversal that was sent before the order went on, which may have found none.
 */
export function makeReversePrior(dependencies: Dependencies): EffectHandler {
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
