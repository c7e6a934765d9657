/**
 * The life of a transaction: a table for each kind, with a row for each stage and a cell for each
 * event that the stage accepts. Outcomes that lead to different stages are different events, so the
 * tables need no conditions. `beginnings` has the events that begin a transaction, `anyStage` those
 * that every stage accepts. `docs/orders.md` is drawn from these tables.
 */
import type { EventKind, FollowUpEvent, OrderEvent } from "./events.ts";
import type { TransactionKind } from "./order.ts";
import { type Effect, type ExternalEffect, isFinal, isImmediate, type Stage } from "./stages.ts";

/** At most one of the effects is owed. The commit itself writes the row of the callback. */
export type Cell = { readonly stage: Stage; readonly effects: readonly Effect[] };
type Row = { readonly [Kind in EventKind]?: Cell };
/** A stage without a cell for an event refuses it. */
export type TransitionTable = { readonly [Where in Stage]?: Row };

// biome-ignore format: a table
const sale: TransitionTable = {
  // The order is on its payment page. No other stage accepts a card, so there is one try at a time,
  // and none while one is in doubt.
  awaiting_card: {
    card_entered:          to("filtering", "screen"),
    expired:               to("declined", "notify_merchant"),
  },

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
  // The directory server's result decides. The browser may return before or after it.
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
    // Cardholders may close the window, so the browser is not awaited for long.
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
    refused_in_doubt:      to("declined", "notify_merchant", "reverse"),
    amount_refused:        to("authorizing", "authorize"),
    amount_in_doubt:       to("reversing", "reverse"),
    authentication_demanded: to("authenticating", "look_up_3ds"),
    // Orders are rerouted only while nothing was sent. An unknown outcome stays at its gate.
    rerouted:              to("authorizing", "authorize"),
    gate_unavailable:      to("error", "notify_merchant"),
    outcome_in_question:   to("inquiring", "inquire"),
    outcome_unknown:       to("reversing", "reverse"),
    approved_in_part:      to("reversing", "reverse"),
    approval_refused:      to("reversing", "reverse"),
    approved_late:         to("reversing", "reverse"),
    expired:               to("reversing", "reverse"),
  },
  inquiring: {
    authorized:            to("approved", "notify_merchant"),
    approved_in_part:      to("reversing", "reverse"),
    approval_refused:      to("reversing", "reverse"),
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
    reversal_refused:      to("reversing", "reverse"),
    original_not_found:    to("reversing", "reverse"),
    approved_late:         to("reversing", "reverse"),
    expired:               to("reversing", "alert_operator"),
    operator_alerted:      to("reversing", "reverse"),
    asked_again:           to("reversing", "reverse"),
    settled_as_done:       to("approved", "notify_merchant"),
    settled_as_not_done:   to("error", "notify_merchant"),
  },

  approved: {},
  filtered: {},
  declined: unpaid("declined"),
  error: unpaid("error"),
};

/** A late approval, or a refusal in doubt, is reversed after the final result, without callback. */
function unpaid(stage: "declined" | "error"): Row {
  return {
    approved_late: to(stage, "reverse"),
    reversal_unanswered: to(stage, "reverse"),
    reversal_refused: to(stage, "reverse"),
    original_not_found: to(stage, "reverse"),
    reversed: to(stage),
    asked_again: to(stage, "reverse"),
    settled_as_not_done: to(stage),
  };
}

/** An account verification requests no money: nothing is approved in part, or reversed. */
const accountVerification: TransitionTable = {
  ...sale,
  authorizing: withoutMoney(sale.authorizing),
  inquiring: withoutMoney(sale.inquiring),
};

function withoutMoney({ approved_in_part: _, ...row }: Row = {}): Row {
  return { ...row, approval_refused: to("declined", "notify_merchant") };
}

/**
 * Captures, refunds, cancels and voids say whether they are a repeat, and the host processes a
 * repeated one once. So doubt is settled by repeating the message until the host answers.
 */
// biome-ignore format: a table
function followUp(asking: Stage, ask: ExternalEffect, done: EventKind): TransitionTable {
  return {
    [asking]: {
      [done]:              to("approved", "notify_merchant"),
      refused:             to("declined", "notify_merchant"),
      gate_unavailable:    to("error", "notify_merchant"),
      outcome_unknown:     to("repeating", ask),
      repeat_refused:      to("repeating", ask),
      expired:             to("repeating", ask),
    },
    repeating: {
      [done]:              to("approved", "notify_merchant"),
      refused:             to("declined", "notify_merchant"),
      repeat_unanswered:   to("repeating", ask),
      repeat_refused:      to("repeating", ask),
      expired:             to("repeating", "alert_operator"),
      operator_alerted:    to("repeating", ask),
      asked_again:         to("repeating", ask),
      settled_as_done:     to("approved", "notify_merchant"),
      settled_as_not_done: to("error", "notify_merchant"),
    },
    approved: {},
    declined: {},
    error: {},
  };
}

/**
 * A payout cannot be taken back, so no reversal is ever owed. Doubt is settled by an inquiry, by a
 * repeat where the host recognises repeats, by a late approval, or by an operator.
 */
