/**
 * The cells of the transition tables and other situations: which of them a simulation has reached,
 * and which no simulation can reach, with the reason.
 */
import type { OrderEvent } from "../../gateway/orders/events.ts";
import type { Transaction } from "../../gateway/orders/order.ts";
import type { Stage } from "../../gateway/orders/stages.ts";
import { anyStage, beginnings, tables } from "../../gateway/orders/transitions.ts";

/** Situations that the tables do not show, and that must be reached too. */
const situations = [
  "an approval is committed after its lease",
  "a host gets a message about a charge of another",
] as const;

const cellsOfTables = Object.entries(tables).flatMap(([kind, table]) =>
  Object.entries(table).flatMap(([stage, row]) =>
    Object.keys(row).map((event) => `${kind} ${stage} ${event}`),
  ),
);
const cellsOfAnyStage = Object.keys(anyStage).map((event) => `any stage ${event}`);
export const allCells: readonly string[] = [...cellsOfTables, ...cellsOfAnyStage, ...situations];

const charges = ["sale", "preauth", "account-verification"];
const begun = [...charges, "payout"];

/** Cells that no order of the simulation reaches, with the reason. */
// biome-ignore format: a table
const unreachableRows: readonly (readonly [kinds: readonly string[], place: string, reason: string])[] = [
  [begun,                    "filtering expired",         "screening is folded into the commit that owes it: no order rests here"],
  [charges,                  "authorizing expired",       "an order in this stage owes its charge, and no deadline decides about that"],
  [charges,                  "inquiring asked_again",     "an operator decides while an order rests between two tries, and an inquiry has no second try"],
  [charges,                  "inquiring settled_as_done", "an operator decides while an order rests between two tries, and an inquiry has no second try"],
  [charges,                  "inquiring settled_as_not_done", "an operator decides while an order rests between two tries, and an inquiry has no second try"],
  [["any stage"],            "charged_back",              "no acquirer of the simulation reports a dispute"],
  [["any stage"],            "dispute_decided",           "no acquirer of the simulation reports a dispute"],
  [["any stage"],            "page_closed",               "only a restored installation closes pages"],
  [["account-verification"], "filtering filtered_out",    "no limit and no rule of the simulation judges a payment of nothing"],
  [["payout"],               "filtering filtered_out",    "no rule of the simulation blocks a payment, and the limit is one of charges"],
  [["account-verification"], "authorizing amount_refused", "it has no other amounts to try"],
  [["account-verification"], "authorizing amount_in_doubt", "it has no other amounts to try"],
  [["account-verification"], "reversing amount_reversed", "it has no other amounts to try"],
];

export const unreachable: ReadonlyMap<string, string> = new Map(
  unreachableRows.flatMap(([kinds, place, reason]) =>
    kinds.map((kind) => [`${kind} ${place}`, reason] as const),
  ),
);

export function makeCellWatch() {
  const stages = new Map<string, Stage>();
  /** The reached cells, with the order that reached each first. */
  const reached = new Map<string, string>();
  return {
    reached,
    meet(situation: (typeof situations)[number], orderId: string): void {
      if (!reached.has(situation)) reached.set(situation, orderId);
    },
    /** Follows the events of a commit from the previous stage. */
    onCommit(orderId: string, transaction: Transaction, events: readonly OrderEvent[]): void {
      const { kind, serialNumber, stage } = transaction;
      let from = stages.get(serialNumber) ?? beginnings[kind].stage;
      for (const event of events) {
        const cell = tables[kind][from]?.[event.kind];
        const isOfAny = anyStage[event.kind] !== undefined;
        if (cell === undefined && !isOfAny) continue;
        const name = `${isOfAny ? "any stage" : `${kind} ${from}`} ${event.kind}`;
        if (!reached.has(name)) reached.set(name, orderId);
        from = cell?.stage ?? from;
      }
      stages.set(serialNumber, stage);
    },
  };
}
