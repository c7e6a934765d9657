/**
 * Compares the gateway's orders of a gate and a UTC day with the acquirer's settlement file, or
 * their totals with those of the acquirer's host. A difference is noted once in its order's
 * history.
 */
import type { Gate } from "../../acquirers/gates.ts";
import { askTotals, type Balance } from "../../acquirers/iso8583-host/own-link.ts";
import type { OrderEvent } from "../../orders/events.ts";
import type { Order } from "../../orders/order.ts";
import type { DayTotals } from "../../orders/settlement-items.ts";
import {
  readSettlementFile,
  type SettlementFormat,
  settlementColumns,
  settlementWords,
} from "../../reconciliation/acquirer-file.ts";
import {
  type Difference,
  makeDayTotals,
  makeReconciliation,
  type Neighbour,
  type Period,
  type Reconciliation,
  type Result,
  TooManyUnmatched,
  unmatchedMax,
} from "../../reconciliation/reconcile.ts";
import { noteReconciled } from "../../storage/backup/installation-hold.ts";
import { findHistory } from "../../storage/orders/find-orders.ts";
import { putReconciliation, readOrdersSettled } from "../../storage/portal/reconciliations.ts";
import { getCurrency } from "../../values/iso-codes.ts";
import { formatAmount, Money, printMoney } from "../../values/money.ts";
import { Problem } from "../../values/problem.ts";
import { asInstant, hours, minutes, parseDate, systemClock } from "../../values/time.ts";
import { type Action, action } from "../action.ts";
import {
  type Content,
  flag,
  type Given,
  lastWord,
  onlyOnCommandLine,
  option,
  preset,
  required,
} from "../field.ts";
import { formatFields, readFormat } from "../file-format.ts";
import { findByReference, findGate, queriesOf } from "../find.ts";
import { makeReport, reportToLatest } from "../installation/operator-events.ts";
import { refuseFaults } from "../readers.ts";
import { type Output, Report, readConfiguration, type Session } from "../session.ts";

const fields = {
  file: lastWord("file", "file.csv", [
    "the acquirer's settlement file of the day",
    "die Abrechnungsdatei des Acquirers für den Tag",
  ]),
  gate: required("gate", "name", ["the gate", "das Gate"]),
  day: required("day", "YYYY-MM-DD", ["the day, in UTC", "der Tag, in UTC"]),
  totals: flag([
    "ask the acquirer's host whether the day's totals agree; without a file",
    "den Host des Acquirers fragen, ob die Summen des Tages stimmen; ohne Datei",
  ]),
  ...formatFields([
    "the file's own words for each kind, like PURCHASE=sale",
    "Wörter der Datei für jede Art, wie PURCHASE=sale",
  ]),
  window: preset("duration", "duration", "15m", [
    "how far a line may be from its day, like 15m or 2h",
    "wie weit eine Zeile vom Tag entfernt sein darf, wie 15m oder 2h",
  ]),
  previous: onlyOnCommandLine(
    option("file", "file.csv", ["the file of the day before, for the day's edge"]),
  ),
  next: onlyOnCommandLine(option("file", "file.csv", ["the file of the day after"])),
};

export const reconcileActions: readonly Action[] = [
  action("record", "reconcile", {
    name: "reconcile",
    does: [
      "compare a day of a gate with the acquirer's settlement file or its host",
      "einen Tag eines Gates mit der Abrechnungsdatei des Acquirers oder seinem Host vergleichen",
    ],
    duration: "minutes",
    fields,
    async perform(session, options) {
      const { file, previous, next, totals = false } = options;
      const gate = findGate(await readConfiguration(session), options.gate);
      if (gate instanceof Problem) return gate;
      const period = readPeriod(options);
      if (period instanceof Problem) return period;
      if ((file === undefined) !== totals) {
        return new Problem("Give the acquirer's settlement file, or totals to ask its host.");
      }
      if (file === undefined) return reconcileTotals(session, gate, { period, day: options.day });
      const format = readFormat(options, settlementColumns, settlementWords);
      if (format instanceof Problem) return format;

      const find = (reference: string) => findByReference(session, reference);
      const neighbours = [
        ...(previous ? [["previous", previous] as const] : []),
        ...(next ? [["next", next] as const] : []),
      ];
      const scope = { gateId: gate.id, period, findOrder: find };
      const result = await compare(session, scope, { file, neighbours, format });
      if (result instanceof Problem) return result;
      for (const difference of result.differences) await note(session, difference, options);
      await noteReconciled(session.database.query, gate.name, options.day);
      if (result.differences.length > 0) session.findings.note();
      const described = describe(result, options);
      await putReconciliation(session.database.query, "file", session.actor.who, described);
      return new Report(described, ...blocksOf(result, options));
    },
  }),
];

