/**
 * The cells of the transition tables: which of them a simulation has reached, and which no
 * simulation can reach, with the reason.
 */
import type { OrderEvent } from "../../gateway/orders/events.ts";
import type { Transaction } from "../../gateway/orders/order.ts";
import type { Stage } from "../../gateway/orders/stages.ts";
import { beginnings, tables } from "../../gateway/orders/transitions.ts";

export const allCells: readonly string[] = Object.entries(tables).flatMap(([kind, table]) =>
  Object.entries(table).flatMap(([stage, row]) =>
    Object.keys(row).map((event) => `${kind} ${stage} ${event}`),
  ),
);

export function makeCellWatch() {
  const stages = new Map<string, Stage>();
  const reached = new Set<string>();
  return {
    reached,
    /** From the stage of the commit before, event by event. */
    onCommit({ kind, serialNumber, stage }: Transaction, events: readonly OrderEvent[]): void {
      let from = stages.get(serialNumber) ?? beginnings[kind].stage;
      for (const event of events) {
        const cell = tables[kind][from]?.[event.kind];
        if (cell === undefined) continue;
        reached.add(`${kind} ${from} ${event.kind}`);
        from = cell.stage;
      }
      stages.set(serialNumber, stage);
    },
  };
}
