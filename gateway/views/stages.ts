/**
 * What merchants see of a stage. Internal stages can be refined without changing the interface:
 * several of them may look the same from outside.
 */
import type { Stage, TransactionKind } from "../orders/order.ts";

export type Status = "processing" | "approved" | "declined" | "error" | "filtered";

type Shown = { readonly status: Status; readonly suffix: string };

// biome-ignore format: a table
const shown: Readonly<Record<Stage, Shown>> = {
  filtering:          { status: "processing", suffix: "filtering" },
  authenticating:     { status: "processing", suffix: "3d_validating" },
  awaiting_method:    { status: "processing", suffix: "3d_validating" },
  awaiting_challenge: { status: "processing", suffix: "3d_validating" },
  awaiting_result:    { status: "processing", suffix: "3d_validating" },
  awaiting_return:    { status: "processing", suffix: "3d_validating" },
  awaiting_pares:     { status: "processing", suffix: "3d_validating" },
  authorizing:        { status: "processing", suffix: "processing" },
  inquiring:          { status: "processing", suffix: "unknown" },
  reversing:          { status: "processing", suffix: "unknown" },
  capturing:          { status: "processing", suffix: "processing" },
  returning:          { status: "processing", suffix: "processing" },
  repeating:          { status: "processing", suffix: "unknown" },
  approved:           { status: "approved",   suffix: "approved" },
  declined:           { status: "declined",   suffix: "declined" },
  filtered:           { status: "filtered",   suffix: "filtered" },
  error:              { status: "error",      suffix: "error" },
};

// biome-ignore format: a table
const kinds: Readonly<Record<TransactionKind, { readonly prefix: string; readonly type: string }>> = {
  sale:                   { prefix: "sale",     type: "sale" },
  preauth:                { prefix: "auth",     type: "preauth" },
  "account-verification": { prefix: "av",       type: "account-verification" },
  capture:                { prefix: "capture",  type: "capture" },
  refund:                 { prefix: "reversal", type: "reversal" },
  cancel:                 { prefix: "cancel",   type: "reversal" },
};

export function statusOf(stage: Stage): Status {
  return shown[stage].status;
}

export function wireStageOf(kind: TransactionKind, stage: Stage): string {
  return `${kinds[kind].prefix}_${shown[stage].suffix}`;
}

export function wireTypeOf(kind: TransactionKind): string {
  return kinds[kind].type;
}
