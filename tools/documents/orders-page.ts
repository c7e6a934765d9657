/**
 * Renders the page of the orders from `templates/orders.md`: each transition table as a drawing and
 * as a table. A stage, event or effect without a description here does not compile.
 */

import { isDeepStrictEqual } from "node:util";
import { type SettingName, settings } from "../../gateway/config/settings.ts";
import type { EventKind } from "../../gateway/orders/events.ts";
import type { Stage, TransactionKind } from "../../gateway/orders/order.ts";
import type { OpenStage } from "../../gateway/orders/stages.ts";
import {
  type Effect,
  externalEffects,
  immediateEffects,
  isFinal,
  outboxEffects,
} from "../../gateway/orders/stages.ts";
import {
  type AnyStageCell,
  anyStage,
  beginningOnPage,
  beginnings,
  type Cell,
  type FirstCell,
  type TransitionTable,
  tables,
  tablesWithTriesLeft,
  whileOwingPrior,
} from "../../gateway/orders/transitions.ts";
import { statusOf, wireStageOf, wireTypeOf } from "../../gateway/views/status.ts";
import { fence, mono, renderTemplate, sentence, table } from "./text.ts";

export function renderOrdersPage(): string {
  return renderTemplate("orders", "gateway/orders", {
    sale: wholeTable("sale"),
    "tries-left": table(
      ["Stage", "Event", "Next stage", "Effect"],
      cellsMissing(tablesWithTriesLeft.sale, tables.sale).map(printCell),
    ),
    preauth: differences("preauth", "sale", "a sale"),
    "account-verification": differences("account-verification", "sale", "a sale"),
    payout: wholeTable("payout"),
    capture: wholeTable("capture"),
    refund: wholeTable("refund"),
    cancel: differences("cancel", "refund", "a return"),
    void: wholeTable("void"),
    "any-stage": table(["Stage", "Event", "Next stage", "Effect"], anyStageRows()),
    events: table(["Event", "What happened"], eventRows()),
    effects: table(["Effect", "Kind", "What is done"], effectRows()),
  });
}

function printCell({ stage, kind, cell }: NamedCell): readonly string[] {
  const next = cell.stage === stage ? "the same" : mono(cell.stage);
  return [mono(stage), mono(kind), next, cell.effects.map(mono).join(", ")];
}

/** Renders a kind of transaction that has its own drawing. */
function wholeTable(kind: TransactionKind): string {
  const transitions = tables[kind];
  const stages = stagesOf(transitions).map((stage) => [
    mono(stage),
    sentence(meaningOf(stage, kind)),
    `${mono(statusOf(stage))}, ${mono(wireStageOf(kind, stage))}`,
    deadlineOf(stage),
  ]);
  const begun = beginningsOf(kind).map(({ on, event, stage, effects }) => [
    `none yet${on}`,
    mono(event),
    mono(stage),
    effects.map(mono).join(", "),
  ]);
  const cells = [...begun, ...cellsOf(transitions).map(printCell)];
  return [
    fence("mermaid", drawingOf(kind)),
    table(["Stage", "Meaning", "Seen by merchants as", "Deadline"], stages),
    table(["Stage", "Event", "Next stage", "Effect"], cells),
  ].join("\n\n");
}

/** Renders a kind whose table equals that of another kind, except for the listed cells. */
function differences(kind: TransactionKind, like: TransactionKind, noun: string): string {
  if (beginnings[kind].stage !== beginnings[like].stage) {
    throw new Error(`${kind} does not begin like ${like}: it needs its own drawing.`);
  }
  const [stage = "approved"] = stagesOf(tables[kind]);
  const lines = [
    ...cellsMissing(tables[like], tables[kind]).map((cell) => `- ${nameOf(cell)} is not possible.`),
    ...cellsMissing(tables[kind], tables[like]).map(describe),
  ];
  const [seen, instead] = [wireStageOf(kind, stage), wireStageOf(like, stage)].map(mono);
  const text =
    `The table is that of ${noun}${lines.length > 0 ? ", except for these cells" : ""}. ` +
    `Merchants see ${seen} instead of ${instead}, and the \`transaction-type\` ` +
    `${mono(wireTypeOf(kind))}.`;
  return [text, ...(lines.length > 0 ? [lines.join("\n")] : [])].join("\n\n");
}

function nameOf({ stage, kind }: NamedCell): string {
  return `${mono(kind)} in ${mono(stage)}`;
}

function describe(named: NamedCell): string {
  const { stage, effects } = named.cell;
  const then = effects.length === 0 ? "" : `, with the effect ${effects.map(mono).join(" and ")}`;
  return `- ${nameOf(named)} leads to ${mono(stage)}${then}.`;
}

