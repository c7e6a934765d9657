/**
 * The `pay_out` effect: money for a card, which its sender cannot take back. It is sent once, and
 * another gate gets the payout only while nothing was sent. Doubt is settled by an inquiry, or else
 * by a repeat while the host recognises it, or else by an operator.
 */
import type { EffectHandler, EventOf, OrderEvent } from "../orders/events.ts";
import { keptTries, makeKept } from "../orders/messages.ts";
import type { Order } from "../orders/order.ts";
import { hours, later } from "../values/time.ts";
import {
  type Acquirer,
  type AcquirerDependencies,
  type AuthorizationRequest,
  acquirerOf,
  authorizationRequestOf,
  cardLost,
  describeFound,
  isReady,
  isTooLate,
  notSent,
  type Refusal,
  waitForLink,
} from "./acquirer.ts";
import { findOtherGate } from "./authorize.ts";

export function makePayOut(dependencies: AcquirerDependencies): EffectHandler {
  const { findCard, receiptIdOf, getEndpoint, clock, answerTimeoutMs } = dependencies;
  return async (order, { startedBefore }) => {
    if (order.transaction.stage === "repeating") return settle(order);
    // A node that died may have sent it, so it is not sent here.
    return startedBefore ? { kind: "outcome_unknown", cause: "node_lost" } : send(order);
  };

  async function send(order: Order): Promise<OrderEvent> {
    const card = await findCard(order);
    const request = card && authorizationRequestOf(order, card);
    if (request === undefined || card?.isCondemned === true) return cardLost;
    const acquirer = acquirerOf(order, dependencies);
    const other = () => findOtherGate(order, request, dependencies);
    const canGoOn = () => isReady(acquirer) || other() !== undefined;
    if (!canGoOn()) await waitForLink(order, dependencies, canGoOn);
    if (isTooLate(order, dependencies)) return notSent;
    if (acquirer === undefined || termsOf(order) === undefined) return reroute(order, request);
    const kept = makeKept();
    const outcome = await acquirer.authorize({ ...request, keep: kept.keep });
    switch (outcome.kind) {
      case "approved":
        return { kind: "paid_out", answer: outcome.answer, receiptId: receiptIdOf(order) };
      case "not_sent":
        return reroute(order, request);
      case "refused": {
        const { answer, refusal } = outcome;
        return provesNothing(refusal)
          ? kept.with(unknown(`answered ${answer.responseCode}`))
          : { kind: "refused", answer, reason: refusal.reason };
      }
      default:
        // A part was not asked for: how much was paid is as unknown as without an answer.
        return kept.with(unknown(outcome.kind === "unknown" ? outcome.cause : outcome.kind));
    }
  }

  function reroute(order: Order, request: AuthorizationRequest): OrderEvent {
    const gate = findOtherGate(order, request, dependencies);
    return gate === undefined ? notSent : { kind: "rerouted", gate, cause: "nothing was sent" };
  }

  async function settle(order: Order): Promise<OrderEvent> {
    const acquirer = acquirerOf(order, dependencies);
    if (!isReady(acquirer)) return unsettled("gate_unavailable");
    const card = await findCard(order);
    const request = card && authorizationRequestOf(order, card);
    if (request === undefined) return unsettled("card_not_held");
    if (isTooLate(order, dependencies)) return unsettled("too_late");
    const { inquire } = acquirer;
    if (inquire === undefined && !isRecognised(order)) return unsettled("not_repeatable");
    const kept = makeKept();
    const keep = order.transaction.tries < keptTries ? { keep: kept.keep } : {};
    const asked = { ...request, ...keep };
    return kept.with(
      inquire === undefined
        ? await repeat(order, acquirer, asked)
        : await ask(order, inquire, asked),
    );
  }

  /** The host must deny the payout again after a timeout: the message may still be on its way. */
  async function ask(
    order: Order,
    inquire: NonNullable<Acquirer["inquire"]>,
    request: AuthorizationRequest,
  ): Promise<OrderEvent> {
    const askedAt = clock.earliest();
    const found = await inquire(request);
    if (found.kind === "approved") {
      return { kind: "paid_out", answer: found.answer, receiptId: receiptIdOf(order) };
    }
    if (found.kind === "approved_in_part") return unsettled(`inquiry: ${found.kind}`);
    if (found.kind !== "not_found") return unsettled(`inquiry: ${describeFound(found)}`);
    const { notFoundAt, unansweredAt = request.identifiers.transmittedAt } =
      order.transaction.reversal ?? {};
    const isProved =
      notFoundAt !== undefined && askedAt >= Math.max(notFoundAt, unansweredAt) + answerTimeoutMs;
    return isProved ? { kind: "proved_unpaid" } : { kind: "original_not_found", code: found.kind };
  }

  /** The host answers a repeat of what it has paid with an approval, and pays nothing. */
  async function repeat(
    order: Order,
    acquirer: Acquirer,
    request: AuthorizationRequest,
  ): Promise<OrderEvent> {
    const outcome = await acquirer.authorize({ ...request, repeated: true });
    switch (outcome.kind) {
      case "approved":
        return { kind: "paid_out", answer: outcome.answer, receiptId: receiptIdOf(order) };
      case "not_sent":
        return unsettled("gate_unavailable");
      case "refused": {
        const { answer, refusal } = outcome;
        return provesNothing(refusal)
          ? unsettled(`answered ${answer.responseCode}`)
          : { kind: "repeat_refused", code: answer.responseCode };
      }
      default:
        return unsettled(outcome.kind === "unknown" ? outcome.cause : outcome.kind);
    }
  }

  function termsOf({ endpointId, transaction }: Order) {
    const { gates } = getEndpoint(endpointId);
    return gates.find(({ id }) => id === transaction.identifiers?.gate.id)?.payouts;
  }

  /** Whether the host still knows the message. Once it has forgotten it, it would pay again. */
  function isRecognised(order: Order): boolean {
    const { transmittedAt } = order.transaction.identifiers ?? {};
    const recognisedHours = termsOf(order)?.repeatHours;
    if (recognisedHours === undefined || transmittedAt === undefined) return false;
    return clock.now() + answerTimeoutMs < later(transmittedAt, hours(recognisedHours));
  }
}

/**
 * A host in trouble may have passed the payout on before it refused it. Of a charge such a refusal
 * is final, because a late approval is reversed.
 */
function provesNothing({ hint }: Refusal): boolean {
  return hint === "may_yet_be_done" || hint === "host_fault";
}

function unknown(cause: string): EventOf<"outcome_unknown"> {
  return { kind: "outcome_unknown", cause };
}

function unsettled(cause: string): EventOf<"repeat_unanswered"> {
  return { kind: "repeat_unanswered", cause };
}