type Options = Given<typeof fields>;

type Scope = Omit<Parameters<typeof makeReconciliation>[0], "neighbours">;
type Files = {
  readonly file: Content;
  /** The settlement files of the days before and after, which may list an order near midnight. */
  readonly neighbours: readonly (readonly [Neighbour, Content])[];
  readonly format: SettlementFormat;
};

async function compare(session: Session, scope: Scope, { file, neighbours: given, format }: Files) {
  const books = makeReconciliation({ ...scope, neighbours: given.map(([which]) => which) });
  await expectOrders(session, scope.period, books);
  try {
    const lines = session.progress("lines");
    let count = 0;
    for await (const line of readSettlementFile(file.open(), format)) {
      count += 1;
      books.take(line);
      lines(count);
    }
    for (const [which, other] of given) {
      for await (const line of readSettlementFile(other.open(), format)) {
        books.takeNeighbour(line, which);
      }
    }
  } catch (error) {
    if (!(error instanceof TooManyUnmatched)) return refuseFaults("Nothing was compared.")(error);
    return new Problem(
      `More than ${unmatchedMax} lines have no counterpart: is the file of this gate and day?`,
    );
  }
  return books.finish();
}

const noteKind = "settlement_difference";

/** A second run for the same day does not note a difference again. */
async function note(session: Session, difference: Difference, { gate, day }: Options) {
  const { order, kind, what, reference, here, there } = difference;
  if (order === undefined) return;
  const sides = [`here ${written(here)}`, `acquirer ${written(there)}`].join(", ");
  const detail = `${day} ${gate} ${reference} ${what}: ${kind} (${sides})`;
  const find = () => findByReference(session, reference);
  // A difference in the books is noted in the history of the order. The merchant gets no callback.
  const report = makeReport(session, () => undefined);
  await reportToLatest(report, find, async (met): Promise<OrderEvent | undefined> => {
    const history = await queriesOf(session).call(met.merchantId, (query) =>
      findHistory(query, met),
    );
    const isNoted = history.some((event) => event.detail["detail"] === detail);
    return isNoted ? undefined : { kind: "noted", what: noteKind, detail };
  });
}

function written(money: Money | undefined): string {
  return money === undefined ? "nothing" : printMoney(money);
}

function describe(result: Result, { gate, day }: Options) {
  const { matched, awaited, offset, differences, totals } = result;
  return {
    gate,
    day,
    agrees: differences.length === 0,
    matched,
    awaited,
    offset,
    differences: differences.map(({ here, there, order, ...rest }) => {
      const sides = { here: here && written(here), there: there && written(there) };
      return { ...rest, ...sides, order: order?.id };
    }),
    totals: totals.map(({ currency, kind, here, there }) => {
      const sums = (side: typeof here) => ({ count: side.count, minor: String(side.minor) });
      return { currency, kind, here: sums(here), there: sums(there) };
    }),
  };
}

function blocksOf(result: Result, { gate, day }: Options) {
  const { matched, awaited, offset, differences, totals } = result;
  const agrees = differences.length === 0 ? "agrees" : "differs";
  const counts = { matched, awaited, offset, differences: differences.length };
  const sums = totals.map(({ currency, kind, here, there }) => ({
    currency,
    kind,
    "count here": here.count,
    "count there": there.count,
    "sum here": formatAmount(new Money(here.minor, getCurrency(currency))),
    "sum there": formatAmount(new Money(there.minor, getCurrency(currency))),
  }));
  const lines = differences.map(({ kind, reference, what, here, there, line, order }) => ({
    difference: kind,
    reference,
    kind: what,
    here: written(here),
    there: written(there),
    line: line ?? "",
    order: order?.id ?? "",
  }));
  return [
    { gate, day, result: agrees, ...counts },
    ...[sums, lines].filter(({ length }) => length > 0),
  ];
}

