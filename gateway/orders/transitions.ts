/**
 * The life of a sale. Two outcomes that lead to different stages are two different events, so the
 * table needs no conditions. A stage with no cell for an event refuses that event. `docs/orders.md`
 * is drawn from this table.
 */
import type { Effect } from "./effects.ts";
import type { EventKind } from "./events.ts";

export type Stage =
  | "filtering"
  | "authenticating"
  | "awaiting_method"
  | "awaiting_challenge"
  | "awaiting_pares"
  | "authorizing"
  | "reversing"
  | "approved"
  | "declined"
  | "filtered"
  | "error";

export type Cell = { readonly stage: Stage; readonly effect: Effect | undefined };
export type Row = { readonly [Kind in EventKind]?: Cell };
export type TransitionTable = Readonly<Record<Stage, Row>>;

// biome-ignore format: a table
export const sale: TransitionTable = {
  filtering: {
    wallet_opened:         to("filtering", "screen"),
    wallet_refused:        to("declined", "notify_merchant"),
    cleared:               to("authorizing", "authorize"),
    cleared_for_3ds:       to("authenticating", "look_up_3ds"),
    filtered_out:          to("filtered", "notify_merchant"),
    expired:               to("error", "notify_merchant"),
  },

  authenticating: {
    method_requested:      to("awaiting_method"),
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
  awaiting_challenge: {
    challenge_returned:    to("authenticating", "read_challenge"),
    expired:               to("declined", "notify_merchant"),
  },
  awaiting_pares: {
    pares_uploaded:        to("authenticating", "read_pares"),
    expired:               to("declined", "notify_merchant"),
  },

  authorizing: {
    authorized:            to("approved", "notify_merchant"),
    refused:               to("declined", "notify_merchant"),
    gate_unavailable:      to("error", "notify_merchant"),
    outcome_unknown:       to("reversing", "reverse"),
    approved_in_part:      to("reversing", "reverse"),
    approved_late:         to("reversing", "reverse"),
    expired:               to("reversing", "reverse"),
  },
  reversing: {
    reversed:              to("error", "notify_merchant"),
    part_reversed:         to("declined", "notify_merchant"),
    reversal_unanswered:   to("reversing", "reverse"),
    approved_late:         to("reversing", "reverse"),
    expired:               to("reversing", "alert_operator"),
    operator_alerted:      to("reversing", "reverse"),
  },

  approved: {},
  filtered: {},
  // An approval that comes when all is over is money taken: it is reversed, and nobody is told.
  declined: {
    approved_late:         to("declined", "reverse"),
    reversal_unanswered:   to("declined", "reverse"),
    reversed:              to("declined"),
    part_reversed:         to("declined"),
  },
  error: {
    approved_late:         to("error", "reverse"),
    reversal_unanswered:   to("error", "reverse"),
    reversed:              to("error"),
    part_reversed:         to("error"),
  },
};

export const finalStages: ReadonlySet<Stage> = new Set<Stage>([
  "approved",
  "declined",
  "filtered",
  "error",
]);

export function isFinal(stage: Stage): boolean {
  return finalStages.has(stage);
}

function to(stage: Stage, effect?: Effect): Cell {
  return { stage, effect };
}
