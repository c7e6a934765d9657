/**
 * The `authorize` and `inquire` effects: the handler asks the order's acquirer for the money, or
 * what became of a charge that went unanswered, and reports the answer as an event. Until a message
 * has been sent another gate may get the order; afterwards none ever does.
 */
import {
  type CardData,
  type EffectHandler,
  isBeforeNextAttempt,
  type OrderEvent,
} from "../orders/events.ts";
import type { Endpoint } from "../orders/merchant.ts";
import type { Answer, ChargeKind, GateFacts, Order, TransactionKind } from "../orders/order.ts";
import { chooseGate } from "../orders/route.ts";
import { traceNumberOf } from "../orders/trace.ts";
import { nextAmount } from "../orders/transactions.ts";
import type { EndpointId, GateId, ReceiptId } from "../values/ids.ts";
import { asInstant, type Clock, type Instant } from "../values/time.ts";
import type {
  Acquirer,
  Authorization,
  AuthorizationRequest,
  ChargedCard,
  Found,
} from "./acquirer.ts";

export type AcquirerDependencies = {
  readonly findAcquirer: (gate: GateId) => Acquirer | undefined;
  /** From the vault; nothing when it is no longer there. */
  readonly findCard: (order: Order) => Promise<ChargedCard | undefined>;
  /** The card with its CVV, stored while the cardholder was being authenticated. */
  readonly findPendingCard: (order: Order) => Promise<CardData | undefined>;
  readonly destroyPendingCard: (order: Order) => Promise<void>;
  readonly getEndpoint: (id: EndpointId) => Endpoint;
  readonly newReceiptId: () => ReceiptId;
  readonly clock: Pick<Clock, "now">;
  readonly answerTimeoutMs: number;
  readonly processingDeadlineMs: number;
  /** False when no link of any gate has come up by then. */
  readonly nextReady: (until: Instant) => Promise<boolean>;
  /** How long an order waits for a link while nothing of it has been sent. */
  readonly linkWaitMs: number;
};

export function makeAuthorize(dependencies: AcquirerDependencies): EffectHandler {
  return async (order, context) => {
    const event = await authorize(order, context);
    // Before the event is committed: if this node dies now, the CVV still does not outlive the
    // authorisation.
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
    const hasPlace = acquirer?.hasPlaceFor(request) === true;
    const other = () => findOtherGate(order, request, dependencies);
    const canGoOn = () => (hasPlace && isReady(acquirer)) || other() !== undefined;
    if (!canGoOn()) await waitForLink(order, dependencies, canGoOn);
    if (isTooLate(order, dependencies)) return notSent;
    if (acquirer === undefined) return reroute(order, request, "no such gate");
    if (!hasPlace) return reroute(order, request, "no place for the authentication value");
    const outcome = await acquirer.authorize(request);
    switch (outcome.kind) {
      case "not_sent":
        return reroute(order, request, "nothing was sent");
      case "unknown":
        return inDoubt(acquirer, outcome.cause);
      case "refused":
        return refused(order, outcome);
      default:
        return approvalEvent(order, outcome, dependencies);
    }
  }

  /**
   * A card of which the merchant keeps a reference may be charged without its CVV, and so may one
   * whose CVV the issuer has checked once already.
   */
  async function findCardToCharge(order: Order): Promise<CardData | undefined> {
    const { transaction, purchase } = order;
    const pending = transaction.threeds && (await dependencies.findPendingCard(order));
    if (pending !== undefined) return pending;
    const needsNoCvv = purchase.credential !== undefined || transaction.demanded !== undefined;
    const stored = needsNoCvv ? await dependencies.findCard(order) : undefined;
    return stored && { ...stored, cvv: undefined };
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
    const next = refusal.isHard ? undefined : nextAmount(order);
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

    const traceNumber = traceNumberOf(order.id, 1, request.identifiers.attempt);
    const found = await inquire(request, traceNumber);
    if (found.kind === "approved" || found.kind === "approved_in_part") {
      return approvalEvent(order, found, dependencies);
    }
    return notFound(describeFound(found));
  };
}

/** What an inquiry says that found no approval. */
export function describeFound(found: Exclude<Found, Approved>): string {
  if (found.kind === "unknown") return found.cause;
  return found.kind === "other_answer" ? `answered ${found.code}` : found.kind;
}

export function acquirerOf(
  { transaction }: Order,
  { findAcquirer }: Pick<AcquirerDependencies, "findAcquirer">,
): Acquirer | undefined {
  const gate = transaction.identifiers?.gate.id;
  return gate === undefined ? undefined : findAcquirer(gate);
}

/**
 * An order's charge as the acquirer gets it; nothing when the transaction is no charge, or has no
 * gate yet. The wallet's cryptogram leaves its secret here.
 */
export function authorizationRequestOf(
  { transaction, purchase }: Order,
  card: ChargedCard,
  { cvv, cryptogram }: Partial<Pick<CardData, "cvv" | "cryptogram">> = {},
): AuthorizationRequest | undefined {
  const { kind, identifiers, amount, authentication } = transaction;
  if (identifiers === undefined || !isCharge(kind)) return undefined;
  const proof = authentication && {
    eci: authentication.eci,
    value: cryptogram?.reveal() ?? authentication.value,
  };
  const { credential, wallet } = purchase;
  const charged = wallet?.isDevice === true ? { ...card, isDevice: true as const } : card;
  return { kind, identifiers, amount, card: charged, cvv, authentication: proof, credential };
}

