/** The sections of the orders page about one kind of transaction each. */
import type { OpenStage } from "../../gateway/orders/deadlines.ts";
import type { Stage, TransactionKind } from "../../gateway/orders/order.ts";
import { beginnings, tables } from "../../gateway/orders/transitions.ts";
import { type SettingName, settings } from "../../gateway/settings.ts";
import { statusOf, wireStageOf, wireTypeOf } from "../../gateway/views/stages.ts";
import { fence, list, mono, sentence, table } from "./markdown.ts";
import { stageMeanings } from "./order-words.ts";
import { cellsMissing, cellsOf, drawingOf, type NamedCell, stagesOf } from "./transition-tables.ts";

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