function drawingOf(kind: TransactionKind): string {
  const cells = cellsOf(tables[kind]);
  const edges = Map.groupBy(cells, ({ stage, cell }) => `${stage} --> ${cell.stage}`);
  return [
    "stateDiagram-v2",
    "  direction LR",
    ...beginningsOf(kind).map(({ on, stage, event }) => `  [*] --> ${stage} : ${event}${on}`),
    ...[...edges].map(
      ([edge, group]) => `  ${edge} : ${group.map((each) => each.kind).join(", ")}`,
    ),
    ...stagesOf(tables[kind])
      .filter(isFinal)
      .map((stage) => `  ${stage} --> [*]`),
  ].join("\n");
}

/**
 * Returns the first cells of a kind, with a note for those that do not begin on the merchant
 * interface.
 */
function beginningsOf(kind: TransactionKind): readonly (FirstCell & { readonly on: string })[] {
  const onPage = { ...beginningOnPage, on: " on the payment page" };
  return [{ ...beginnings[kind], on: "" }, ...(tables[kind].awaiting_card ? [onPage] : [])];
}

function anyStageRows(): readonly (readonly string[])[] {
  const rows = (cells: typeof anyStage, condition = "") =>
    keysOf(cells).flatMap((kind) => {
      const cell = cells[kind];
      if (cell === undefined) return [];
      const effects = [owedMeanings[cell.owes], ...cell.effects.map(mono)];
      return [[`${cell.in}${condition}`, mono(kind), "the same", effects.join(", ")]];
    });
  return [...rows(anyStage), ...rows(whileOwingPrior, ", while `reverse_prior` is owed")];
}

function eventRows(): readonly (readonly string[])[] {
  const inTables = transactionKinds.flatMap((kind) =>
    cellsOf(tables[kind]).map((each) => each.kind),
  );
  const first = transactionKinds.map((kind) => beginnings[kind].event);
  const kinds = new Set<EventKind>([...first, ...inTables, ...keysOf(anyStage)]);
  return [...kinds].map((kind) => [mono(kind), sentence(eventMeanings[kind])]);
}

function effectRows(): readonly (readonly string[])[] {
  const used = new Set(
    transactionKinds.flatMap((kind) => [
      ...beginnings[kind].effects,
      ...cellsOf(tables[kind]).flatMap(({ cell }) => cell.effects),
      "reverse_prior" as const,
    ]),
  );
  const rows = (effects: readonly Effect[], kind: string) =>
    effects
      .filter((effect) => used.has(effect))
      .map((effect) => [mono(effect), kind, sentence(effectMeanings[effect])]);
  return [
    ...rows(immediateEffects, "immediate"),
    ...rows(externalEffects, "asynchronous"),
    ...rows(outboxEffects, "written"),
  ];
}

/** The kinds of transactions in the order of the tables: kinds that begin an order come first. */
export const transactionKinds: readonly TransactionKind[] = keysOf(tables);

export function stagesOf(transitions: TransitionTable): readonly Stage[] {
  return keysOf(transitions);
}

type NamedCell = { readonly stage: Stage; readonly kind: EventKind; readonly cell: Cell };

function cellsOf(transitions: TransitionTable): readonly NamedCell[] {
  return stagesOf(transitions).flatMap((stage) => {
    const row = transitions[stage] ?? {};
    return keysOf(row).flatMap((kind) => {
      const cell = row[kind];
      return cell === undefined ? [] : [{ stage, kind, cell }];
    });
  });
}

/** Returns the cells of one table that are missing or different in the other. */
function cellsMissing(one: TransitionTable, other: TransitionTable): readonly NamedCell[] {
  return cellsOf(one).filter(({ stage, kind, cell }) => {
    const counterpart = other[stage]?.[kind];
    return !isDeepStrictEqual(counterpart, cell);
  });
}

/** `Object.keys` with the type of the keys. The objects have no keys beyond their types. */
function keysOf<Key extends string>(record: { readonly [Name in Key]?: unknown }): readonly Key[] {
  const keys: Key[] = [];
  for (const key in record) keys.push(key);
  return keys;
}

function deadlineOf(stage: Stage): string {
  for (const [open, name] of Object.entries(deadlineSettings)) {
    const { name: variable, production } = settings[name];
    if (open === stage) return `${production / 1000} s (${mono(variable)})`;
  }
  return "none: the stage is final";
}

