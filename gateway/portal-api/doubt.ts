/**
 * The decisions that an operator may take about an order in doubt, and a preview of their effects
 * by the transition tables that also decide how real events change an order.
 */
import { type Advance, preview } from "../orders/advance.ts";
import { acquirerIsAsked, mayArrive, type OperatorEvent } from "../orders/events.ts";
import type { Order } from "../orders/order.ts";
import { inDoubtOf, isInDoubt } from "../orders/prior-attempts.ts";
import { Failure } from "../values/failure.ts";
import { asReceiptId } from "../values/ids.ts";
import { statusOf } from "../views/status.ts";
import type { Caller, RefusalCode } from "./route.ts";
import { type ActionPreview, type Decision, decisions, viewMoney } from "./shapes.ts";

/**
 * A decision is offered even while the gateway is sending an inquiry to the acquirer, because an
 * inquiry takes only a moment, and the preview mentions it.
 */
export function decisionsFor(order: Order, caller: Caller): readonly Decision[] {
  if (caller.merchantId !== undefined || !isInDoubt(order)) return [];
  const resting = order.owed && { ...order.owed, resting: true as const };
  return decisions.filter((each) => {
    const met = preview({ ...order, owed: resting }, eventOf(each, caller), caller.now);
    return !(met instanceof Failure);
  });
}

/** The preview uses `advance`, which also processes the real decision. */
export function previewDecision(
  order: Order,
  decision: Decision,
  { caller, advance }: { readonly caller: Caller; readonly advance: Advance },
): ActionPreview {
  if (caller.merchantId !== undefined) return refusals.not_allowed;
  if (!isInDoubt(order)) return refusals.not_in_doubt;
  const step = advance(order, eventOf(decision, caller), caller.now);
  if (step === acquirerIsAsked) return refusals.bank_is_asked;
  if (step === mayArrive) return refusals.may_arrive;
  if (step instanceof Failure) return refusals.not_in_this_stage;
  const { stage } = step.order.transaction;
  const { amount } = inDoubtOf(order);
  return {
    isAllowed: true,
    of: order.transaction.kind,
    amount: viewMoney(amount),
    ...(stage !== order.transaction.stage && { becomes: statusOf(stage) }),
  };
}

function eventOf(decision: Decision, { account }: Caller): OperatorEvent {
  const facts = { by: account.login, why: "a preview", receiptId: asReceiptId("0") };
  // `facts` has all values that an event of a decision needs, but the compiler cannot check that.
  return { kind: events[decision], ...facts } as OperatorEvent;
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
  may_arrive: refuse(
    "may_arrive",
    "A message had no answer. Until the time for it is over, it may still reach the acquirer " +
      "and undo this decision.",
  ),
  not_in_this_stage: refuse(
    "not_in_this_stage",
    "The order cannot be settled this way in its present stage.",
  ),
};

function refuse(code: RefusalCode, why: string): ActionPreview {
  return { isAllowed: false, code, why };
}
