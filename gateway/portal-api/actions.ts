/**
 * What a user does to orders: capture, return, settle doubt.
 * Each is previewed by the same function that decides it, needs a reason, and is in the audit with
 * it. A form that is sent again begins nothing new: it is answered with the same transaction.
 */
import type { Advance } from "../orders/advance.ts";
import type { OperatorEvent } from "../orders/events.ts";
import type { FollowUpTerms, Order } from "../orders/order.ts";
import type { Accepted } from "../orders/requests.ts";
import { totalsOf } from "../orders/transactions.ts";
import { Failure, failures } from "../values/failure.ts";
import { formatAmount, isZero, type Money, parseAmount } from "../values/money.ts";
import { Problem } from "../values/problem.ts";
import type { Handlers } from "./api.ts";
import { previewDecision } from "./doubt.ts";
import { type OrderOptions, previewOf } from "./orders.ts";
import { type Caller, notFound, PortalRefusal } from "./route.ts";
import { type ApprovalOptions, isLargeReturn, needSecondPerson } from "./second-person.ts";
import { viewMoney } from "./shapes.ts";

export type ActionOptions = OrderOptions &
  ApprovalOptions & {
    /** Through the engine, as the merchant's own request would go. */
    readonly followUp: (order: Order, terms: FollowUpTerms) => Promise<MovedMoney | Failure>;
    readonly decideDoubt: (order: Order, event: OperatorEvent) => Promise<Order | Problem>;
    /** The step that `decideDoubt` would commit. */
    readonly advance: Advance;
    readonly receiptIdOf: (
      order: Order,
    ) => Extract<OperatorEvent, { kind: "settled_as_done" }>["receiptId"];
    /** An entry before the work, and one with its outcome. */
    readonly recorded: <Result>(entry: AuditedWork, work: () => Promise<Result>) => Promise<Result>;
  };

export type MovedMoney = Pick<Accepted, "transaction" | "repeated">;

export type AuditedWork = {
  readonly actor: Caller["actor"];
  readonly action: string;
  readonly subject: string;
  readonly reason: string;
  readonly after: object;
};

export function actionHandlers(options: ActionOptions) {
  const { reads } = options;
  const move = (operation: "capture" | "return") => {
    return async ({ order: id, amount, reason, once }: MoveInput, caller: Caller) => {
      const order = await reads.findOrder(id, caller.merchantId);
      if (order === undefined) return notFound;
      const money = readAmount(order, amount);
      if (money === null) return badAmount;
      if (operation === "return" && isLargeReturn(options, order)) {
        const work = `return order ${order.id} ${amount ?? "all"}`;
        const wanted = { work, right: "move_money", merchantId: order.merchantId } as const;
        const refusal = await needSecondPerson(options, caller, wanted);
        if (refusal !== undefined) return refusal;
      }
      const by = caller.account.login;
      const terms = { operation, amount: money, comment: reason, once, by };
      const entry = entryFor(caller, `portal ${operation}`, order, {
        reason,
        amount: amount ?? "all",
      });
      const moved = await options.recorded(entry, () => options.followUp(order, terms));
      if (moved instanceof Failure) return refusalOf(moved, mostOf(order, operation));
      const { stage, serialNumber } = moved.transaction;
      return { stage, serialNumber, repeated: moved.repeated };
    };
  };
  const decide = (eventFor: (order: Order, input: DecideInput, who: string) => OperatorEvent) => {
    return async (input: DecideInput, caller: Caller) => {
      const order = await reads.findOrder(input.order, caller.merchantId);
      if (order === undefined) return notFound;
      if (order.version !== input.version) return movedOn;
      if (options.secondPerson && input.outcome !== undefined) {
        const work = `doubt settle ${order.id} as ${input.outcome}`;
        const refusal = await needSecondPerson(options, caller, { work, right: "move_money" });
        if (refusal !== undefined) return refusal;
      }
      const event = eventFor(order, input, caller.account.login);
      const entry = entryFor(caller, `portal ${event.kind}`, order, { reason: input.reason });
      const decided = await options.recorded(entry, () => options.decideDoubt(order, event));
      if (decided instanceof Problem) return new PortalRefusal(409, "not_now", decided.sentence);
      return { stage: decided.transaction.stage };
    };
  };

  return {
    async "POST /orders/preview/:order"({ order: id, action, amount }, caller) {
      const order = await reads.findOrder(id, caller.merchantId);
      if (order === undefined) return notFound;
      const money = readAmount(order, amount);
      if (money === null) return badAmount;
      if (action !== "capture" && action !== "return")
        return previewDecision(order, action, { caller, advance: options.advance });
      const begun = previewOf(order, action, money, caller.now);
      const whole = mostOf(order, action);
      const most = viewMoney(whole);
      if (begun instanceof Failure) {
        return { isAllowed: false, why: describeFailure(begun, whole), code: begun.code, most };
      }
      return { isAllowed: true, of: begun.kind, amount: viewMoney(begun.amount), most };
    },
    "POST /orders/capture/:order": move("capture"),
    "POST /orders/return/:order": move("return"),
    "POST /orders/ask/:order": decide((_, { reason: why }, by) => ({
      kind: "asked_again",
      by,
      why,
    })),
    "POST /orders/settle/:order": decide((order, { reason: why, outcome }, by) =>
      outcome === "done"
        ? { kind: "settled_as_done", by, why, receiptId: options.receiptIdOf(order) }
        : { kind: "settled_as_not_done", by, why },
    ),
  } satisfies Partial<Handlers>;
}

type MoveInput = {
  readonly order: string;
  readonly amount?: string | undefined;
  readonly reason: string;
  readonly once: string;
};
type DecideInput = {
  readonly order: string;
  readonly version: number;
  readonly reason: string;
  readonly outcome?: "done" | "not-done" | undefined;
};

const badAmount = new PortalRefusal(
  400,
  "invalid_amount",
  "This is no amount in the order's currency.",
);
const movedOn = new PortalRefusal(409, "moved_on", "The order has moved on. Look at it again.");

function entryFor(
  { actor }: Caller,
  action: string,
  order: Order,
  { reason, ...after }: { readonly reason: string; readonly amount?: string },
): AuditedWork {
  return { actor, action, subject: `order ${order.id}`, reason, after };
}

/** Null for text that is none. */
function readAmount(order: Order, amount: string | undefined): Money | undefined | null {
  if (amount === undefined) return undefined;
  return parseAmount(amount, order.purchase.amount.currency) ?? null;
}

/** What can be captured, cancelled or refunded now. */
function mostOf(order: Order, operation: "capture" | "return"): Money {
  const { held, left } = totalsOf(order);
  return operation === "capture" || !isZero(held) ? held : left;
}

function refusalOf(failure: Failure, most: Money): PortalRefusal {
  if (failure.code === "storage_unavailable") {
    return new PortalRefusal(503, "unavailable", "The gateway cannot do this now. Try again.");
  }
  return new PortalRefusal(409, failure.code, describeFailure(failure, most));
}

function describeFailure({ code, detail }: Failure, most: Money): string {
  const { meaning } = failures[code];
  const sentence = meaning.slice(0, 1).toUpperCase() + meaning.slice(1);
  const why = detail === "" ? `${sentence}.` : `${sentence}: ${detail}.`;
  if (code !== "amount_out_of_range") return why;
  return `${why} At most ${formatAmount(most)} ${most.currency.code}.`;
}