export function isCharge(kind: TransactionKind): kind is ChargeKind {
  return kind === "sale" || kind === "preauth" || kind === "account-verification";
}

/**
 * Another node may claim the order before the bank could answer. A message that is not sent now
 * cannot cross one that the claiming node sends.
 */
export function isTooLate(
  { owed }: Order,
  { clock, answerTimeoutMs }: Pick<AcquirerDependencies, "clock" | "answerTimeoutMs">,
): boolean {
  return clock.now() + answerTimeoutMs >= (owed?.claimableAt ?? 0);
}

/**
 * Waits until there is a link to go on with, and no longer than the bound or than the order's
 * lease allows. Orders that wait count as in flight, so there are never more of them than these.
 */
export async function waitForLink(
  { owed }: Order,
  { clock, answerTimeoutMs, linkWaitMs, nextReady }: WaitDependencies,
  isThere: () => boolean,
): Promise<void> {
  const latest = (owed?.claimableAt ?? 0) - answerTimeoutMs - 1;
  const until = asInstant(Math.min(clock.now() + linkWaitMs, latest));
  while (!isThere() && clock.now() < until && (await nextReady(until)));
}

type WaitDependencies = Pick<
  AcquirerDependencies,
  "clock" | "answerTimeoutMs" | "linkWaitMs" | "nextReady"
>;

export function isReady(acquirer: Acquirer | undefined): acquirer is Acquirer {
  return acquirer?.isReady() === true;
}

/** Nothing was sent, and nothing will be. */
export const notSent: OrderEvent = {
  kind: "gate_unavailable",
  reason: { code: "gate_unavailable", detail: "" },
};

/** No gate of the endpoint has a place for the authentication value: nothing was sent. */
const noPlace: OrderEvent = {
  kind: "gate_unavailable",
  reason: { code: "value_not_supported", detail: "" },
};

/** The card is destroyed, or lost in a crash of the database: nothing was sent, nothing can be. */
export const cardLost: OrderEvent = {
  kind: "gate_unavailable",
  reason: { code: "card_not_held", detail: "" },
};

type Refused = Extract<Authorization, { readonly kind: "refused" }>;
type Approved = { readonly kind: "approved" | "approved_in_part"; readonly answer: Answer };

function approvalEvent(
  order: Order,
  { kind, answer }: Approved,
  { newReceiptId, getEndpoint }: AcquirerDependencies,
): OrderEvent {
  if (kind === "approved" || acceptsPartialApproval(order, getEndpoint(order.endpointId))) {
    return { kind: "authorized", answer, receiptId: newReceiptId() };
  }
  return {
    kind: "approved_in_part",
    answer,
    reason: { code: "partial_approval_refused", detail: "[10]" },
  };
}

/** An account verification asks for no money, so none can be missing. */
function acceptsPartialApproval({ transaction }: Order, { settings }: Endpoint): boolean {
  return transaction.kind === "account-verification" || settings.acceptsPartialApprovals === true;
}

/** Once, and only where there is a cardholder whose issuer can challenge them. */
function mayChallenge(
  { endpointId, purchase, card, transaction }: Order,
  { getEndpoint }: AcquirerDependencies,
): boolean {
  const { demanded, threeds } = transaction;
  return (
    demanded === undefined &&
    // A cardholder who has passed a challenge would only pass another.
    threeds?.challenge === undefined &&
    threeds?.payerRequest === undefined &&
    card.enrolment !== undefined &&
    purchase.credential?.initiator !== "MERCHANT" &&
    // A wallet's cryptogram is the proof; no range of 3-D Secure holds a device's number.
    purchase.wallet?.isDevice !== true &&
    getEndpoint(endpointId).settings.threeDSecure !== "off"
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

/**
 * A ready gate that has a place for the request, as long as there were no more attempts than gates
 * and amounts.
 */
function findOtherGate(
  order: Order,
  request: AuthorizationRequest,
  { getEndpoint, findAcquirer }: AcquirerDependencies,
): GateFacts | undefined {
  const { identifiers } = order.transaction;
  const { gates } = getEndpoint(order.endpointId);
  const amounts = order.purchase.otherAmounts?.length ?? 0;
  if (identifiers === undefined || identifiers.attempt >= gates.length + amounts) return undefined;
  const isUp = (gate: GateId) => isReady(findAcquirer(gate));
  const unable = gates.filter(({ id }) => findAcquirer(id)?.hasPlaceFor(request) === false);
  const passedOver = new Set([identifiers.gate.id, ...unable.map(({ id }) => id)]);
  const chosen = chooseGate(order, gates, { isReady: isUp, passedOver });
  return chosen !== undefined && isUp(chosen.id) ? chosen : undefined;
}

function inDoubt(acquirer: Acquirer | undefined, cause: string): OrderEvent {
  const canInquire = acquirer?.inquire !== undefined;
  return { kind: canInquire ? "outcome_in_question" : "outcome_unknown", cause };
}

function notFound(cause: string): OrderEvent {
  return { kind: "charge_not_found", cause };
}
