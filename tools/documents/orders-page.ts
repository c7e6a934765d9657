/** The page of the order's life: the transition table as a drawing and as a table. */
import type { OpenStage } from "../../gateway/orders/deadlines.ts";
import { carriedEffects, immediateEffects, plannedEffects } from "../../gateway/orders/effects.ts";
import type { EventKind } from "../../gateway/orders/events.ts";
import type { Stage } from "../../gateway/orders/order.ts";
import {
  type Cell,
  isFinal,
  sale,
  type TransitionTable,
} from "../../gateway/orders/transitions.ts";
import { type SettingName, settings } from "../../gateway/settings.ts";
import { statusOf, wireStageOf } from "../../gateway/views/stages.ts";
import { fence, list, mono, page, sentence, table } from "./markdown.ts";
import { effectMeanings, eventMeanings, stageMeanings } from "./order-words.ts";

export function renderOrdersPage(): string {
  return page(
    "gateway/orders/transitions.ts",
    "Orders",
    "An order changes in exactly one place, by meeting an event. The table of its transaction " +
      "says what an event means in a stage: the next stage, and the effect that is owed then. An " +
      "event without a cell is refused and changes nothing.",
    "## A sale",
    fence("mermaid", drawing(sale)),
    "### Stages",
    table(["Stage", "Meaning", "Seen by merchants as", "Deadline"], stagesOf(sale).map(stageRow)),
    "A deadline is set when a stage is entered. It is kept while events lead back to the same " +
      "stage, and begins again when it has passed and the order is still in the stage.",
    "### Transitions",
    table(
      ["Stage", "Event", "Next stage", "Effect owed"],
      cellsOf(sale).map(({ stage, kind, cell }) => [
        mono(stage),
        mono(kind),
        cell.stage === stage ? "the same" : mono(cell.stage),
        cell.effect === undefined ? "" : mono(cell.effect),
      ]),
    ),
    "### Events",
    table(["Event", "What has happened"], eventsOf(sale).map(eventRow)),
    "Beside these, every order begins with `received`, `claimed` says that a node has taken the " +
      "order over from one that went silent, and `noted` keeps what came too late to matter.",
    "### Effects",
    list(
      "An immediate effect is decided from memory, and what comes of it is committed together " +
        "with the step that owes it.",
      "A carried effect waits for somebody else. It is owed in the order's row, so that any node " +
        "can take it up when the one that had it goes silent.",
      ...(plannedEffects.length > 0
        ? ["A planned effect is named by the table already; nothing is done for it so far."]
        : []),
    ),
    table(["Effect", "Kind", "What is done"], effectRows()),
    unansweredReversals(),
  );
}

/** Which setting says how long a stage may last, as the engine is wired. */
const deadlineSettings = {
  filtering: "processingDeadlineMs",
  authenticating: "processingDeadlineMs",
  awaiting_method: "methodDeadlineMs",
  awaiting_challenge: "challengeDeadlineMs",
  awaiting_pares: "paresDeadlineMs",
  authorizing: "processingDeadlineMs",
  reversing: "doubtAlarmMs",
} as const satisfies Record<OpenStage, SettingName>;

export function stagesOf(transitions: TransitionTable): readonly Stage[] {
  return keysOf(transitions);
}

type NamedCell = { readonly stage: Stage; readonly kind: EventKind; readonly cell: Cell };

export function cellsOf(transitions: TransitionTable): readonly NamedCell[] {
  return stagesOf(transitions).flatMap((stage) => {
    const row = transitions[stage];
    return keysOf(row).flatMap((kind) => {
      const cell = row[kind];
      return cell === undefined ? [] : [{ stage, kind, cell }];
    });
  });
}

/** `Object.keys` forgets what the keys are; the objects here have those of their types only. */
function keysOf<Key extends string>(record: { readonly [Name in Key]?: unknown }): readonly Key[] {
  const keys: Key[] = [];
  for (const key in record) keys.push(key);
  return keys;
}

function drawing(transitions: TransitionTable): string {
  const cells = cellsOf(transitions);
  const edges = Map.groupBy(cells, ({ stage, cell }) => `${stage} --> ${cell.stage}`);
  const arrows = [...edges].map(([edge, group]) => {
    return `  ${edge} : ${group.map(({ kind }) => kind).join(", ")}`;
  });
  const ends = stagesOf(transitions).filter(isFinal);
  return [
    "stateDiagram-v2",
    "  direction LR",
    "  [*] --> filtering : received",
    ...arrows,
    ...ends.map((stage) => `  ${stage} --> [*]`),
  ].join("\n");
}

function stageRow(stage: Stage): readonly string[] {
  const seen = `${mono(statusOf(stage))}, ${mono(wireStageOf("sale", stage))}`;
  return [mono(stage), sentence(stageMeanings[stage]), seen, deadlineOf(stage)];
}

function deadlineOf(stage: Stage): string {
  for (const [open, name] of Object.entries(deadlineSettings)) {
    const { name: variable, production } = settings[name];
    if (open === stage) return `${production / 1000} s (${mono(variable)})`;
  }
  return "none: it is final";
}

function eventsOf(transitions: TransitionTable): readonly EventKind[] {
  return [...new Set(cellsOf(transitions).map(({ kind }) => kind))];
}

function eventRow(kind: EventKind): readonly string[] {
  return [mono(kind), sentence(eventMeanings[kind])];
}

function effectRows(): readonly (readonly string[])[] {
  const owed = new Set(cellsOf(sale).map(({ cell }) => cell.effect));
  const kinds = [
    ...immediateEffects.map((effect) => [effect, "immediate"] as const),
    ...carriedEffects.map((effect) => [effect, "carried"] as const),
    ...plannedEffects.map((effect) => [effect, "planned"] as const),
  ];
  return kinds
    .filter(([effect]) => owed.has(effect))
    .map(([effect, kind]) => [mono(effect), kind, sentence(effectMeanings[effect])]);
}

function unansweredReversals(): string {
  const { name, production } = settings.reversalGapsMs;
  const gaps = production.map((gapMs) => gapMs / 1000).join(", ");
  return (
    `An unanswered reversal is repeated after ${gaps} seconds (${mono(name)}), and then at ` +
    "the last of these gaps until the acquirer has answered."
  );
}
