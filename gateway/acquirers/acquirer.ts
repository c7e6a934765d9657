/**
 * The requests that the gateway makes of an acquirer. Implementations never throw and never retry:
 * a lost answer is the outcome `unknown`, because the money may have moved. The order's transition
 * table decides which message makes the outcome certain.
 */
import type { CardData, OrderEvent } from "../orders/events.ts";
import type { Endpoint } from "../orders/merchant.ts";
import type { Keep } from "../orders/messages.ts";
import type {
  AcquirerIdentifiers,
  Answer,
  ChargeKind,
  Credential,
  Customer,
  Finding,
  Order,
  Reason,
  ScaExemption,
} from "../orders/order.ts";
import type { GateShares } from "../orders/route.ts";
import { isCharge } from "../orders/transactions.ts";
import type { Card } from "../values/card-number.ts";
import type { EndpointId, GateId, ReceiptId } from "../values/ids.ts";
import type { Money } from "../values/money.ts";
import type { Secret } from "../values/secret.ts";
import { asInstant, type Clock, type Instant } from "../values/time.ts";

export type Acquirer = {
  /** Asked before a message is sent, never after. A request can be sent if a link is signed on. */
  isReady(): boolean;
  /** Returns whether the host's messages have a place for the request's authentication value. */
  hasPlaceFor(request: AuthorizationRequest): boolean;
  /** Charges the card, holds an amount, verifies the card, or pays out to it, as the kind says. */
  authorize(request: AuthorizationRequest): Promise<Authorization>;
  /** Asks for the outcome of a charge; undefined if the host has no message for that. */
  readonly inquire: ((request: AuthorizationRequest) => Promise<Found>) | undefined;
  /** Demands that a charge of unknown outcome must not stand. It may be repeated. */
  reverse(request: AuthorizationRequest, advice: ReversalRequest): Promise<Reversal>;
  /** Takes the money of an approved preauthorisation. A repeat must be marked as one. */
  capture(request: FollowUpMessage): Promise<FollowUpAnswer>;
  /** Refunds money, or cancels a hold. A repeat must be marked as one. */
  refund(request: FollowUpMessage): Promise<FollowUpAnswer>;
  /** Asks for the outcome of a capture or refund; undefined if the host has no message for that. */
  readonly inquireAfter: ((message: SentFollowUp) => Promise<Found>) | undefined;
};

/** One attempt at a charge, with the values for its message and for messages about it. */
export type AuthorizationRequest = {
  readonly kind: ChargeKind;
  readonly identifiers: AcquirerIdentifiers;
  readonly amount: Money;
  readonly card: ChargedCard;
  readonly cvv: Secret<string> | undefined;
  /** The indicator of 3-D Secure, and the authentication value (CAVV, AAV) in base64. */
  readonly authentication: Readonly<Record<"eci" | "value", string | undefined>> | undefined;
  /** Present for a payment with a stored card; undefined if the cardholder typed the number. */
  readonly credential: Credential | undefined;
  /** Whose address the issuer compares. Only charges have it. */
  readonly payer?: Pick<Customer, "address" | "zipCode"> | undefined;
  readonly isMoto?: boolean | undefined;
  readonly exemption?: ScaExemption | undefined;
  /** An earlier payout message went unanswered: this one is marked as a repeat. */
  readonly repeated?: boolean;
  readonly keep?: Keep;
};

/** If `isDevice` is true, the number is a wallet's device number. */
type ChargedCard = Card & { readonly isDevice?: true };

export type ReversalRequest = {
  readonly traceNumber: string;
  /** An earlier reversal got no answer: this one is marked as a repeat. */
  readonly repeated: boolean;
  readonly approvalCode: string | undefined;
};

/** A capture, a refund, a cancel or a void of an approved charge. */
export type FollowUpMessage = {
  readonly original: {
    readonly kind: ChargeKind;
    readonly identifiers: AcquirerIdentifiers;
    readonly approvalCode: string | undefined;
    readonly networkId: string | undefined;
    readonly amount: Money;
    /** The capture that took the money, if the charge only held it. */
    readonly capture: Pick<FollowUpMessage, "traceNumber" | "transmittedAt" | "amount"> | undefined;
  };
  readonly card: ChargedCard;
  readonly amount: Money;
  /** The amount that the cardholder still pays afterwards. */
  readonly remaining: Money;
  readonly traceNumber: string;
  /** A refund is a payment with a reference of its own. A reversal has that of its charge. */
  readonly reference?: string;
  readonly transmittedAt: Instant;
  /** An earlier message got no answer: this one is marked as a repeat. */
  readonly repeated: boolean;
  readonly isMoto?: boolean | undefined;
  readonly keep?: Keep;
};

export type SentFollowUp = FollowUpMessage & { readonly effect: "capture" | "refund" };

type Approved = { readonly kind: "approved"; readonly answer: Answer };
type ApprovedInPart = { readonly kind: "approved_in_part"; readonly answer: Answer };
type Refused = { readonly kind: "refused"; readonly answer: Answer; readonly refusal: Refusal };
/** The message has not left this gateway. */
export type NotSent = { readonly kind: "not_sent" };
export type Unknown = {
  readonly kind: "unknown";
  readonly cause: "timeout" | "link_lost" | "unreadable_answer";
};

export type Authorization = Approved | ApprovedInPart | Refused | NotSent | Unknown;
/** With `other_answer`, the host neither confirms the charge nor says that it does not know it. */
export type Found =
  | Approved
  | ApprovedInPart
  | { readonly kind: "not_found" }
  | { readonly kind: "other_answer"; readonly code: string }
  | NotSent
  | Unknown;
