/**
 * The requests that the gateway makes of an acquirer. Card, link and time are settled before a
 * request is made. Implementations never throw and never retry: a lost answer is the outcome
 * `unknown`, because the money may have moved. The order's transition table decides which message
 * makes the outcome certain.
 */
import type { CardData, OrderEvent } from "../orders/events.ts";
import type { Endpoint } from "../orders/merchant.ts";
import type { Keep } from "../orders/messages.ts";
import type {
  AcquirerIdentifiers,
  Answer,
  ChargeKind,
  Credential,
  Order,
  Reason,
} from "../orders/order.ts";
import { isCharge } from "../orders/transactions.ts";
import type { Card } from "../values/card-number.ts";
import type { EndpointId, GateId, ReceiptId } from "../values/ids.ts";
import type { Money } from "../values/money.ts";
import type { Secret } from "../values/secret.ts";
import { asInstant, type Clock, type Instant } from "../values/time.ts";

export type Acquirer = {
  /**
   * Returns whether a request can be sent, because a link is signed on. The caller asks before it
   * sends, never after.
   */
  isReady(): boolean;
  /** Returns whether the host's messages have a place for the request's authentication value. */
  hasPlaceFor(request: AuthorizationRequest): boolean;
  /**
   * Charges the card, holds an amount, only verifies the card, or pays out to it, depending on the
   * request's kind.
   */
  authorize(request: AuthorizationRequest): Promise<Authorization>;
  /** Asks for the outcome of a charge. It is absent if the host has no message for that. */
  readonly inquire: ((request: AuthorizationRequest) => Promise<Found>) | undefined;
  /** Demands that a charge of unknown outcome must not stand. It may be repeated. */
  reverse(request: AuthorizationRequest, advice: ReversalRequest): Promise<Reversal>;
  /**
   * Takes the money that an approved preauthorisation holds. It may be repeated if it is marked as
   * a repeat.
   */
  capture(request: FollowUpMessage): Promise<FollowUpAnswer>;
  /** Refunds money, or cancels a hold. It may be repeated if it is marked as a repeat. */
  refund(request: FollowUpMessage): Promise<FollowUpAnswer>;
  /**
   * Asks for the outcome of one of these messages. It is absent if the host has no message for
   * that.
   */
  readonly inquireAfter: ((message: SentFollowUp) => Promise<Found>) | undefined;
};

/** One attempt at a charge, with the values for its message and for messages about it. */
export type AuthorizationRequest = {
  readonly kind: ChargeKind;
  readonly identifiers: AcquirerIdentifiers;
  readonly amount: Money;
  readonly card: ChargedCard;
  readonly cvv: Secret<string> | undefined;
  /**
   * The result of 3-D Secure: the indicator, and the authentication value (CAVV, AAV) in base64.
   */
  readonly authentication: Readonly<Record<"eci" | "value", string | undefined>> | undefined;
  /**
   * The description of a payment with a stored card, as the networks require it; undefined if the
   * cardholder typed the number.
   */
  readonly credential: Credential | undefined;
  /** An earlier payout message went unanswered: this one is marked as a repeat. */
  readonly repeated?: boolean;
  readonly keep?: Keep;
};

/** If `isDevice` is true, the number is a wallet's device number. */
type ChargedCard = Card & { readonly isDevice?: true };

export type ReversalRequest = {
  readonly traceNumber: string;
  /** If true, an earlier reversal got no answer, and the message is marked as a repeat. */
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
    /** The approved amount. */
    readonly amount: Money;
    /** The capture that took the money, if the charge only held it. */
    readonly capture: Pick<FollowUpMessage, "traceNumber" | "transmittedAt" | "amount"> | undefined;
  };
  readonly card: ChargedCard;
  readonly amount: Money;
  /** The amount that the cardholder still pays afterwards. */
  readonly remaining: Money;
  readonly traceNumber: string;
  /**
   * The reference of a refund, which is a payment of its own. A reversal has the reference of its
   * charge.
   */
  readonly reference?: string;
  readonly transmittedAt: Instant;
  /** If true, an earlier message got no answer, and this one is marked as a repeat. */
  readonly repeated: boolean;
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
/**
 * `other_answer` means that the host confirms neither that the charge stands nor that it does not
 * know the charge.
 */
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
  /** If true, the card must not be charged again with any amount. */
  readonly isHard: boolean;
  readonly hint: RefusalHint | undefined;
};

/**
 * Additional meanings of a refusal. `authenticate`: the issuer wants the cardholder authenticated.
 * `may_yet_be_done`: the request is in progress, late, or was seen before. `host_fault`: the fault
 * is in the host or its network, and the same message may succeed later.
 */
export type RefusalHint = "authenticate" | "may_yet_be_done" | "host_fault";

export type AcquirerDependencies = {
  readonly findAcquirer: (gate: GateId) => Acquirer | undefined;
  /**
   * Finds the card in the vault. Returns undefined if it is destroyed. A condemned card begins no
   * new order.
   */
  readonly findCard: (
    order: Order,
  ) => Promise<(ChargedCard & { readonly isCondemned?: boolean }) | undefined>;
  /**
   * Returns the card with its CVV, which was stored while the cardholder was being authenticated.
   */
  readonly findPendingCard: (order: Order) => Promise<CardData | undefined>;
  readonly destroyPendingCard: (order: Order) => Promise<void>;
  readonly getEndpoint: (id: EndpointId) => Endpoint;
  readonly receiptIdOf: (order: Order) => ReceiptId;
  /**
   * The clock. The true time is at least `earliest()`, which proves that a time has passed; `now()`
   * only suggests it.
   */
  readonly clock: Pick<Clock, "now"> & { readonly earliest: () => Instant };
  readonly answerTimeoutMs: number;
  readonly processingDeadlineMs: number;
  /** Resolves with false if no link of any gate has come up by then. */
  readonly nextReady: (until: Instant) => Promise<boolean>;
  /** How long an order waits for a link while nothing of it has been sent. */
  readonly linkWaitMs: number;
};

/** Describes the result of an inquiry that found no approval. */
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

/** Returns the smallest amount, in minor units, that the order's gate accepts. */
export function leastOf(
  { endpointId, transaction }: Order,
  { getEndpoint }: Pick<AcquirerDependencies, "getEndpoint">,
): bigint | undefined {
  const { gates } = getEndpoint(endpointId);
  return gates.find(({ id }) => id === transaction.identifiers?.gate.id)?.amountMin;
}

/**
 * Returns an order's charge in the form for the acquirer, or undefined if the transaction is not a
 * charge or has no gate yet. The wallet's cryptogram is revealed here.
 */
export function authorizationRequestOf(
  { transaction, purchase }: Order,
  card: ChargedCard,
  { cvv, cryptogram }: Partial<Pick<CardData, "cvv" | "cryptogram">> = {},
): AuthorizationRequest | undefined {
  const { kind, identifiers, amount, authentication } = transaction;
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
  return { kind, identifiers, amount, card: charged, cvv, authentication: proof, credential };
}

/**
 * Returns whether another node may claim the order before the host could answer. A message that is
 * not sent now cannot cross one that the claiming node sends.
 */
export function isTooLate(
  { owed }: Order,
  { clock, answerTimeoutMs }: Pick<AcquirerDependencies, "clock" | "answerTimeoutMs">,
): boolean {
  return clock.now() + answerTimeoutMs >= (owed?.claimableAt ?? 0);
}

/**
 * Waits until there is a link, but no longer than the limit or than the order's lease allows.
 * Waiting orders count as in flight, so their number is limited.
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
