/**
 * The `authorize` and `inquire` effects: request the money from the order's acquirer, or ask for
 * the outcome of an unanswered charge. Another gate may only get the order until a message has been
 * sent.
 */
import {
  type CardData,
  type EffectHandler,
  isBeforeNextAttempt,
  type OrderEvent,
} from "../orders/events.ts";
import type { Endpoint } from "../orders/merchant.ts";
import { makeKept } from "../orders/messages.ts";
import type { Answer, GateFacts, Order } from "../orders/order.ts";
import { attemptsBefore } from "../orders/prior-attempts.ts";
import { chooseGate, reasonWithoutGate } from "../orders/route.ts";
import { findRoute } from "../orders/routing-rules.ts";
import { nextAmount } from "../orders/transactions.ts";
import type { GateId } from "../values/ids.ts";
import {
  type Acquirer,
  type AcquirerDependencies,
  type Authorization,
  type AuthorizationRequest,
  acquirerOf,
  authorizationRequestOf,
  cardLost,
  describeFound,
  isReady,
  isTooLate,
  leastOf,
  notSent,
  waitForLink,
} from "./acquirer.ts";

export function makeAuthorize(dependencies: AcquirerDependencies): EffectHandler {
  return async (order, context) => {
    const event = await authorize(order, context);
    // The CVV is destroyed before the commit, so that it never outlives the authorisation.
    if (!isBeforeNextAttempt(event)) await dependencies.destroyPendingCard(order);
    return event;
  };

  async function authorize(
    order: Order,
    { startedBefore, cardData }: Parameters<EffectHandler>[1],
  ): Promise<OrderEvent> {
    const acquirer = acquirerOf(order, dependencies);
    // A node that died may have sent the request, so it is never sent again.
    if (startedBefore) return inDoubt(acquirer, "node_lost");

    const card = cardData ?? (await findCardToCharge(order));
    if (card === undefined) return cardLost;
    const request = authorizationRequestOf(order, card, card);
    if (request === undefined) return notSent;
    if (hasNoPlace(order, request, dependencies)) return noPlace;
    const moved = routeByOutcome(order, request, dependencies);
    if (moved !== undefined) return moved;
    const hasPlace = acquirer?.hasPlaceFor(request) === true;
    const other = () => findOtherGate(order, request, dependencies);
    const canGoOn = () => (hasPlace && isReady(acquirer)) || other() !== undefined;
    if (!canGoOn()) await waitForLink(order, dependencies, canGoOn);
    if (isTooLate(order, dependencies)) return notSent;
    if (acquirer === undefined) return reroute(order, request, "no such gate");
    if (!hasPlace) return reroute(order, request, "no place for the authentication value");
    const kept = makeKept();
    const end = dependencies.health?.begin(request.identifiers.gate.id);
    const outcome = await acquirer.authorize({ ...request, keep: kept.keep });
    end?.(outcome);
    switch (outcome.kind) {
      case "not_sent":
        return reroute(order, request, "nothing was sent");
      case "unknown":
        // Messages are stored only for this outcome. After any other, they follow from the order.
        return kept.with(inDoubt(acquirer, outcome.cause));
      case "refused":
        return refused(order, outcome);
      default:
        return approvalEvent(order, outcome, dependencies);
    }
  }

  /** No CVV is needed for a referenced card, or for one whose CVV the issuer has checked once. */
  async function findCardToCharge(order: Order): Promise<CardData | undefined> {
    const { transaction, purchase } = order;
    const pending = transaction.threeds && (await dependencies.findPendingCard(order));
    if (pending !== undefined) return pending;
    const needsNoCvv = purchase.credential !== undefined || transaction.demanded !== undefined;
    const stored = needsNoCvv ? await dependencies.findCard(order) : undefined;
    return stored && stored.isCondemned !== true ? { ...stored, cvv: undefined } : undefined;
  }

  function reroute(order: Order, request: AuthorizationRequest, cause: string): OrderEvent {
    const gate = findOtherGate(order, request, dependencies);
    return gate === undefined ? notSent : { kind: "rerouted", gate, cause };
  }

  function refused(order: Order, { answer, refusal }: Refused): OrderEvent {
    const { reason, hint } = refusal;
    if (hint === "authenticate" && mayChallenge(order, dependencies)) {
      return { kind: "authentication_demanded", answer, reason };
    }
    const next = refusal.isHard ? undefined : nextAmount(order, leastOf(order, dependencies));
    if (hint === "may_yet_be_done") {
      const kind = next === undefined ? "refused_in_doubt" : "amount_in_doubt";
      return { kind, answer, reason };
    }
    return next === undefined
      ? { kind: "refused", answer, reason }
      : { kind: "amount_refused", answer, reason, next };
  }
}

/**
 * Only an approval settles the doubt. After any other answer the charge may still be on its way to
 * the host, so the order goes on to a reversal.
 */
export function makeInquire(dependencies: AcquirerDependencies): EffectHandler {
  return async (order, { cardData }) => {
    const { inquire } = acquirerOf(order, dependencies) ?? {};
    const card = cardData ?? (await dependencies.findCard(order));
    const request = card && authorizationRequestOf(order, card);
    if (inquire === undefined || request === undefined) return notFound("cannot be asked");

    const kept = makeKept();
    const found = await inquire({ ...request, keep: kept.keep });
    if (found.kind === "approved" || found.kind === "approved_in_part") {
      return kept.with(approvalEvent(order, found, dependencies));
    }
    return kept.with(notFound(describeFound(found)));
  };
}