// biome-ignore format: a table
const payout: TransitionTable = {
  filtering: {
    cleared:             to("paying", "pay_out"),
    filtered_out:        to("filtered", "notify_merchant"),
    gate_unavailable:    to("error", "notify_merchant"),
    expired:             to("error", "notify_merchant"),
  },
  paying: {
    paid_out:            to("approved", "notify_merchant"),
    refused:             to("declined", "notify_merchant"),
    // A payout is rerouted only while nothing was sent.
    rerouted:            to("paying", "pay_out"),
    gate_unavailable:    to("error", "notify_merchant"),
    outcome_unknown:     to("repeating", "pay_out"),
    expired:             to("repeating", "pay_out"),
  },
  repeating: {
    paid_out:            to("approved", "notify_merchant"),
    proved_unpaid:       to("error", "notify_merchant"),
    original_not_found:  to("repeating", "pay_out"),
    repeat_unanswered:   to("repeating", "pay_out"),
    repeat_refused:      to("repeating", "pay_out"),
    expired:             to("repeating", "alert_operator"),
    operator_alerted:    to("repeating", "pay_out"),
    asked_again:         to("repeating", "pay_out"),
    settled_as_done:     to("approved", "notify_merchant"),
    settled_as_not_done: to("error", "notify_merchant"),
  },
  approved: {},
  filtered: {},
  declined: {},
  error: {},
};

/** Doubt about a void may also end with the proof that nothing was voided: the charge stands. */
function withDisproof(table: TransitionTable): TransitionTable {
  return { ...table, repeating: { ...table.repeating, refused: to("error", "notify_merchant") } };
}

function to(stage: Stage, ...effects: readonly Effect[]): Cell {
  return { stage, effects };
}

// biome-ignore format: a table
export const tables: Readonly<Record<TransactionKind, TransitionTable>> = {
  sale,
  preauth: sale, // Only the follow-ups of an approval differ.
  "account-verification": accountVerification,
  payout,
  capture: followUp("capturing", "capture", "captured"),
  refund:  followUp("returning", "refund", "returned"),
  cancel:  followUp("returning", "refund", "returned"),
  void:    withDisproof(followUp("returning", "refund", "returned")),
};

/**
 * On a payment page with another try left, a refused try leads back to the page, and the merchant
 * is not notified. A refusal in doubt is reversed before the next try begins.
 */
export const tablesWithTriesLeft: typeof tables = {
  ...tables,
  sale: withTriesLeft(sale),
  preauth: withTriesLeft(sale),
  "account-verification": withTriesLeft(accountVerification),
};

function withTriesLeft(table: TransitionTable): TransitionTable {
  const rows = Object.entries(table).map(([stage, row]) => {
    const isKept = stage === "awaiting_card" || isFinal(stage as Stage);
    return [stage, isKept ? row : mapCells(row, returnToPage)];
  });
  return Object.fromEntries(rows);
}

function returnToPage(cell: Cell): Cell {
  if (!isFinal(cell.stage) || cell.stage === "approved") return cell;
  return cell.effects.includes("reverse") ? to("reversing", "reverse") : to("awaiting_card");
}

function mapCells(row: Row, change: (cell: Cell) => Cell): Row {
  return Object.fromEntries(Object.entries(row).map(([kind, cell]) => [kind, change(cell)]));
}

const immediateEvents: ReadonlySet<string> = new Set(
  Object.values(tables)
    .flatMap((table) => Object.values(table))
    .flatMap((row) => Object.entries(row))
    .flatMap(([kind, { effects }]) => (effects.some(isImmediate) ? [kind] : [])),
);

export function needsConditions({ kind }: OrderEvent): boolean {
  return immediateEvents.has(kind);
}

export type FirstCell = Cell & { readonly event: "received" | FollowUpEvent["kind"] };

/** The event that begins a transaction of each kind, its first stage, and the effect owed there. */
export const beginnings: Readonly<Record<TransactionKind, FirstCell>> = {
  sale: { event: "received", ...to("filtering", "screen") },
  preauth: { event: "received", ...to("filtering", "screen") },
  "account-verification": { event: "received", ...to("filtering", "screen") },
  payout: { event: "received", ...to("filtering", "screen") },
  capture: { event: "capture_asked", ...to("capturing", "capture") },
  refund: { event: "return_asked", ...to("returning", "refund") },
  cancel: { event: "return_asked", ...to("returning", "refund") },
  void: { event: "void_asked", ...to("returning", "refund") },
};

/** An order of the payment page begins without a card. */
export const beginningOnPage: FirstCell = { event: "received", ...to("awaiting_card") };

/** An event that leaves the open transaction in its stage and keeps the deadline. */
export type AnyStageCell = {
  readonly in: "every stage" | "every open stage of a charge";
  /**
   * The effect owed afterwards. `as before`: the same effect and lease. `renewed`: the same effect,
   * with a whole lease for the event's node. `reverse_prior`: that effect, if an attempt has a
   * reversal to come and the order is free for it.
   */
  readonly owes: "as before" | "renewed" | "reverse_prior";
  readonly effects: readonly Effect[];
};
type AnyStageTable = { readonly [Kind in EventKind]?: AnyStageCell };

/**
 * Events about the node that runs the order, a dispute, the payment page, or a charge of an earlier
 * attempt, and not about the open transaction.
 */
// biome-ignore format: a table
export const anyStage: AnyStageTable = {
  claimed:             stay("every stage", "renewed"),
  noted:               stay("every stage", "as before"),
  charged_back:        stay("every stage", "as before", "notify_merchant"),
  dispute_decided:     stay("every stage", "as before"),
  page_closed:         stay("every open stage of a charge", "as before"),
  prior_approved_late: stay("every stage", "reverse_prior"),
  prior_reversed:      stay("every stage", "reverse_prior"),
  prior_unreversed:    stay("every stage", "reverse_prior"),
};

/** While the order owes `reverse_prior`, operators' decisions are about that reversal. */
export const whileOwingPrior: AnyStageTable = {
  asked_again: stay("every stage", "reverse_prior"),
  settled_as_not_done: stay("every stage", "reverse_prior"),
};

function stay(
  where: AnyStageCell["in"],
  owes: AnyStageCell["owes"],
  ...effects: readonly Effect[]
): AnyStageCell {
  return { in: where, owes, effects };
}
