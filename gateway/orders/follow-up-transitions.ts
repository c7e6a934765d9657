/**
 * The lives of what follows an approved charge: captures, and returns of two kinds. Their messages
 * say whether they are a repeat, and the host does a repeated one once. So doubt is settled by
 * repeating until there is an answer, and the answer is the result.
 */
import type { ExternalEffect } from "./effects.ts";
import type { EventKind } from "./events.ts";
import { type Stage, type TransitionTable, to } from "./transition.ts";

export const capture: TransitionTable = followUp("capturing", "capture", "captured");
export const refund: TransitionTable = followUp("returning", "refund", "returned");
export const cancel: TransitionTable = followUp("returning", "refund", "returned");

// biome-ignore format: a table
function followUp(asking: Stage, ask: ExternalEffect, done: EventKind): TransitionTable {
  return {
    [asking]: {
      [done]:              to("approved", "notify_merchant"),
      refused:             to("declined", "notify_merchant"),
      gate_unavailable:    to("error", "notify_merchant"),
      outcome_unknown:     to("repeating", ask),
      expired:             to("repeating", ask),
    },
    repeating: {
      [done]:              to("approved", "notify_merchant"),
      refused:             to("declined", "notify_merchant"),
      repeat_unanswered:   to("repeating", ask),
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
