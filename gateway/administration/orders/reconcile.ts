/**
 * Compares the gateway's orders of a gate and a UTC day with the acquirer's settlement file, or by
 * their totals with the acquirer's host. A difference is a finding, and the history of its order
 * has it once.
 */
import type { OrderEvent } from "../../orders/events.ts";
import {
  type Difference,
  makeReconciliation,
  type Neighbour,
  type Result,
  TooManyUnmatched,
  unmatchedMax,
} from "../../reconciliation/reconcile.ts";
import {
  readSettlementFile,
  type SettlementFormat,
  settlementColumns,
  settlementWords,
} from "../../reconciliation/settlement-file.ts";
import { noteReconciled } from "../../storage/backup/installation-hold.ts";
import { findHistory } from "../../storage/orders/find-orders.ts";
import { putReconciliation } from "../../storage/portal/reconciliations.ts";
import { CsvFaults } from "../../values/csv-records.ts";
import { getCurrency } from "../../values/iso-codes.ts";
import { formatAmount, Money } from "../../values/money.ts";
import { Problem } from "../../values/problem.ts";
import { type Action, action } from "../action.ts";
import {
  type Content,
  fileOption,
  flag,
  type Given,
  onlyOnCommandLine,
  optionalFile,
  preset,
  required,
} from "../field.ts";
import { formatFields, readFormat } from "../file-format.ts";
import { findByReference, findGate } from "../find.ts";
import { makeReport, reportAtLast } from "../installation/operator-events.ts";
import { type Output, Report, readConfiguration, type Session } from "../session.ts";
import { expectOrders, readPeriod } from "./reconcile-day.ts";
import { reconcileTotals } from "./reconcile-totals.ts";

const fields = {
  file: optionalFile("file.csv", [
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
    fileOption("file.csv", [
      "the file of the day before, for the day's edge",
      "die Datei des Tages davor, für den Rand des Tages",
    ]),
  ),
  next: onlyOnCommandLine(
    fileOption("file.csv", ["the file of the day after", "die Datei des Tages danach"]),
  ),
};

export const reconcileActions: readonly Action[] = [
  action({
    name: "reconcile",
    does: [
      "compare a day of a gate with the acquirer's settlement file or its host",
      "einen Tag eines Gates mit der Abrechnungsdatei des Acquirers oder seinem Host vergleichen",
    ],
    right: "reconcile",
    mode: "record",
    duration: "minutes",
    fields,
    perform: reconcile,
  }),
];

type Options = Given<typeof fields>;
/** The files of the days before and after. */
type Neighbours = { readonly [Which in Neighbour]?: Content };

async function reconcile(session: Session, options: Options): Promise<Output> {
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
  const neighbours = { ...(previous && { previous }), ...(next && { next }) };
  const scope = { gateId: gate.id, period, findOrder: find };
  const result = await compare(session, scope, { file, neighbours, format });
  if (result instanceof Problem) return result;
  for (const difference of result.differences) await note(session, difference, options);
  await noteReconciled(session.database.query, gate.name, options.day);
  if (result.differences.length > 0) session.findings.note();
  const described = describe(result, options);
  await putReconciliation(session.database.query, "file", session.actor.who, described);
  return new Report(described, ...blocksOf(result, options));
}

type Scope = Omit<Parameters<typeof makeReconciliation>[0], "neighbours">;
type Files = {
  readonly file: Content;
  readonly neighbours: Neighbours;
  readonly format: SettlementFormat;
};

async function compare(session: Session, scope: Scope, { file, neighbours, format }: Files) {
  // Only "previous" and "next" are there.
  const given = Object.entries(neighbours) as [Neighbour, Content][];
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
    if (error instanceof CsvFaults) {
      return new Problem([...error.sentences, "Nothing was compared."].join("\n"));
    }
    if (!(error instanceof TooManyUnmatched)) throw error;
    return new Problem(
      `More than ${unmatchedMax} lines have no counterpart: is the file of this gate and day?`,
    );
  }
  return books.finish();
}

const noteKind = "settlement_difference";

/** Once: the same difference of the same day is not noted again when the command runs again. */
async function note(session: Session, difference: Difference, { gate, day }: Options) {
  const { order, kind, what, reference, here, there } = difference;
  if (order === undefined) return;
  const sides = [`here ${written(here)}`, `acquirer ${written(there)}`].join(", ");
  const detail = `${day} ${gate} ${reference} ${what}: ${kind} (${sides})`;
  const find = () => findByReference(session, reference);
  await reportAtLast(makeReport(session), find, async (met): Promise<OrderEvent | undefined> => {
    const history = await session.cells
      .stores(({ node }) => node.query)
      .call(met.merchantId, (query) => findHistory(query, met));
    const isNoted = history.some((event) => event.detail["detail"] === detail);
    return isNoted ? undefined : { kind: "noted", what: noteKind, detail };
  });
}

function written(money: Money | undefined): string {
  return money === undefined ? "nothing" : `${formatAmount(money)} ${money.currency.code}`;
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
      return {
        ...rest,
        here: here && written(here),
        there: there && written(there),
        order: order?.id,
      };
    }),
    totals: totals.map(({ currency, kind, here, there }) => {
      const sums = (side: typeof here) => ({ count: side.count, minor: String(side.minor) });
      return { currency, kind, here: sums(here), there: sums(there) };
    }),
  };
}

/** What people read: the totals and the differences, as far as there are any. */
function blocksOf(result: Result, { gate, day }: Options) {
  const { matched, awaited, offset, differences, totals } = result;
  const agrees = differences.length === 0 ? "agrees" : "differs";
  const head = {
    gate,
    day,
    result: agrees,
    matched,
    awaited,
    offset,
    differences: differences.length,
  };
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
  return [head, ...[sums, lines].filter(({ length }) => length > 0)];
}
