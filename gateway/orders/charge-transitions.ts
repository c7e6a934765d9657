/**
 * The lives of what takes money or holds it: sale, preauthorisation, account verification. An
 * approval that nobody waits for any more is money taken, and is given back.
 */
import type { EventKind } from "./events.ts";
import { type Row, type TransitionTable, to } from "./transition.ts";

// biome-ignore format: a table
export const sale: TransitionTable = {
  filtering: {
    wallet_refused:        to("declined", "notify_merchant"),
    cleared:               to("authorizing", "authorize"),
    cleared_for_3ds:       to("authenticating", "look_up_3ds"),
    filtered_out:          to("filtered", "notify_merchant"),
    gate_unavailable:      to("error", "notify_merchant"),
    expired:               to("error", "notify_merchant"),
  },

  authenticating: {
    method_requested:      to("awaiting_method"),
    authentication_due:    to("authenticating", "authenticate"),
    enrolment_due:         to("authenticating", "ask_enrolment"),
    challenge_requested:   to("awaiting_challenge"),
    pareq_requested:       to("awaiting_pares"),
    authenticated:         to("authorizing", "authorize"),
    left_unauthenticated:  to("authorizing", "authorize"),
    authentication_failed: to("declined", "notify_merchant"),
    expired:               to("error", "notify_merchant"),
  },
  awaiting_method: {
    method_uploaded:       to("authenticating", "authenticate"),
    expired:               to("declined", "notify_merchant"),
  },
  // The directory server's word decides, the browser's return only hastens: either may come first.
  awaiting_challenge: {
    challenge_passed:      to("awaiting_return"),
    challenge_returned:    to("awaiting_result"),
    left_unauthenticated:  to("authorizing", "authorize"),
    authentication_failed: to("declined", "notify_merchant"),
    expired:               to("declined", "notify_merchant"),
  },
  awaiting_result: {
    challenge_passed:      to("authorizing", "authorize"),
    left_unauthenticated:  to("authorizing", "authorize"),
    authentication_failed: to("declined", "notify_merchant"),
    expired:               to("declined", "notify_merchant"),
  },
  awaiting_return: {
    challenge_returned:    to("authorizing", "authorize"),
    // Cardholders close windows.
    expired:               to("authorizing", "authorize"),
  },
  awaiting_pares: {
    authenticated:         to("authorizing", "authorize"),
    left_unauthenticated:  to("authorizing", "authorize"),
    authentication_failed: to("declined", "notify_merchant"),
    expired:               to("declined", "notify_merchant"),
  },

  authorizing: {
    authorized:            to("approved", "notify_merchant"),
    refused:               to("declined", "notify_merchant"),
    amount_refused:        to("authorizing", "authorize"),
    authentication_demanded: to("authenticating", "look_up_3ds"),
    // Only while nothing has left: an unknown outcome never goes to another gate.
    rerouted:              to("authorizing", "authorize"),
    gate_unavailable:      to("error", "notify_merchant"),
    outcome_in_question:   to("inquiring", "inquire"),
    outcome_unknown:       to("reversing", "reverse"),
    approved_in_part:      to("reversing", "reverse"),
    approved_late:         to("reversing", "reverse"),
    expired:               to("reversing", "reverse"),
  },
  inquiring: {
    authorized:            to("approved", "notify_merchant"),
    approved_in_part:      to("reversing", "reverse"),
    charge_not_found:      to("reversing", "reverse"),
    approved_late:         to("inquiring", "inquire"),
    expired:               to("reversing", "reverse"),
    asked_again:           to("inquiring", "inquire"),
    settled_as_done:       to("approved", "notify_merchant"),
    settled_as_not_done:   to("error", "notify_merchant"),
  },
  reversing: {
    reversed:              to("error", "notify_merchant"),
    part_reversed:         to("declined", "notify_merchant"),
    amount_reversed:       to("authorizing", "authorize"),
    reversal_unanswered:   to("reversing", "reverse"),
    approved_late:         to("reversing", "reverse"),
    expired:               to("reversing", "alert_operator"),
    operator_alerted:      to("reversing", "reverse"),
    asked_again:           to("reversing", "reverse"),
    settled_as_done:       to("approved", "notify_merchant"),
    settled_as_not_done:   to("error", "notify_merchant"),
  },

  approved: {},
  filtered: {},
  // An approval that comes when all is over is money taken: it is reversed, and nobody is told.
  declined: {
    approved_late:         to("declined", "reverse"),
    reversal_unanswered:   to("declined", "reverse"),
    reversed:              to("declined"),
    part_reversed:         to("declined"),
    asked_again:           to("declined", "reverse"),
    settled_as_not_done:   to("declined"),
  },
  error: {
    approved_late:         to("error", "reverse"),
    reversal_unanswered:   to("error", "reverse"),
    reversed:              to("error"),
    part_reversed:         to("error"),
    asked_again:           to("error", "reverse"),
    settled_as_not_done:   to("error"),
  },
};

/** Holding money lives as taking it does; what differs is what may follow an approval. */
export const preauth: TransitionTable = sale;

/** No money is asked for, so none can be approved in part. */
export const accountVerification: TransitionTable = {
  ...sale,
  authorizing: without(sale.authorizing, "approved_in_part"),
  inquiring: without(sale.inquiring, "approved_in_part"),
};

function without(row: Row | undefined, event: EventKind): Row {
  return Object.fromEntries(Object.entries(row ?? {}).filter(([kind]) => kind !== event));
}
