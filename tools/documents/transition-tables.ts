/** Transition tables taken apart for the documents: their stages, cells, drawings, differences. */
import type { EventKind } from "../../gateway/orders/events.ts";
import type { Stage, TransactionKind } from "../../gateway/orders/order.ts";
import {
  beginnings,
  type Cell,
  isFinal,
  type TransitionTable,
  tables,
} from "../../gateway/orders/transitions.ts";

/** In the order of the tables: what begins an order first. */
export const transactionKinds: readonly TransactionKind[] = keysOf(tables);

export function stagesOf(transitions: TransitionTable): readonly Stage[] {
  return keysOf(transitions);
}

export type NamedCell = { readonly stage: Stage; readonly kind: EventKind; readonly cell: Cell };

export function cellsOf(transitions: TransitionTable): readonly NamedCell[] {
  return stagesOf(transitions).flatMap((stage) => {
    const row = transitions[stage] ?? {};
    return keysOf(row).flatMap((kind) => {
      const cell = row[kind];
      return cell === undefined ? [] : [{ stage, kind, cell }];
    });
  });
}

/** What a transaction of this kind begins with. */
export function firstEventOf(kind: TransactionKind): EventKind {
  if (kind === "capture") return "capture_asked";
  return kind === "reversal" || kind === "cancel" ? "return_asked" : "received";
}

export function drawingOf(kind: TransactionKind): string {
  const cells = cellsOf(tables[kind]);
  const edges = Map.groupBy(cells, ({ stage, cell }) => `${stage} --> ${cell.stage}`);
  const arrows = [...edges].map(([edge, group]) => {
    return `  ${edge} : ${group.map((each) => each.kind).join(", ")}`;
  });
  const ends = stagesOf(tables[kind]).filter(isFinal);
  return [
    "stateDiagram-v2",
    "  direction LR",
    `  [*] --> ${beginnings[kind].stage} : ${firstEventOf(kind)}`,
    ...arrows,
    ...ends.map((stage) => `  ${stage} --> [*]`),
  ].join("\n");
}

/** The cells of the one that the other has not, or has otherwise. */
export function cellsMissing(one: TransitionTable, other: TransitionTable): readonly NamedCell[] {
  return cellsOf(one).filter(({ stage, kind, cell }) => {
    const counterpart = other[stage]?.[kind];
    return counterpart?.stage !== cell.stage || counterpart.effect !== cell.effect;
  });
}

/** `Object.keys` forgets what the keys are; the objects here have those of their types only. */
function keysOf<Key extends string>(record: { readonly [Name in Key]?: unknown }): readonly Key[] {
  const keys: Key[] = [];
  for (const key in record) keys.push(key);
  return keys;
}
