/**
 * Events that a command reports to an order. The command runs no effects: a node finds the order
 * due, and sends the callback. An event is decided about the order as the command has read it.
 */
import { userName } from "../config/config.ts";
import { makeAdvance } from "../orders/advance.ts";
import { type ApplyDependencies, makeApply } from "../orders/apply.ts";
import type { OrderEvent } from "../orders/events.ts";
import type { Order } from "../orders/order.ts";
import { makeCommit } from "../storage/commit.ts";
import { readDatabaseTime } from "../storage/database-clock.ts";
import { makeFixedName } from "../storage/presence.ts";
import type { Failure } from "../values/failure.ts";
import { deadlinesOf } from "../wiring/engine.ts";
import type { Session } from "./command.ts";

/** Reported instead of an order that another event has changed since it was read. */
export const stale = new Error("the order has moved on");

export type OperatorReport = (
  order: Order,
  event: OrderEvent,
) => Promise<Order | Failure | typeof stale>;

export function makeReport({
  config,
  cells,
  database,
}: Pick<Session, "config" | "cells" | "database">): OperatorReport {
  const options = { retryMs: config.acceptRetryMs, callbackLeaseMs: 0 };
  const name = makeFixedName(`gw-${userName()}`);
  const stores = cells.stores(({ node }) => makeCommit(node.query, name, options));
  const steps: Omit<ApplyDependencies, "clock"> = {
    advance: makeAdvance(deadlinesOf(config), { screen: unexpected, look_up_3ds: unexpected }),
    commit: (step) =>
      stores.call(step.order.merchantId, (commit, isAgain) => commit(step, isAgain)),
    load: () => Promise.reject(stale),
  };
  return async (order, event) => {
    const now = await readDatabaseTime(database.query);
    const apply = makeApply({ ...steps, clock: { now: () => now } });
    return apply(order, event).catch((error) => {
      if (error !== stale) throw error;
      return stale;
    });
  };
}

function unexpected(): never {
  throw new Error("an operator's event leads to no immediate effect");
}

const triesMax = 20;

/** Reports an event that is right for the order in any state, as that state is at the moment. */
export async function reportAtLast(
  report: OperatorReport,
  find: () => Promise<Order | undefined>,
  eventFor: (order: Order) => Promise<OrderEvent | undefined>,
): Promise<Order | Failure | undefined> {
  for (let tries = 0; tries < triesMax; tries += 1) {
    const order = await find();
    const event = order && (await eventFor(order));
    if (order === undefined || event === undefined) return order;
    const reported = await report(order, event);
    if (!(reported instanceof Error)) return reported;
  }
  throw new Error("the order changes all the time");
}
