/**
 * What a user does to orders: capture, return, settle doubt. Each is previewed by the same function
 * that decides it, and needs a reason, which the audit keeps. A form that is sent again begins
 * nothing new: it is answered with the same transaction.
 */
import type { Advance } from "../orders/advance.ts";
import { describeRefusal, mostOf, readMovedAmount } from "../orders/movable.ts";
import { Failure } from "../values/failure.ts";
import { Problem } from "../values/problem.ts";
import type { Api, Handlers } from "./api.ts";
import { previewDecision } from "./doubt.ts";
import { type OrderOptions, previewOf } from "./orders.ts";
import { type PerformAction, refusalOf } from "./perform.ts";
import { type Caller, notFound, PortalRefusal } from "./route.ts";
import { viewMoney } from "./shapes.ts";

export type ActionOptions = Pick<OrderOptions, "reads"> & {
  readonly perform: PerformAction;
  /** The step that a decision about doubt would commit. */
  readonly advance: Advance;
};

export function actionHandlers({ reads, perform, advance }: ActionOptions) {
  const move = (name: "order capture" | "order return") => {
    return async ({ order, amount, ...form }: MoveInput, caller: Caller) => {
      const moved = await perform(name, { order, amount }, caller, form);
      return moved instanceof Problem ? refusalOf(moved) : moved;
    };
  };
  const decide = (name: "doubt ask" | "doubt settle") => {
    return async ({ order: id, version, reason, outcome }: DecideInput, caller: Caller) => {
      const order = await reads.findOrder(id, caller.merchantId);
      if (order === undefined) return notFound;
      if (order.version !== version) return movedOn;
      const given = { order: id, as: outcome };
      const decided = await perform(name, given, caller, { reason, seen: version });
      if (decided instanceof Problem) return refusalOf(decided);
      const { transaction } = (await reads.findOrder(id, caller.merchantId)) ?? order;
      return { stage: transaction.stage };
    };
  };

  return {
    async "POST /orders/preview/:order"({ order: id, action, amount }, caller) {
      const order = await reads.findOrder(id, caller.merchantId);
      if (order === undefined) return notFound;
      const money = readMovedAmount(order, amount);
      if (money instanceof Problem) return refusalOf(money);
      if (action !== "capture" && action !== "return")
        return previewDecision(order, action, { caller, advance });
      const begun = previewOf(order, action, money, caller.now);
      const whole = mostOf(order, action);
      const most = viewMoney(whole);
      if (begun instanceof Failure) {
        return { isAllowed: false, why: describeRefusal(begun, whole), code: begun.code, most };
      }
      return { isAllowed: true, of: begun.kind, amount: viewMoney(begun.amount), most };
    },
    "POST /orders/capture/:order": move("order capture"),
    "POST /orders/return/:order": move("order return"),
    "POST /orders/ask/:order": decide("doubt ask"),
    "POST /orders/settle/:order": decide("doubt settle"),
  } satisfies Partial<Handlers>;
}

type MoveInput = Api["POST /orders/capture/:order"]["input"];
type DecideInput = Api["POST /orders/ask/:order"]["input"] &
  Partial<Api["POST /orders/settle/:order"]["input"]>;

const movedOn = new PortalRefusal(409, "moved_on", "The order has moved on. Look at it again.");
