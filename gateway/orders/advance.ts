/**
 * The decision: an order meets an event and becomes the next order, or refuses. Pure; nothing is
 * read and nothing is written here. Immediate effects are folded in, so that one commit holds every
 * step that waits for nobody.
 */
import { Failure } from "../values/failure.ts";
import { type Instant, later } from "../values/time.ts";
import { claimableAfterMs, type Deadlines, stageLimitMs } from "./deadlines.ts";
import { type Effect, type ImmediateEffect, isCarried, isImmediate } from "./effects.ts";
import type { OrderEvent } from "./events.ts";
import { learn } from "./learn.ts";
import type { Order, TransactionKind } from "./order.ts";
import { isFinal, sale, type TransitionTable } from "./transitions.ts";

export type Step = {
  /** The version that the order must still have when the step is committed. */
  readonly from: number;
  readonly order: Order;
  readonly events: readonly OrderEvent[];
  readonly at: Instant;
};

export type Advance = (order: Order, event: OrderEvent, at: Instant) => Step | Failure;
export type ImmediateDoers = Readonly<Record<ImmediateEffect, (order: Order) => OrderEvent>>;

export const tables: Readonly<Record<TransactionKind, TransitionTable>> = { sale };

export function makeAdvance(deadlines: Deadlines, doers: ImmediateDoers): Advance {
  return (order, event, at) => {
    if (event.kind === "noted") return note(order, event, at);

    const events: OrderEvent[] = [event];
    let met = meet(order, event, at);
    while (!(met instanceof Failure) && met.effect !== undefined && isImmediate(met.effect)) {
      const consequence = doers[met.effect](met.order);
      events.push(consequence);
      met = meet(met.order, consequence, at);
    }
    if (met instanceof Failure) return met;

    const last = events.at(-1) ?? event;
    const deadlineAt = nextDeadline(order, met.order, last, at);
    const next = { ...met.order, deadlineAt, owed: owedFor(met, last, at) };
    return { from: order.version, order: next, events, at };
  };

  function owedFor({ order, effect }: Met, last: OrderEvent, at: Instant) {
    if (effect === undefined || !isCarried(effect)) return undefined;
    // An unanswered reversal rests until its gap is over; all else is in the hands of this node.
    const waits = last.kind === "reversal_unanswered";
    const tries = waits ? order.transaction.reversalTries : 0;
    return { effect, claimableAt: later(at, claimableAfterMs(deadlines, tries)) };
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

type Met = { readonly order: Order; readonly effect: Effect | undefined };

function meet(order: Order, event: OrderEvent, at: Instant): Met | Failure {
  const { transaction } = order;
  const version = order.version + 1;
  if (event.kind === "received") return { order: { ...order, version }, effect: "screen" };
  if (event.kind === "claimed") return { order: { ...order, version }, effect: order.owed?.effect };

  const cell = tables[transaction.kind][transaction.stage][event.kind];
  if (cell === undefined) {
    return new Failure("not_allowed_now", "", `${event.kind} in stage ${transaction.stage}`);
  }
  const finishedAt = isFinal(cell.stage) ? (transaction.finishedAt ?? at) : undefined;
  const learnt = learn(order, event, at);
  return {
    order: {
      ...order,
      version,
      card: event.kind === "wallet_opened" ? event.card : order.card,
      transaction: { ...transaction, ...learnt, stage: cell.stage, finishedAt },
    },
    effect: cell.effect,
  };
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
