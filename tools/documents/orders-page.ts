/** The page of the orders' lives: each transition table as a drawing and as a table. */

import type { OpenStage } from "../../gateway/orders/deadlines.ts";
import { carriedEffects, immediateEffects, writtenEffects } from "../../gateway/orders/effects.ts";
import type { EventKind } from "../../gateway/orders/events.ts";
import type { Stage, TransactionKind } from "../../gateway/orders/order.ts";
import {
  beginnings,
  type Cell,
  isFinal,
  type TransitionTable,
  tables,
} from "../../gateway/orders/transitions.ts";
import { type SettingName, settings } from "../../gateway/settings.ts";
import { statusOf, wireStageOf, wireTypeOf } from "../../gateway/views/stages.ts";
import { effectMeanings, eventMeanings, stageMeanings } from "./order-words.ts";
import { fence, list, mono, page, sentence, table } from "./text.ts";

export function renderOrdersPage(): string {
  return page(
    "gateway/orders",
    "Orders",
    "An order changes in exactly one place, by meeting an event. It begins with one transaction " +
      "(a sale, a preauthorisation or an account verification); a capture and returns may " +
      "follow, one at a time. The table of a transaction says what an event means in a stage: " +
      "the next stage, and the effect that is owed then. An event without a cell is refused and " +
      "changes nothing.",
    "A deadline is set when a stage is entered. It is kept while events lead back to the same " +
      "stage, and begins again when it has passed and the order is still in the stage.",
    ...tableSection("sale", "A sale"),
    ...likeSection("preauth", "sale", "A preauthorisation"),
    "What differs is what may follow an approval, because the money is held and not taken.",
    ...likeSection("account-verification", "sale", "An account verification"),
    "No money is asked for, so that none can be approved in part; and nothing may follow.",
    "## What may follow",
    ...followUps(),
    ...tableSection("capture", "A capture"),
    ...tableSection("reversal", "A return of money that was taken"),
    ...likeSection("cancel", "reversal", "A cancel of what is held"),
    "## Events",
    table(["Event", "What has happened"], eventRows()),
    "`claimed` and `noted` are met in every stage and leave the order in it.",
    "## Effects",
    ...effects(),
    repeats(),
  );
}

function followUps(): readonly string[] {
  return [
    table(
      ["After", "Capture", "Return"],
      [
        [
          "an approved sale",
          "no",
          "gives back what was charged: all of it, or parts until nothing is left",
        ],
        [
          "an approved preauthorisation",
          "takes what is held: all of it or a part, once; the rest of the hold ends with it",
          "a cancel: lets go of all that is held, never of a part",
        ],
        [
          "its approved capture",
          "no",
          "gives back what was captured: all of it, or parts until nothing is left",
        ],
        ["its approved cancel", "no", "no"],
        ["an approved account verification", "no", "no"],
        ["an order that is not approved", "no", "no"],
        ["a capture or return that was declined or failed", "as before it", "as before it"],
      ],
    ),
    list(
      "Only approved transactions count. A capture or return that was declined or failed leaves " +
        "the order as it was.",
      "One transaction of an order is on its way at a time. Until it has a result, no other " +
        "begins; an order that is still owed a reversal is on its way as well.",
      "A part is possible where the gate can do parts. The rest after a part is a part too.",
      "The identical request (operation, amount or its absence, comment) is a repeat while its " +
        "transaction is open or approved: it begins nothing, and gets the first acknowledgement " +
        "again. After a decline or a failure it begins a new transaction.",
      "Doubt about a capture or return is settled by repeating it: the message says that it is a " +
        "repeat, the acquirer does a repeated one once, and its answer is the result.",
    ),
  ];
}

function eventRows(): readonly (readonly string[])[] {
  const known: readonly EventKind[] = transactionKinds.flatMap((kind) =>
    cellsOf(tables[kind]).map((each) => each.kind),
  );
  const everywhere: readonly EventKind[] = ["claimed", "noted"];
  const begins: readonly EventKind[] = ["received", "capture_asked", "return_asked"];
  const kinds = [...new Set([...begins, ...known, ...everywhere])];
  return kinds.map((kind) => [mono(kind), sentence(eventMeanings[kind])]);
}

function effects(): readonly string[] {
  return [
    list(
      "An immediate effect is decided from memory, and what comes of it is committed together " +
        "with the step that owes it.",
      "A carried effect waits for somebody else. It is owed in the order's row, so that any node " +
        "can take it up when the one that had it goes silent.",
      ...(writtenEffects.length > 0
        ? ["A written effect is done by the commit itself, in the same transaction."]
        : []),
    ),
    table(["Effect", "Kind", "What is done"], effectRows()),
  ];
}

