/**
 * What an operator may decide about an order in doubt, and what would follow: both by the tables
 * that decide it.
 */
import { preview } from "../orders/advance.ts";
import { bankIsAsked, type OperatorEvent } from "../orders/events.ts";
import type { Order } from "../orders/order.ts";
import { inDoubtOf, isInDoubt } from "../orders/prior-attempts.ts";
import { Failure } from "../values/failure.ts";
import { asReceiptId } from "../values/ids.ts";
import { statusOf } from "../views/status.ts";
import type { Caller, RefusalCode } from "./route.ts";
import { type ActionPreview, type Decision, decisions, viewMoney } from "./shapes.ts";

/** Also while the bank is being asked: that lasts a moment, and the preview says so. */
export function decisionsFor(order: Order, caller: Caller): readonly Decision[] {
  if (caller.merchantId !== undefined || !isInDoubt(order)) return [];
  const resting = order.owed && { ...order.owed, resting: true as const };
  return decisions.filter(
    (each) => !(meet({ ...order, owed: resting }, each, caller) instanceof Failure),
  );
}

export function previewDecision(order: Order, decision: Decision, caller: Caller): ActionPreview {
  if (caller.merchantId !== undefined) return refusals.not_allowed;
  if (!isInDoubt(order)) return refusals.not_in_doubt;
  const met = meet(order, decision, caller);
  if (met === bankIsAsked) return refusals.bank_is_asked;
  if (met instanceof Failure) return refusals.not_in_this_stage;
  const { stage } = met.transaction;
  const { amount } = inDoubtOf(order);
  return {
    ...{ isAllowed: true, of: order.transaction.kind, amount: viewMoney(amount) },
    ...(stage !== order.transaction.stage && { becomes: statusOf(stage) }),
  };
}

function meet(order: Order, decision: Decision, { account, now }: Caller): Order | Failure {
  const told = { by: account.login, why: "a preview", receiptId: asReceiptId("0") };
  // Each kind takes some of these facts.
  return preview(order, { kind: events[decision], ...told } as OperatorEvent, now);
}

const events = {
  "ask": "asked_again",
  "settle-done": "settled_as_done",
  "settle-not-done": "settled_as_not_done",
} as const satisfies Readonly<Record<Decision, OperatorEvent["kind"]>>;

const refusals = {
  not_allowed: refuse("not_allowed", "The operator settles doubt."),
  not_in_doubt: refuse("not_in_doubt", "The order is not in doubt."),
  bank_is_asked: refuse(
    "bank_is_asked",
    "The acquirer is being asked at this moment. Try again in a minute.",
  ),
  not_in_this_stage: refuse(
    "not_in_this_stage",
    "The order cannot be settled this way in its present stage.",
  ),
};

function refuse(code: RefusalCode, why: string): ActionPreview {
  return { isAllowed: false, code, why };
}
