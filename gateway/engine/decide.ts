/**
 * An operator's decisions about orders in doubt: ask the bank again, or settle with what the bank
 * has said. `apply` commits them like every other event.
 */
import { type ApplyDependencies, makeApply } from "../orders/apply.ts";
import type { OrderEvent } from "../orders/events.ts";
import type { Order } from "../orders/order.ts";
import { Failure } from "../values/failure.ts";

export type OperatorEvent = Extract<OrderEvent, { readonly by: string; readonly why: string }>;
export type Decide = (order: Order, event: OperatorEvent) => Promise<Order | Failure>;

export const bankIsAsked = new Failure("not_allowed_now", "", "the bank is being asked");

/**
 * An order cannot be settled by hand while a node asks the bank about it, because the two answers
 * may differ. The check is part of `advance`, so that it also holds when another node has changed
 * the order meanwhile and `apply` meets it again.
 */
export function makeDecide({ advance, ...others }: ApplyDependencies): Decide {
  return makeApply({
    ...others,
    advance: (order, event, at) => {
      const settles = event.kind === "settled_as_done" || event.kind === "settled_as_not_done";
      return settles && order.owed?.resting !== true ? bankIsAsked : advance(order, event, at);
    },
  });
}