/** No gate of the endpoint has a place for the authentication value, so nothing was sent. */
const noPlace: OrderEvent = {
  kind: "gate_unavailable",
  reason: { code: "value_not_supported", detail: "" },
};

type Refused = Extract<Authorization, { readonly kind: "refused" }>;
type Approved = { readonly kind: "approved" | "approved_in_part"; readonly answer: Answer };

function approvalEvent(
  order: Order,
  { kind, answer }: Approved,
  { receiptIdOf, getEndpoint, judgeApproval }: AcquirerDependencies,
): OrderEvent {
  if (kind === "approved" || acceptsPartialApproval(order, getEndpoint(order.endpointId))) {
    const { reason, findings } = judgeApproval(order, answer) ?? {};
    if (reason && findings) return { kind: "approval_refused", answer, reason, findings };
    const found = findings && { findings };
    return { kind: "authorized", answer, receiptId: receiptIdOf(order), ...found };
  }
  return {
    kind: "approved_in_part",
    answer,
    reason: { code: "partial_approval_refused", detail: "[10]" },
  };
}

/** An account verification requests no money, so it cannot be approved in part. */
function acceptsPartialApproval({ transaction }: Order, { settings }: Endpoint): boolean {
  return transaction.kind === "account-verification" || settings.acceptsPartialApprovals === true;
}

/** Whether the gateway may challenge the cardholder, which it does only once. */
function mayChallenge(
  { endpointId, purchase, card, transaction }: Order,
  { getEndpoint }: AcquirerDependencies,
): boolean {
  const { demanded, threeds, forces3ds } = transaction;
  return (
    demanded === undefined &&
    // A cardholder who has already passed a challenge would only pass another one.
    threeds?.challenge === undefined &&
    threeds?.payerRequest === undefined &&
    card.enrolment !== undefined &&
    purchase.credential?.initiator !== "MERCHANT" &&
    purchase.isUnattended !== true &&
    purchase.channel !== "MOTO" &&
    // A wallet's cryptogram is the proof. No card range of 3-D Secure contains device numbers.
    purchase.wallet?.isDevice !== true &&
    (forces3ds === true || getEndpoint(endpointId).settings.threeDSecure !== "off")
  );
}

function hasNoPlace(
  { endpointId }: Order,
  request: AuthorizationRequest,
  { getEndpoint, findAcquirer }: AcquirerDependencies,
): boolean {
  const { gates } = getEndpoint(endpointId);
  return gates.every(({ id }) => findAcquirer(id)?.hasPlaceFor(request) === false);
}

/** Returns another ready gate, unless there were as many attempts as gates and amounts. */
export function findOtherGate(
  order: Order,
  request: AuthorizationRequest,
  { getEndpoint, findAcquirer, health }: AcquirerDependencies,
): GateFacts | undefined {
  const { identifiers } = order.transaction;
  const endpoint = getEndpoint(order.endpointId);
  const { gates } = endpoint;
  const amounts = order.purchase.otherAmounts?.length ?? 0;
  if (identifiers === undefined) return undefined;
  const attempts = identifiers.attempt - attemptsBefore(order);
  if (attempts >= gates.length + amounts) return undefined;
  const isUp = (gate: GateId) => isReady(findAcquirer(gate));
  const unable = gates.filter(({ id }) => findAcquirer(id)?.hasPlaceFor(request) === false);
  const passedOver = new Set([identifiers.gate.id, ...unable.map(({ id }) => id)]);
  const shares = health?.shares();
  const chosen = chooseGate(order, endpoint, { isReady: isUp, passedOver, shares });
  return chosen !== undefined && isUp(chosen.id) ? chosen : undefined;
}

/**
 * A routing rule about the outcome of 3-D Secure decides once the outcome is known, before anything
 * was sent. A proof goes only to gates that share the merchant's identity of the authentication.
 */
function routeByOutcome(
  order: Order,
  request: AuthorizationRequest,
  { getEndpoint, findAcquirer, health }: AcquirerDependencies,
): OrderEvent | undefined {
  const { identifiers } = order.transaction;
  const endpoint = getEndpoint(order.endpointId);
  const isFirst = identifiers?.attempt === attemptsBefore(order) + 1;
  if (!isFirst || findRoute(endpoint, order)?.knowsOutcome !== true) return undefined;
  const present = endpoint.gates.find(({ id }) => id === identifiers.gate.id);
  const others = endpoint.gates.filter((gate) => {
    const isShared =
      gate.merchantCode === present?.merchantCode && gate.acquirerId === present?.acquirerId;
    const isProved = request.authentication?.value !== undefined && !isShared;
    return isProved || findAcquirer(gate.id)?.hasPlaceFor(request) === false;
  });
  const chosen = chooseGate(order, endpoint, {
    isReady: (gate) => isReady(findAcquirer(gate)),
    passedOver: new Set(others.map(({ id }) => id)),
    shares: health?.shares(),
  });
  if (chosen?.id === identifiers.gate.id) return undefined;
  if (chosen !== undefined) {
    return { kind: "rerouted", gate: chosen, cause: "the outcome of 3-D Secure" };
  }
  // Without a gate that may have the proof, the order stays at its own.
  return findRoute(endpoint, order)?.to === "refuse"
    ? { kind: "gate_unavailable", reason: reasonWithoutGate(order, endpoint) }
    : undefined;
}

function inDoubt(acquirer: Acquirer | undefined, cause: string): OrderEvent {
  const canInquire = acquirer?.inquire !== undefined;
  return { kind: canInquire ? "outcome_in_question" : "outcome_unknown", cause };
}

function notFound(cause: string): OrderEvent {
  return { kind: "charge_not_found", cause };
}
