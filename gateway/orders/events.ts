/**
 * The events of an order with their facts, and the effect handlers that report them. The reporter
 * decides which event it is, because transition tables have no conditions.
 */
import type { Card } from "../values/card-number.ts";
import { Failure } from "../values/failure.ts";
import type { ReceiptId, SerialNumber } from "../values/ids.ts";
import type { Money } from "../values/money.ts";
import type { Secret } from "../values/secret.ts";
import type { Instant } from "../values/time.ts";
import type { Authentication, Challenge, PayerRequest, SeenBrowser } from "./authentication.ts";
import type { KeptMessage } from "./messages.ts";
import type {
  Answer,
  CardFacts,
  Chargeback,
  DisputeOutcome,
  Finding,
  FollowUpTerms,
  GateFacts,
  Order,
  Payer,
  Reason,
  RefundPolicy,
  ThreeDSecure,
} from "./order.ts";
import type { ExternalEffect } from "./stages.ts";

type Facts = {
  /** The merchant's request is accepted: the first event of every order. */
  received: object;
  /** A try on the payment page. Its card is committed before anything is sent. */
  card_entered: {
    readonly card: CardFacts;
    readonly payer: Payer;
    readonly authentication?: Authentication;
  };
  page_closed: { readonly cause: string };
  wallet_refused: { readonly reason: Reason };
  cleared: { readonly gate: GateFacts; readonly findings?: readonly Finding[] };
  cleared_for_3ds: {
    readonly gate: GateFacts;
    readonly findings?: readonly Finding[];
    /** A screening rule demands authentication. Without one there is no charge. */
    readonly isForced?: true;
  };
  filtered_out: { readonly reason: Reason; readonly findings?: readonly Finding[] };

  /** The card's range requires the issuer's method next, or the authentication itself. */
  method_requested: { readonly threeds: ThreeDSecure };
  authentication_due: { readonly threeds: ThreeDSecure };
  enrolment_due: { readonly threeds: ThreeDSecure };
  method_uploaded: { readonly browser: SeenBrowser };
  challenge_requested: { readonly challenge: Challenge };
  /** The directory server has reported the result. The cardholder's browser may not be back yet. */
  challenge_passed: { readonly authentication: Authentication };
  /** The browser is back from the challenge. The result that it brings is not trusted. */
  challenge_returned: object;
  pareq_requested: { readonly payerRequest: PayerRequest };
  authenticated: { readonly authentication: Authentication };
  left_unauthenticated: { readonly authentication: Authentication };
  authentication_failed: { readonly authentication?: Authentication; readonly reason: Reason };
  /** The issuer refuses the charge until the cardholder has been challenged. */
  authentication_demanded: { readonly answer: Answer; readonly reason: Reason };

  authorized: {
    readonly answer: Answer;
    readonly receiptId: ReceiptId;
    readonly findings?: readonly Finding[];
  };
  refused: { readonly answer: Answer; readonly reason: Reason };
  /** The host may still process the refused charge, so it is reversed while the decline stands. */
  refused_in_doubt: { readonly answer: Answer; readonly reason: Reason };
  /** An amount of a list was declined in doubt. The next is tried once a reversal is proved. */
  amount_in_doubt: { readonly answer: Answer; readonly reason: Reason };
  /** One amount of a list was declined, or proved not to be charged: the next is tried. */
  amount_refused: { readonly answer: Answer; readonly reason: Reason; readonly next: Money };
  amount_reversed: { readonly next: Money };
  /** The gate could not send the charge, and nothing was sent. Another gate gets the order. */
  rerouted: { readonly gate: GateFacts; readonly cause: string };
  gate_unavailable: { readonly reason: Reason };
  /** No answer, an unreadable one or a lost link: the acquirer may have processed the message. */
  outcome_unknown: { readonly cause: string };
  /** The outcome is unknown at a host that has an inquiry message. */
  outcome_in_question: { readonly cause: string };
  charge_not_found: { readonly cause: string };
  approved_in_part: { readonly answer: Answer; readonly reason: Reason };
  /** A rule forbids the approval because of the issuer's result for the address or the CVV. */
  approval_refused: {
    readonly answer: Answer;
    readonly reason: Reason;
    readonly findings: readonly Finding[];
  };
  approved_late: { readonly answer: Answer };
  reversed: object;
  part_reversed: object;
  reversal_unanswered: { readonly cause: string };
  /** The charge seems to stand. `mayHelp` means that the same advice may succeed later. */
  reversal_refused: { readonly code: string; readonly mayHelp: boolean };
  /** The host does not know the charge to reverse. A later answer has to confirm that. */
  original_not_found: { readonly code: string };

  /** The following events are about a charge for an earlier amount. */
  prior_approved_late: { readonly reference: string; readonly answer: Answer };
  prior_reversed: { readonly reference: string; readonly approvedAt: Instant };
  prior_unreversed: { readonly reference: string; readonly answered: Unproved };

  /** A follow-up of an approved order begins a new transaction. */
  capture_asked: { readonly serialNumber: SerialNumber; readonly request: FollowUpTerms };
  return_asked: AskedBack;
  void_asked: AskedBack;
  captured: { readonly answer: Answer };
  returned: { readonly answer: Answer };
  paid_out: { readonly answer: Answer; readonly receiptId: ReceiptId };
  /** The host has said twice, and late enough, that it does not know the payout. */
  proved_unpaid: object;
  repeat_unanswered: { readonly cause: string };
  /** A repeat was refused: it stays unknown whether the earlier message was processed. */
  repeat_refused: { readonly code: string };

  charged_back: { readonly chargeback: Chargeback; readonly notify: boolean };
  dispute_decided: {
    readonly caseId: string;
    readonly outcome: DisputeOutcome;
    readonly who: string;
    readonly why: string;
  };
  operator_alerted: object;
  /** An operator wants the acquirer asked again now, or has settled the doubt with the acquirer. */
  asked_again: { readonly by: string; readonly why: string };
  settled_as_done: { readonly by: string; readonly why: string; readonly receiptId: ReceiptId };
  settled_as_not_done: { readonly by: string; readonly why: string };

  expired: object;
  /** A node took the order over from one whose lease ran out. */
  claimed: { readonly node: string };
  /** News that no longer changes anything. */
  noted: { readonly what: string; readonly detail: string };
};

