/**
 * The decision: an order meets an event and becomes the next order, or refuses. Pure; nothing is
 * read and nothing is written here. Immediate effects are folded in, so that one commit holds every
 * step that waits for nobody.
 */
import { Failure } from "../values/failure.ts";
import { receiverOf, type SerialNumber } from "../values/ids.ts";
import { type Instant, later } from "../values/time.ts";
import { claimableAfterMs, type Deadlines, stageLimitMs } from "./deadlines.ts";
import { type Effect, type ImmediateEffect, isExternal, isImmediate } from "./effects.ts";
import type { OrderEvent } from "./events.ts";
import { applyFacts } from "./facts.ts";
import type { Order } from "./order.ts";
import { followUp } from "./transactions.ts";
import { beginnings, isFinal, tables } from "./transitions.ts";

export type Step = {
  /** The version that the order must still have when the step is committed. */
  readonly from: number;
  readonly order: Order;
  readonly events: readonly OrderEvent[];
  readonly at: Instant;
  /** What the merchant is owed to be told by this step, and where. */
  readonly callback?: OwedCallback;
};

export type OwedCallback = {
  readonly url: string;
  /** Whose places it takes. */
  readonly receiver: string;
  /** The transaction's place in its order. */
  readonly sequence: number;
  readonly serialNumber: SerialNumber;
};

export type Advance = (order: Order, event: OrderEvent, at: Instant) => Step | Failure;
export type ImmediateHandlers = Readonly<Record<ImmediateEffect, (order: Order) => OrderEvent>>;

export function makeAdvance(deadlines: Deadlines, handlers: ImmediateHandlers): Advance {
  return (order, event, at) => {
    if (event.kind === "noted") return note(order, event, at);

    const events: OrderEvent[] = [event];
    let met = meet(order, event, at);
    while (!(met instanceof Failure) && met.effect !== undefined && isImmediate(met.effect)) {
      const consequence = handlers[met.effect](met.order);
      events.push(consequence);
      met = meet(met.order, consequence, at);
    }
    if (met instanceof Failure) return met;

    const last = events.at(-1) ?? event;
    const deadlineAt = nextDeadline(order, met.order, last, at);
    const next = { ...met.order, deadlineAt, owed: owedFor(met, last, at) };
    const step = { from: order.version, order: next, events, at };
    const callback = met.effect === "notify_merchant" ? callbackOf(next) : undefined;
    return callback === undefined ? step : { ...step, callback };
  };

  function owedFor({ order, effect }: Met, last: OrderEvent, at: Instant) {
    if (effect === undefined || !isExternal(effect)) return undefined;
    // Whoever tells an operator's wish may be no node: the first that looks shall take it up.
    if (last.kind === "asked_again") return { effect, claimableAt: at };
    // What went unanswered rests until its gap is over; all else is in the hands of this node.
    if (!isUnanswered(last)) return { effect, claimableAt: later(at, deadlines.leaseMs) };
    const gapMs = claimableAfterMs(deadlines, order.transaction.tries);
    return { effect, claimableAt: later(at, gapMs), resting: true as const };
  }

  /** Set anew when the stage changes and when it has passed; else the order's time goes on. */
  function nextDeadline(before: Order, after: Order, last: OrderEvent, at: Instant) {
    const limitMs = stageLimitMs(deadlines, after.transaction.stage);
    if (limitMs === undefined) return undefined;
    const entered = before.transaction.stage !== after.transaction.stage;
    const renewed = entered || last.kind === "expired" || before.deadlineAt === undefined;
    return renewed ? later(at, limitMs) : before.deadlineAt;
  }
}

/** The order rests now until its next try. */
export function isUnanswered({ kind }: OrderEvent): boolean {
  return kind === "reversal_unanswered" || kind === "repeat_unanswered";
}

/** What the bank may say any moment must not be settled over its head. */
function isSettlement({ kind }: OrderEvent): boolean {
  return kind === "settled_as_done" || kind === "settled_as_not_done";
}

type Met = { readonly order: Order; readonly effect: Effect | undefined };

function meet(order: Order, event: OrderEvent, at: Instant): Met | Failure {
  const { transaction } = order;
  const version = order.version + 1;
  if (event.kind === "received") {
    return { order: { ...order, version }, effect: beginnings[transaction.kind].effect };
  }
  if (event.kind === "claimed") return { order: { ...order, version }, effect: order.owed?.effect };
  if (event.kind === "capture_asked" || event.kind === "return_asked") {
    const next = followUp(order, event, at);
    if (next instanceof Failure) return next;
    const earlier = [...order.earlier, transaction];
    const { effect } = beginnings[next.kind];
    return { order: { ...order, version, earlier, transaction: next }, effect };
  }

  if (isSettlement(event) && order.owed?.resting !== true) {
    return new Failure("not_allowed_now", "", `${event.kind} while the bank is being asked`);
  }
  const cell = tables[transaction.kind][transaction.stage]?.[event.kind];
  if (cell === undefined) {
    return new Failure("not_allowed_now", "", `${event.kind} in stage ${transaction.stage}`);
  }
  const finishedAt = isFinal(cell.stage) ? (transaction.finishedAt ?? at) : undefined;
  const facts = applyFacts(order, event, at);
  return {
    order: {
      ...order,
      version,
      transaction: { ...transaction, ...facts, stage: cell.stage, finishedAt },
    },
    effect: cell.effect,
  };
}

/** The first transaction is told to one address, and later ones to another. */
function callbackOf({ purchase, transaction, earlier }: Order): OwedCallback | undefined {
  const { serverCallback, notify } = purchase.urls;
  const url = earlier.length === 0 ? (serverCallback ?? notify) : notify;
  if (url === undefined) return undefined;
  const { serialNumber } = transaction;
  return { url, receiver: receiverOf(url), sequence: earlier.length + 1, serialNumber };
}

/** A note changes nothing but the history. */
function note(order: Order, event: OrderEvent, at: Instant): Step {
  return {
    from: order.version,
    order: { ...order, version: order.version + 1 },
    events: [event],
    at,
  };
}
