/** Walks past orders of a cell in a period, for trials of rules. */
import type { Order } from "../../orders/order.ts";
import { listOrders, listOrderTimes, type OrderTime } from "../../storage/orders/find-orders.ts";
import type { OrderId } from "../../values/ids.ts";
import { Problem } from "../../values/problem.ts";
import { asInstant, hours, type Instant, later } from "../../values/time.ts";
import { type Given, option } from "../field.ts";
import { readInstant } from "../readers.ts";
import type { Session } from "../session.ts";

const pageRows = 20_000;
const portionRows = 1_000;
const usualDays = 30;
/**
 * The largest difference between the acceptance times of two orders whose ids are in the wrong
 * sequence: a node with few orders may use low ids of its own block long after other nodes have
 * used higher ones.
 */
const blockLifeMs = hours(24) * 90;

export const periodFields = {
  since: option("moment", "moment", [
    `from then on; else the last ${usualDays} days`,
    `von da an; sonst die letzten ${usualDays} Tage`,
  ]),
  until: option("moment", "moment", ["before then", "davor"]),
};

export type TriedPeriod = { readonly since: Instant; readonly until: Instant };

export async function readPeriod(
  session: Session,
  { since, until }: Given<typeof periodFields>,
): Promise<TriedPeriod | Problem> {
  const now = await session.now();
  const [from, to] = [readInstant(since), readInstant(until)];
  if (from instanceof Problem) return from;
  if (to instanceof Problem) return to;
  return {
    since: from ?? later(now, -hours(24) * usualDays),
    until: to ?? asInstant(Number.POSITIVE_INFINITY),
  };
}

/** Reads orders in the sequence of their acceptance, with only ids and times in memory. */
export async function* walkOrders(
  { cells, progress: makeProgress }: Pick<Session, "cells" | "progress">,
  cell: string,
  { since, until }: TriedPeriod,
): AsyncGenerator<Order> {
  const { query } = cells.databasesOf(cell).node;
  const times: OrderTime[] = [];
  const progress = makeProgress("orders found");
  let before: OrderId | undefined;
  for (let isDone = false; !isDone; ) {
    const page = await listOrderTimes(query, before, pageRows);
    for (const each of page) if (each.at >= since && each.at < until) times.push(each);
    progress(times.length);
    isDone = page.every(({ at }) => at < since - blockLifeMs);
    before = page.at(-1)?.id;
  }
  times.sort((one, other) => one.at - other.at || (BigInt(one.id) < BigInt(other.id) ? -1 : 1));
  for (let at = 0; at < times.length; at += portionRows) {
    yield* await listOrders(
      query,
      times.slice(at, at + portionRows).map(({ id }) => id),
    );
  }
}