const windowMaxMs = hours(12);

function readPeriod({ day, window }: Options): Period | Problem {
  const from = /^\d{4}-\d\d-\d\d$/.test(day) ? parseDate(`${day}T00:00:00Z`) : undefined;
  if (from === undefined) return new Problem("day is a date like 2030-01-31.");
  const [, count = "", unit] = /^(\d{1,4})([mh])$/.exec(window) ?? [];
  const windowMs = unit === "h" ? hours(Number(count)) : minutes(Number(count));
  if (unit === undefined || windowMs > windowMaxMs) {
    return new Problem("window is a duration of up to 12 hours, like 15m or 2h.");
  }
  return { from, until: asInstant(from + hours(24)), windowMs };
}

/** Reads every order that may have moved money in the period. */
async function expectOrders(
  { cells, progress: makeProgress }: Pick<Session, "cells" | "progress">,
  { from, until, windowMs }: Period,
  books: Pick<Reconciliation, "expect">,
): Promise<void> {
  const progress = makeProgress("orders");
  let count = 0;
  const period = { from: asInstant(from - windowMs), until: asInstant(until + windowMs) };
  const take = (order: Order) => {
    count += 1;
    books.expect(order);
    progress(count);
  };
  // Without the orders of an unreachable cell, the command would report false differences.
  await cells.stores(({ node }) => node).inTurn((cell) => readOrdersSettled(cell, period, take));
}

type Asked = { readonly period: Period; readonly day: string };

async function reconcileTotals(
  session: Session,
  gate: Gate,
  { period, day }: Asked,
): Promise<Output> {
  const totals = await readTotals(session, gate, { ...period, windowMs: 0 });
  if (totals.length === 0) {
    return new Problem(
      `Nothing moved through ${gate.name} on ${day}, and it sums no currencies to ask about.`,
    );
  }
  const { answerTimeoutMs } = session.config;
  const options = { clock: systemClock, answerTimeoutMs };
  const balances = await askTotals(gate, { day: period.from, totals }, options);
  if (balances instanceof Problem) return balances;
  await noteReconciled(session.database.query, gate.name, day);
  const agrees = balances.every((balance) => balance === "in balance");
  if (!agrees) session.findings.note();
  const described = totals.map((each, at) => describeTotals(each, balances[at]));
  const result = { gate: gate.name, day, agrees, totals: described };
  await putReconciliation(session.database.query, "totals", session.actor.who, result);
  const word = agrees ? "in balance" : "out of balance";
  const rows = totals.map((each, at) => showTotals(each, balances[at]));
  return new Report(result, { gate: gate.name, day, result: word }, rows);
}

async function readTotals(session: Session, gate: Gate, period: Period) {
  const books = makeDayTotals(gate.id, period);
  await expectOrders(session, period, books);
  return books.totals(gate.settings.currencies);
}

const sums = ["debits", "debitReversals", "credits"] as const;

function describeTotals(totals: DayTotals, balance: Balance | undefined) {
  const described = sums.map((name) => {
    const { count, minor } = totals[name];
    return [name, { count, minor: String(minor) }];
  });
  return { currency: totals.currency.code, balance, ...Object.fromEntries(described) };
}

function showTotals({ currency, debits, debitReversals, credits }: DayTotals, result?: Balance) {
  const amount = (minor: bigint) => formatAmount(new Money(minor, currency));
  return {
    currency: currency.code,
    debits: debits.count,
    sum: amount(debits.minor),
    reversals: debitReversals.count,
    "sum reversed": amount(debitReversals.minor),
    refunds: credits.count,
    "sum refunded": amount(credits.minor),
    result,
  };
}
