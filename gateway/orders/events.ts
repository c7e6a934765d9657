/**
 * Everything that can happen to an order, in the past tense, with what is learnt by it. Whoever
 * reports an event has already decided which one it is; the transition table has no conditions.
 */

import type { ReceiptId } from "../values/ids.ts";
import type { Answer, Authentication, CardFacts, GateFacts, Reason } from "./order.ts";

type Facts = {
  /** The merchant's request was accepted: the first event of every order. */
  received: object;
  wallet_opened: { readonly card: CardFacts };
  wallet_refused: { readonly reason: Reason };
  cleared: { readonly gate: GateFacts };
  cleared_for_3ds: { readonly gate: GateFacts };
  filtered_out: { readonly reason: Reason };

  method_requested: object;
  method_uploaded: object;
  challenge_requested: object;
  challenge_returned: object;
  pareq_requested: object;
  pares_uploaded: object;
  authenticated: { readonly authentication: Authentication };
  left_unauthenticated: { readonly authentication: Authentication };
  authentication_failed: { readonly authentication?: Authentication; readonly reason: Reason };

  authorized: { readonly answer: Answer; readonly receiptId: ReceiptId };
  refused: { readonly answer: Answer; readonly reason: Reason };
  gate_unavailable: { readonly reason: Reason };
  /** The charge may have been booked or not: no answer, a lost link, or bytes that say nothing. */
  outcome_unknown: { readonly cause: string };
  approved_in_part: { readonly answer: Answer; readonly reason: Reason };
  approved_late: { readonly answer: Answer };
  reversed: object;
  part_reversed: object;
  reversal_unanswered: { readonly cause: string };
  operator_alerted: object;

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
