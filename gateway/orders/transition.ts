/** What transition tables are made of: stages down, events across, what follows in the cells. */
import type { Effect } from "./effects.ts";
import type { EventKind } from "./events.ts";

export type Stage =
  | "filtering"
  | "authenticating"
  | "awaiting_method"
  | "awaiting_challenge"
  | "awaiting_result"
  | "awaiting_return"
  | "awaiting_pares"
  | "authorizing"
  | "inquiring"
  | "reversing"
  | "capturing"
  | "returning"
  | "repeating"
  | "approved"
  | "declined"
  | "filtered"
  | "error";

export type Cell = { readonly stage: Stage; readonly effect: Effect | undefined };
export type Row = { readonly [Kind in EventKind]?: Cell };
/** The stages of one kind of transaction; a stage without a cell for an event refuses it. */
export type TransitionTable = { readonly [Where in Stage]?: Row };

export function to(stage: Stage, effect?: Effect): Cell {
  return { stage, effect };
}

const finalStages: ReadonlySet<Stage> = new Set<Stage>([
  "approved",
  "declined",
  "filtered",
  "error",
]);

export function isFinal(stage: Stage): boolean {
  return finalStages.has(stage);
}

/** Nothing happens until the cardholder's browser has done something. */
const stagesForCardholder: ReadonlySet<Stage> = new Set<Stage>([
  "awaiting_method",
  "awaiting_challenge",
  "awaiting_pares",
]);

export function waitsForCardholder(stage: Stage): boolean {
  return stagesForCardholder.has(stage);
}

/** The bank may have done it or not, and is being asked. */
export const stagesInDoubt: readonly Stage[] = ["inquiring", "reversing", "repeating"];