function effectRows(): readonly (readonly string[])[] {
  const owed = new Set(transactionKinds.flatMap(effectsOf));
  const kinds = [
    ...immediateEffects.map((effect) => [effect, "immediate"] as const),
    ...carriedEffects.map((effect) => [effect, "carried"] as const),
    ...writtenEffects.map((effect) => [effect, "written"] as const),
  ];
  return kinds
    .filter(([effect]) => owed.has(effect))
    .map(([effect, kind]) => [mono(effect), kind, sentence(effectMeanings[effect])]);
}

function effectsOf(kind: TransactionKind) {
  return [beginnings[kind].effect, ...cellsOf(tables[kind]).map(({ cell }) => cell.effect)];
}

function repeats(): string {
  const { name, production } = settings.reversalGapsMs;
  const gaps = production.map((gapMs) => gapMs / 1000).join(", ");
  return (
    `An unanswered reversal, capture or return is repeated after ${gaps} seconds ` +
    `(${mono(name)}), and then at the last of these gaps until the acquirer has answered.`
  );
}

/** A kind that has its own drawing. */
export function tableSection(kind: TransactionKind, title: string): readonly string[] {
  const transitions = tables[kind];
  return [
    `## ${title}`,
    fence("mermaid", drawingOf(kind)),
    table(
      ["Stage", "Meaning", "Seen by merchants as", "Deadline"],
      stagesOf(transitions).map((stage) => stageRow(kind, stage)),
    ),
    table(
      ["Stage", "Event", "Next stage", "Effect owed"],
      cellsOf(transitions).map(({ stage, kind: event, cell }) => [
        mono(stage),
        mono(event),
        cell.stage === stage ? "the same" : mono(cell.stage),
        cell.effect === undefined ? "" : mono(cell.effect),
      ]),
    ),
  ];
}

/** A kind whose table is that of another, but for what is named. */
export function likeSection(
  kind: TransactionKind,
  like: TransactionKind,
  title: string,
): readonly string[] {
  if (beginnings[kind].stage !== beginnings[like].stage) {
    throw new Error(`${kind} begins otherwise than ${like}; give it a drawing of its own.`);
  }
  const lost = cellsMissing(tables[like], tables[kind]);
  const gained = cellsMissing(tables[kind], tables[like]);
  const [stage = "approved"] = stagesOf(tables[kind]);
  const seen =
    `Merchants see ${mono(wireStageOf(kind, stage))} where it is ` +
    `${mono(wireStageOf(like, stage))} there, and the \`transaction-type\` ` +
    `${mono(wireTypeOf(kind))}.`;
  if (lost.length === 0 && gained.length === 0) {
    return [`## ${title}`, `Its table is that of ${nounOf(like)}. ${seen}`];
  }
  return [
    `## ${title}`,
    `Its table is that of ${nounOf(like)}, except for these cells. ${seen}`,
    list(...lost.map((cell) => `${nameOf(cell)} is not possible.`), ...gained.map(describe)),
  ];
}

function nounOf(kind: TransactionKind): string {
  return kind === "reversal" ? "a return" : `a ${kind}`;
}

function nameOf({ stage, kind }: NamedCell): string {
  return `${mono(kind)} in ${mono(stage)}`;
}

function describe(named: NamedCell): string {
  const { stage, effect } = named.cell;
  const owed = effect === undefined ? "" : `, and ${mono(effect)} is owed`;
  return `${nameOf(named)} leads to ${mono(stage)}${owed}.`;
}

/** Which setting says how long a stage may last, as the engine is wired. */
// biome-ignore format: a table
const deadlineSettings = {
  filtering:          "processingDeadlineMs",
  authenticating:     "processingDeadlineMs",
  awaiting_method:    "methodDeadlineMs",
  awaiting_challenge: "challengeDeadlineMs",
  awaiting_result:    "resultWaitMs",
  awaiting_return:    "resultGraceMs",
  awaiting_pares:     "paresDeadlineMs",
  authorizing:        "processingDeadlineMs",
  inquiring:          "processingDeadlineMs",
  reversing:          "doubtAlarmMs",
  capturing:          "processingDeadlineMs",
  returning:          "processingDeadlineMs",
  repeating:          "doubtAlarmMs",
} as const satisfies Record<OpenStage, SettingName>;

function stageRow(kind: TransactionKind, stage: Stage): readonly string[] {
  const seen = `${mono(statusOf(stage))}, ${mono(wireStageOf(kind, stage))}`;
  return [mono(stage), sentence(stageMeanings[stage]), seen, deadlineOf(stage)];
}

function deadlineOf(stage: Stage): string {
  for (const [open, name] of Object.entries(deadlineSettings)) {
    const { name: variable, production } = settings[name];
    if (open === stage) return `${production / 1000} s (${mono(variable)})`;
  }
  return "none: it is final";
}

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
