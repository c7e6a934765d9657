/** The day that is reconciled, and what the gateway's orders expect of it. */
import type { Order } from "../../orders/order.ts";
import type { Period, Reconciliation } from "../../reconciliation/reconcile.ts";
import { readOrdersSettled } from "../../storage/portal/chargebacks.ts";
import { Problem } from "../../values/problem.ts";
import { asInstant, hours, minutes, parseDate } from "../../values/time.ts";
import type { Session } from "../session.ts";

export type DayOptions = {
  readonly gate: string;
  readonly day: string;
  readonly window: string;
};

const windowMaxMs = hours(12);

export function readPeriod({ day, window }: DayOptions): Period | Problem {
  const from = /^\d{4}-\d\d-\d\d$/.test(day) ? parseDate(`${day}T00:00:00Z`) : undefined;
  if (from === undefined) return new Problem("day is a date like 2030-01-31.");
  const [, count = "", unit] = /^(\d{1,4})([mh])$/.exec(window) ?? [];
  const windowMs = unit === "h" ? hours(Number(count)) : minutes(Number(count));
  if (unit === undefined || windowMs > windowMaxMs) {
    return new Problem("window is a duration of up to 12 hours, like 15m or 2h.");
  }
  return { from, until: asInstant(from + hours(24)), windowMs };
}

/** Reads every order that may have moved money in the period. */
export async function expectOrders(
  { cells, progress: makeProgress }: Pick<Session, "cells" | "progress">,
  { from, until, windowMs }: Period,
  books: Pick<Reconciliation, "expect">,
): Promise<void> {
  const progress = makeProgress("orders");
  let count = 0;
  const period = { from: asInstant(from - windowMs), until: asInstant(until + windowMs) };
  const take = (order: Order) => {
    count += 1;
    books.expect(order);
    progress(count);
  };
  // A day without the orders of one cell would be a wrong day: a cell that is away ends it.
  await cells.stores(({ node }) => node).inTurn((cell) => readOrdersSettled(cell, period, take));
}
