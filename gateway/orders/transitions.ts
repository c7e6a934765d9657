/**
 * The lives of transactions, one table for each kind. Two outcomes that lead to different stages
 * are two different events, so the tables need no conditions. `docs/orders.md` is drawn from them.
 */
import { accountVerification, preauth, sale } from "./charge-transitions.ts";
import type { Effect } from "./effects.ts";
import { cancel, capture, refund } from "./follow-up-transitions.ts";
import type { TransactionKind } from "./order.ts";
import { type Stage, type TransitionTable, to } from "./transition.ts";

export type { Cell, Row, Stage, TransitionTable } from "./transition.ts";
export { isFinal, stagesInDoubt, waitsForCardholder } from "./transition.ts";

// biome-ignore format: a table
export const tables: Readonly<Record<TransactionKind, TransitionTable>> = {
  sale,
  preauth,
  "account-verification": accountVerification,
  capture,
  refund,
  cancel,
};

/** Where a transaction of each kind begins, and what it is owed then. */
// biome-ignore format: a table
export const beginnings: Readonly<Record<TransactionKind, { stage: Stage; effect: Effect | undefined }>> = {
  sale:                   to("filtering", "screen"),
  preauth:                to("filtering", "screen"),
  "account-verification": to("filtering", "screen"),
  capture:                to("capturing", "capture"),
  refund:                 to("returning", "refund"),
  cancel:                 to("returning", "refund"),
};