export type FollowUpAnswer = Approved | Refused | NotSent | Unknown;
/** Only `reversed` proves anything: a refused reversal leaves the charge as it is. */
export type Reversal =
  | { readonly kind: "reversed" }
  | { readonly kind: "not_found"; readonly code: string }
  /** `mayHelp` means that the same advice may succeed later. */
  | { readonly kind: "refused"; readonly code: string; readonly mayHelp: boolean }
  | { readonly kind: "unknown"; readonly cause: string };

/** The meaning of a refusal, by the host's own table of response codes. */
export type Refusal = {
  readonly reason: Reason;
  /** The card must not be charged again with any amount. */
  readonly isHard: boolean;
  readonly hint: RefusalHint | undefined;
};

/**
 * `authenticate`: the issuer wants the cardholder authenticated. `may_yet_be_done`: the request is
 * in progress, late, or was seen before. `host_fault`: the same message may succeed later.
 */
export type RefusalHint = "authenticate" | "may_yet_be_done" | "host_fault";

export type AcquirerDependencies = {
  readonly findAcquirer: (gate: GateId) => Acquirer | undefined;
  /** Returns undefined if the card is destroyed. A condemned card begins no new order. */
  readonly findCard: (
    order: Order,
  ) => Promise<(ChargedCard & { readonly isCondemned?: boolean }) | undefined>;
  /** Returns the card with its CVV, which is stored while the cardholder is being authenticated. */
  readonly findPendingCard: (order: Order) => Promise<CardData | undefined>;
  readonly destroyPendingCard: (order: Order) => Promise<void>;
  readonly getEndpoint: (id: EndpointId) => Endpoint;
  readonly receiptIdOf: (order: Order) => ReceiptId;
  /** Returns the rules that fire for the issuer's answer, and why one of them forbids it. */
  readonly judgeApproval: (
    order: Order,
    answer: Answer,
  ) => { readonly findings: readonly Finding[]; readonly reason?: Reason } | undefined;
  /** Only `earliest()` proves that a time has passed: the true time is not before it. */
  readonly clock: Pick<Clock, "now"> & { readonly earliest: () => Instant };
  readonly answerTimeoutMs: number;
  readonly processingDeadlineMs: number;
  /** Resolves with false if no link of any gate has come up by then. */
  readonly nextReady: (until: Instant) => Promise<boolean>;
  /** How long an order waits for a link while nothing of it has been sent. */
  readonly linkWaitMs: number;
  readonly health?: {
    /** Counts a charge that is sent now. The returned function takes its outcome. */
    begin(gate: GateId): (outcome: Authorization) => void;
    shares(): GateShares | undefined;
  };
};

export function describeFound(found: Exclude<Found, { readonly answer: Answer }>): string {
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

/** Returns the least amount that the order's gate accepts, in minor units. */
export function leastOf(
  { endpointId, transaction }: Order,
  { getEndpoint }: Pick<AcquirerDependencies, "getEndpoint">,
): bigint | undefined {
  const { gates } = getEndpoint(endpointId);
  return gates.find(({ id }) => id === transaction.identifiers?.gate.id)?.amountMin;
}

/** Returns undefined without a charge or a gate. The wallet's cryptogram is revealed here. */
export function authorizationRequestOf(
  { transaction, purchase }: Order,
  card: ChargedCard,
  { cvv, cryptogram }: Partial<Pick<CardData, "cvv" | "cryptogram">> = {},
): AuthorizationRequest | undefined {
  const { kind, identifiers, amount, authentication, demanded } = transaction;
  if (identifiers === undefined || !isCharge(kind)) return undefined;
  // The result of 3-D Secure replaces the wallet's cryptogram.
  const isAuthenticated = authentication?.status !== undefined;
  const proof = authentication && {
    eci: authentication.eci,
    value: isAuthenticated ? authentication.value : cryptogram?.reveal(),
  };
  const { credential, wallet } = purchase;
  const isDevice = wallet?.isDevice === true && !isAuthenticated;
  const charged = isDevice ? { ...card, isDevice } : card;
  const { customer: payer, channel, scaExemption } = purchase;
  // An issuer that has demanded authentication has refused the exemption.
  const isExempt = demanded === undefined && authentication?.status !== "AUTHENTICATED";
  const exemption = isExempt ? scaExemption : undefined;
  const isMoto = channel === "MOTO";
  const own = { kind, identifiers, amount, credential, payer, isMoto, exemption };
  return { ...own, card: charged, cvv, authentication: proof };
}

/** Whether another node may claim the order, and send too, before the host can answer. */
export function isTooLate(
  { owed }: Order,
  { clock, answerTimeoutMs }: Pick<AcquirerDependencies, "clock" | "answerTimeoutMs">,
): boolean {
  return clock.now() + answerTimeoutMs >= (owed?.claimableAt ?? 0);
}

/** Waits within the order's lease. Waiting orders count as in flight, so that they are limited. */
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

/** No message was sent, and none will be. */
export const notSent: OrderEvent = {
  kind: "gate_unavailable",
  reason: { code: "gate_unavailable", detail: "" },
};

/** The card is destroyed, or was lost in a crash of the database. Nothing was or can be sent. */
export const cardLost: OrderEvent = {
  kind: "gate_unavailable",
  reason: { code: "card_not_held", detail: "" },
};
