/**
 * What the gateway asks of a bank. Implementations never throw and never retry: a lost answer is
 * the outcome "unknown", because the money may have moved and only another message makes it
 * certain. Which message that is, is decided by the order's transition table.
 */
import type {
  AcquirerIdentifiers,
  Answer,
  ChargeKind,
  Credential,
  LateApproval,
} from "../orders/order.ts";
import type { CardNumber } from "../values/card-number.ts";
import type { Money } from "../values/money.ts";
import type { Secret } from "../values/secret.ts";
import type { Instant } from "../values/time.ts";

export type Acquirer = {
  /** Signed on: a request may be sent. Asked before anything leaves, never after. */
  isReady(): boolean;
  /** Takes the money, holds it, or only asks whether the card is good: by the attempt's kind. */
  authorize(attempt: AuthorizationRequest): Promise<Authorization>;
  /** Asks what became of a charge; nothing where the host has no such message. */
  readonly inquire:
    | ((attempt: AuthorizationRequest, inquiry: InquiryRequest) => Promise<Found>)
    | undefined;
  /** Tells that a charge of unknown outcome must not stand; safe to repeat. */
  reverse(attempt: AuthorizationRequest, advice: ReversalRequest): Promise<Reversal>;
  /** Takes money that an approved preauthorisation holds; safe to repeat when it says so. */
  capture(request: FollowUpMessage): Promise<FollowUpAnswer>;
  /** Gives money back, or lets go of what is held; safe to repeat when it says so. */
  giveBack(request: FollowUpMessage): Promise<FollowUpAnswer>;
};

/** One try to take money: everything that its message, and those about it, are made of. */
export type AuthorizationRequest = {
  readonly kind: ChargeKind;
  readonly identifiers: AcquirerIdentifiers;
  readonly amount: Money;
  readonly card: ChargedCard;
  readonly cvv: Secret<string> | undefined;
  readonly authentication: AuthenticationProof | undefined;
  /** For payments with a stored card; nothing when the cardholder typed it in. */
  readonly credential: Credential | undefined;
};

export type ChargedCard = {
  readonly number: CardNumber;
  readonly expiryYear: string;
  readonly expiryMonth: string;
  /** The number is a wallet's, on the cardholder's device. */
  readonly isDevice?: true;
};

/** What 3-D Secure proved: the indicator, and the authentication value (CAVV, AAV) in base64. */
export type AuthenticationProof = {
  readonly eci: string | undefined;
  readonly value: string | undefined;
};

export type InquiryRequest = { readonly traceNumber: string };

export type ReversalRequest = {
  readonly traceNumber: string;
  /** Sent before without an answer: the host is told that this is a repeat. */
  readonly repeated: boolean;
  readonly approvalCode: string | undefined;
};

/** A capture or a return of an approved charge. */
export type FollowUpMessage = {
  readonly original: {
    readonly kind: ChargeKind;
    readonly identifiers: AcquirerIdentifiers;
    readonly approvalCode: string | undefined;
    readonly networkId: string | undefined;
  };
  readonly card: ChargedCard;
  /** What is to be taken or given back now. */
  readonly amount: Money;
  /** What the cardholder still pays when this has been done. */
  readonly remaining: Money;
  readonly traceNumber: string;
  readonly transmittedAt: Instant;
  /** Sent before without an answer: the host is told that this is a repeat. */
  readonly repeated: boolean;
};

export type Authorization =
  | { readonly kind: "approved"; readonly answer: Answer }
  | { readonly kind: "approved_in_part"; readonly answer: Answer }
  | { readonly kind: "refused"; readonly answer: Answer }
  | NotSent
  | Unknown;

/** What the host says about a charge. A refusal counts as not found: it is reversed anyway. */
export type Found =
  | { readonly kind: "approved"; readonly answer: Answer }
  | { readonly kind: "approved_in_part"; readonly answer: Answer }
  | { readonly kind: "not_found" }
  | NotSent
  | Unknown;

export type FollowUpAnswer =
  | { readonly kind: "approved"; readonly answer: Answer }
  | { readonly kind: "refused"; readonly answer: Answer }
  | NotSent
  | Unknown;

export type Reversal = { readonly kind: "reversed" } | { readonly kind: "unknown"; cause: string };

/** Known not to have left. */
export type NotSent = { readonly kind: "not_sent" };
export type Unknown = {
  readonly kind: "unknown";
  readonly cause: "timeout" | "link_lost" | "unreadable_answer";
};

export type OnLateApproval = (approval: LateApproval) => void;