/** The setting of each stage's deadline. It must agree with the wiring of the engine. */
const deadlineSettings = {
  awaiting_card: "paymentPageLifeMs",
  filtering: "processingDeadlineMs",
  authenticating: "processingDeadlineMs",
  awaiting_method: "methodDeadlineMs",
  awaiting_challenge: "challengeDeadlineMs",
  awaiting_result: "resultWaitMs",
  awaiting_return: "resultGraceMs",
  awaiting_pares: "paresDeadlineMs",
  authorizing: "processingDeadlineMs",
  inquiring: "processingDeadlineMs",
  reversing: "doubtAlarmMs",
  capturing: "processingDeadlineMs",
  returning: "processingDeadlineMs",
  paying: "processingDeadlineMs",
  repeating: "doubtAlarmMs",
} as const satisfies Record<OpenStage, SettingName>;

/** Returns the meaning of a stage in a transaction of the kind. */
function meaningOf(stage: Stage, kind: TransactionKind): string {
  const { name, approved } = kindMeanings[kind];
  if (stage === "approved") return approved;
  const isCharge = tables[kind].filtering !== undefined;
  const meaning = (isCharge ? undefined : followUpMeanings[stage]) ?? stageMeanings[stage];
  return meaning.replace("the transaction", `the ${name}`);
}

type KindMeaning = { readonly name: string; readonly approved: string };

// biome-ignore format: a table
const kindMeanings: Readonly<Record<TransactionKind, KindMeaning>> = {
  sale:                   { name: "charge",  approved: "the money is taken" },
  preauth:                { name: "charge",  approved: "the money is held" },
  "account-verification": { name: "charge",  approved: "the card is verified" },
  payout:                 { name: "payout",  approved: "the card is credited" },
  capture:                { name: "capture", approved: "the held money is taken" },
  refund:                 { name: "return",  approved: "the money is refunded" },
  cancel:                 { name: "cancel",  approved: "the held money is released" },
  void:                   { name: "void",    approved: "the charge is taken back" },
};

/** The meanings of stages that a charge and a follow-up share under the same name. */
const followUpMeanings: Readonly<Partial<Record<Stage, string>>> = {
  declined: "refused by the acquirer",
  error: "failed, and nothing was done",
};

const stageMeanings: Readonly<Record<Exclude<Stage, "approved">, string>> = {
  awaiting_card: "the payment page waits for a card; nothing is sent",
  filtering: "accepted; the gateway's own checks run",
  authenticating: "3-D Secure is under way between the gateway and the directory server",
  awaiting_method: "waits for the result of the method frame in the cardholder's browser",
  awaiting_challenge: "waits for the cardholder to complete the challenge",
  awaiting_result:
    "the browser is back from the challenge; waits for the directory server's result",
  awaiting_return: "the challenge was passed; waits briefly for the browser to come back",
  awaiting_pares: "waits for the issuer's answer by 3-D Secure 1.0.2",
  authorizing: "the charge may have been sent to the acquirer",
  inquiring: "the charge is in doubt, and the gateway inquires at the acquirer",
  reversing: "the charge is in doubt, or not wanted, and is being reversed",
  capturing: "the capture may have been sent to the acquirer",
  returning: "the transaction may have been sent to the acquirer",
  paying: "the payout may have been sent to the acquirer",
  repeating:
    "the transaction is in doubt, and is repeated, or asked about, until the acquirer answers",
  declined:
    "refused by the issuer or the acquirer, by 3-D Secure or because of the wallet's payment data",
  filtered: "refused by the gateway's own checks",
  error: "failed; nothing was done, or it has been reversed",
};

const owedMeanings: Readonly<Record<AnyStageCell["owes"], string>> = {
  "as before": "as before",
  renewed: "the effect that is owed, by the claiming node",
  reverse_prior: "`reverse_prior`",
};

