/** `gw tail`: every committed step of the orders of a filter is a line, until Ctrl-C. */
import { setTimeout as pause } from "node:timers/promises";
import type { Command } from "commander";
import { makeDescribeOrder, orderFilters, readOrderFilter } from "../administration/order-list.ts";
import { findOrderVersions, listOrders } from "../storage/find-orders.ts";
import type { OrderId } from "../values/ids.ts";
import { Problem } from "../values/problem.ts";
import { optionsOf, writeLine } from "./action-commands.ts";
import { type Output, type Session, setAction, untilStopSignal } from "./command.ts";

const lookEveryMs = 1_000;
/** Nodes take ids from blocks of a thousand: the latest orders of five nodes are among these. */
const latestRows = 5_000;

export function addTail(command: Command): void {
  const options = Object.entries(orderFilters).flatMap(([name, field]) => optionsOf(name, field));
  setAction(command, tail, options);
}

type Given = Parameters<typeof readOrderFilter>[1];

async function tail(session: Session, given: Given): Promise<Output> {
  const chosen = await readOrderFilter(session, given);
  if (chosen instanceof Problem) return chosen;
  const describe = await makeDescribeOrder(session);
  /** By cell, the orders of the last look alone: none comes back among the latest. */
  const seen = new Map<string, ReadonlyMap<string, number>>();
  const stopped = untilStopSignal().then(() => true as const);
  for (;;) {
    for (const name of session.cells.names()) {
      const { query } = session.cells.databasesOf(name).node;
      const rows = await findOrderVersions(query, latestRows);
      const known = seen.get(name);
      seen.set(name, new Map(rows.map(({ id, version }) => [id, version])));
      if (known === undefined) continue;
      const fresh = rows.filter(({ id, version }) => known.get(id) !== version);
      const ids = fresh.map(({ id }) => id as OrderId);
      const orders = await listOrders(query, ids);
      for (const order of orders.filter(chosen.matches)) {
        await printStep(describe(order), session.json);
      }
    }
    if ((await Promise.race([stopped, pause(lookEveryMs, false)])) === true) return undefined;
  }
}

function printStep(line: Readonly<Record<string, unknown>>, json: boolean): Promise<void> {
  const { time, merchant, orderId, clientOrderId, amount, cardMask, stage, status } = line;
  const values = [time, merchant, orderId, clientOrderId, amount, cardMask, stage, status];
  return writeLine(json ? JSON.stringify(line) : values.join("  "));
}