type AskedBack = {
  readonly serialNumber: SerialNumber;
  readonly request: FollowUpTerms;
  /** The policy as configured now. If absent, that of the time of the charge applies. */
  readonly refunds?: RefundPolicy;
};

export type FollowUpEvent =
  | EventOf<"capture_asked">
  | EventOf<"return_asked">
  | EventOf<"void_asked">;

/** A reversal was sent and has proved nothing yet. */
export type Unproved =
  | EventOf<"reversal_unanswered">
  | EventOf<"reversal_refused">
  | EventOf<"original_not_found">;

export type EventKind = keyof Facts;
export type EventOf<Kind extends EventKind> = { readonly kind: Kind } & Facts[Kind] & {
    readonly messages?: readonly KeptMessage[];
  };
export type OperatorEvent = Extract<OrderEvent, { readonly by: string; readonly why: string }>;
export type OrderEvent = { [Kind in EventKind]: EventOf<Kind> }[EventKind];

export function isFollowUp(event: OrderEvent): event is FollowUpEvent {
  return Object.values(followUpEvents).some((kind) => kind === event.kind);
}

export const followUpEvents = {
  capture: "capture_asked",
  return: "return_asked",
  void: "void_asked",
} as const satisfies Readonly<Record<FollowUpTerms["operation"], EventKind>>;

/** The host has approved the charge, whether or not the gateway accepts that. */
export const approvals: ReadonlySet<EventKind> = new Set([
  ...(["authorized", "approved_in_part", "approval_refused"] as const),
]);

/** Whether the next message is another charge, at another gate or for another amount. */
export function isBeforeNextAttempt({ kind }: OrderEvent): boolean {
  return kind === "rerouted" || kind === "amount_refused";
}

/** Whether the order rests until its next attempt. */
export function isBeforeRest({ kind }: OrderEvent): boolean {
  return restingEvents.has(kind);
}

const restingEvents: ReadonlySet<EventKind> = new Set([
  "reversal_unanswered",
  "reversal_refused",
  "original_not_found",
  "prior_unreversed",
  "repeat_unanswered",
  "repeat_refused",
]);

/** Performs an effect. It never throws for network faults, and a second run must do no harm. */
export type EffectHandler = (order: Order, context: RunContext) => Promise<OrderEvent>;
export type EffectHandlers = Readonly<Record<ExternalEffect, EffectHandler>>;

export type RunContext = {
  /** The order was claimed from another node, which may have performed the effect. */
  readonly startedBefore: boolean;
  readonly cardData: CardData | undefined;
};

/** The card and its secrets, while the accepting node has them in memory. */
export type CardData = Card & {
  readonly cvv: Secret<string> | undefined;
  /** A wallet's cryptogram in base64. It is payment data and never stored. */
  readonly cryptogram?: Secret<string>;
};

/** While the acquirer is being asked, an operator can neither settle the order nor ask again. */
export const acquirerIsAsked = new Failure("not_allowed_now", "", "the acquirer is being asked");
/** A message that contradicts the operator's decision may still be on its way. */
export const mayArrive = new Failure("not_allowed_now", "", "a message may still arrive");