// biome-ignore format: a table
const eventMeanings: Readonly<Record<EventKind, string>> = {
  received:              "the merchant's request was accepted",
  card_entered:          "the cardholder has entered a card on the payment page, or paid with a wallet",
  page_closed:           "an installation was released after a restore: the payment page takes no further card",
  wallet_refused:        "the wallet's payment data is not valid",
  cleared:               "the checks passed, and the endpoint does no 3-D Secure",
  cleared_for_3ds:       "the checks passed, and 3-D Secure comes next",
  filtered_out:          "a check refused the order",

  method_requested:      "the issuer requires its method frame to be loaded",
  authentication_due:    "the issuer requires no method frame; the authentication request is due",
  enrolment_due:         "the card may be enrolled in 3-D Secure 1.0.2; the enrolment request is due",
  method_uploaded:       "the method frame was loaded, or the merchant reports that it was not",
  challenge_requested:   "the issuer requires a challenge",
  challenge_passed:      "the directory server reports that the challenge was passed",
  challenge_returned:    "the cardholder's browser came back from the challenge",
  pareq_requested:       "the issuer requires authentication by 3-D Secure 1.0.2",
  authenticated:         "the cardholder was authenticated, or an attempt is proved",
  left_unauthenticated:  "authentication is not possible, and the endpoint continues without it",
  authentication_failed: "the cardholder was not authenticated, and the order must not continue",
  authentication_demanded: "soft decline: the acquirer requires a challenge; this happens once",

  authorized:            "the acquirer approved",
  refused:               "the acquirer declined",
  refused_in_doubt:      "the acquirer declined with a code that says that the charge may yet be done; the merchant is notified, and the charge is reversed",
  amount_in_doubt:       "the acquirer declined one amount of a list with such a code; the next amount is tried when the reversal is proved",
  rerouted:              "no link to the acquirer, nothing was sent, and the order moves to another gate",
  amount_refused:        "the acquirer declined this amount, and the next amount of the list is tried",
  amount_reversed:       "this amount is proved not to be charged, and the next amount of the list is tried",
  gate_unavailable:      "no gate accepts the order, or no link to the acquirer; nothing was sent",
  outcome_unknown:       "the acquirer did not answer and may have performed the request",
  outcome_in_question:   "the acquirer did not answer and may have charged; it supports inquiries",
  charge_not_found:      "the answer to the inquiry does not confirm an approved charge",
  approved_in_part:      "the acquirer approved less than requested, and the endpoint requires the full amount",
  approval_refused:      "the acquirer approved, and a rule forbids it because of the issuer's result for address or CVV",
  approved_late:         "an approval arrived after the gateway stopped waiting for it",
  reversed:              "the acquirer reversed the charge, or confirmed that it never had it",
  part_reversed:         "the acquirer reversed an approval that the gateway refuses, or a charge that it declined in doubt, or never had it",
  reversal_unanswered:   "the acquirer did not answer the reversal",
  reversal_refused:      "the acquirer refused the reversal: the charge may stand, and the operator is alerted",
  original_not_found:    "the acquirer does not know the charge to reverse, or the payout; a later answer has to confirm it",

  prior_approved_late:   "an approval arrived for an earlier amount or try, after the order had moved on",
  prior_reversed:        "the acquirer reversed that charge, or never had it",
  prior_unreversed:      "the reversal of that charge was refused or not answered",

  capture_asked:         "the merchant requests a capture, and its transaction begins",
  return_asked:          "the merchant requests a return, and its transaction begins",
  void_asked:            "the merchant requests a void, and its transaction begins",
  captured:              "the acquirer captured the held amount",
  returned:              "the acquirer refunded the money, released the hold or took the charge back",
  paid_out:              "the acquirer has paid the money out",
  proved_unpaid:         "the acquirer has said again, after the time for answers, that it does not know the payout",
  repeat_unanswered:     "the acquirer did not answer the repeated capture, return, payout or void, or the inquiry about a payout",
  repeat_refused:        "the acquirer refused the message because it is a repeat: the first one may have been booked, and the operator is alerted",

  charged_back:          "the acquirer reported a stage of a chargeback; no transaction changes",
  dispute_decided:       "a user accepted or contested a dispute, with a reason",
  operator_alerted:      "the operator was alerted to an order in doubt",
  asked_again:           "an operator requests an inquiry or repeat now",
  settled_as_done:       "an operator confirms with the acquirer that it was done",
  settled_as_not_done:   "an operator confirms with the acquirer that it was not done",

  expired:               "the stage's deadline passed",
  claimed:               "a node claimed the order from a node whose lease expired",
  noted:                 "a fact arrived that no longer changes the order",
};

const effectMeanings: Readonly<Record<Effect, string>> = {
  screen: "runs the gateway's own checks",
  look_up_3ds: "looks up whether and how the card is enrolled in 3-D Secure",
  authorize: "sends the charge to the acquirer",
  inquire: "asks the acquirer once for the outcome of the charge",
  reverse: "reverses the charge at the acquirer, repeated until that is proved",
  reverse_prior:
    "reverses a late approval of an earlier amount or try, repeated until that is proved",
  capture: "sends the capture to the acquirer, in doubt repeated until it answers",
  refund: "sends the return to the acquirer, in doubt repeated until it answers",
  pay_out:
    "sends the payout to the acquirer once; in doubt, inquires about it or repeats it as a repeat",
  alert_operator: "alerts the operator",
  authenticate: "sends the authentication request to the directory server",
  ask_enrolment: "asks the directory server of 1.0.2 whether the card is enrolled",
  notify_merchant: "sends the merchant the result",
};
