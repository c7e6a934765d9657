/**
 * Everything that can happen to an order, in the past tense, with what is learnt by it. Whoever
 * reports an event has already decided which one it is; the transition table has no conditions.
 */

import type { ReceiptId, SerialNumber } from "../values/ids.ts";
import type { Money } from "../values/money.ts";
import type { Authentication, Challenge, PayerRequest, SeenBrowser } from "./authentication.ts";
import type { Answer, FollowUpTerms, GateFacts, Reason, ThreeDSecure } from "./order.ts";

type Facts = {
  /** The merchant's request was accepted: the first event of every order. */
  received: object;
  wallet_refused: { readonly reason: Reason };
  cleared: { readonly gate: GateFacts };
  cleared_for_3ds: { readonly gate: GateFacts };
  filtered_out: { readonly reason: Reason };

  /** What the card's range asks for first: the issuer's method, or the question itself. */
  method_requested: { readonly threeds: ThreeDSecure };
  authentication_due: { readonly threeds: ThreeDSecure };
  enrolment_due: { readonly threeds: ThreeDSecure };
  method_uploaded: { readonly browser: SeenBrowser };
  challenge_requested: { readonly challenge: Challenge };
  /** The directory server says so; the cardholder's browser is not back yet. */
  challenge_passed: { readonly authentication: Authentication };
  /** The browser is back; what it says of the challenge is not believed. */
  challenge_returned: object;
  pareq_requested: { readonly payerRequest: PayerRequest };
  authenticated: { readonly authentication: Authentication };
  left_unauthenticated: { readonly authentication: Authentication };
  authentication_failed: { readonly authentication?: Authentication; readonly reason: Reason };
  /** The issuer refuses the charge until the cardholder has been challenged. */
  authentication_demanded: { readonly answer: Answer; readonly reason: Reason };

  authorized: { readonly answer: Answer; readonly receiptId: ReceiptId };
  refused: { readonly answer: Answer; readonly reason: Reason };
  /** Of several amounts this one was declined, or proved not to be charged: the next is tried. */
  amount_refused: { readonly answer: Answer; readonly reason: Reason; readonly next: Money };
  amount_reversed: { readonly next: Money };
  /** The gate could not take it, and nothing has left: the next gate gets it. */
  rerouted: { readonly gate: GateFacts; readonly cause: string };
  gate_unavailable: { readonly reason: Reason };
  /** The bank may have done it or not: no answer, a lost link, or bytes that say nothing. */
  outcome_unknown: { readonly cause: string };
  /** The same, at a host that can be asked. */
  outcome_in_question: { readonly cause: string };
  charge_not_found: { readonly cause: string };
  approved_in_part: { readonly answer: Answer; readonly reason: Reason };
  approved_late: { readonly answer: Answer };
  reversed: object;
  part_reversed: object;
  reversal_unanswered: { readonly cause: string };

  /** The merchant asks for more of an approved order: a new transaction begins. */
  capture_asked: { readonly serialNumber: SerialNumber; readonly request: FollowUpTerms };
  return_asked: { readonly serialNumber: SerialNumber; readonly request: FollowUpTerms };
  captured: { readonly answer: Answer };
  returned: { readonly answer: Answer };
  repeat_unanswered: { readonly cause: string };

  operator_alerted: object;
  /** An operator wants doubt looked into now, or has settled it with the bank himself. */
  asked_again: { readonly by: string; readonly why: string };
  settled_as_done: { readonly by: string; readonly why: string; readonly receiptId: ReceiptId };
  settled_as_not_done: { readonly by: string; readonly why: string };

  /** The stage's deadline has passed. */
  expired: object;
  /** A node took the order over from one that went silent. Accepted in every stage. */
  claimed: { readonly node: string };
  /** Something came that no longer changes anything. Accepted in every stage. */
  noted: { readonly what: string; readonly detail: string };
};

export type EventKind = keyof Facts;
export type EventOf<Kind extends EventKind> = { readonly kind: Kind } & Facts[Kind];
export type OrderEvent = { [Kind in EventKind]: EventOf<Kind> }[EventKind];

/** The next message asks for money again, at another gate or for another amount. */
export function isBeforeNextTry({ kind }: OrderEvent): boolean {
  return kind === "rerouted" || kind === "amount_refused";
}
