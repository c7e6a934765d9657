/**
 * `gw reconcile`: compares the gateway's orders of a gate and a UTC day with the acquirer's
 * settlement file, or by their totals with the acquirer's host. Ends with 0 when they agree, with 1
 * when they differ, with 2 when they could not be compared. A difference is noted once in the
 * history of its order.
 */
import { type Command, Option } from "commander";
import type { OrderEvent } from "../orders/events.ts";
import {
  type Difference,
  makeReconciliation,
  type Neighbour,
  type Result,
  TooManyUnmatched,
  unmatchedMax,
} from "../reconciliation/reconcile.ts";
import {
  readSettlementFile,
  type SettlementFormat,
  settlementColumns,
  settlementWords,
} from "../reconciliation/settlement-file.ts";
import { findHistory } from "../storage/find-orders.ts";
import { noteReconciled } from "../storage/installation-hold.ts";
import { putReconciliation } from "../storage/reconciliations.ts";
import { CsvFaults } from "../values/csv-records.ts";
import { getCurrency } from "../values/iso-codes.ts";
import { formatAmount, Money } from "../values/money.ts";
import { Problem } from "../values/problem.ts";
import { makeReport, reportAtLast } from "../wiring/operator-events.ts";
import { type Output, print, type Session, setAction } from "./command.ts";
import { findGate } from "./gate.ts";
import { type FormatOptions, findFileProblem, formatOptions, readFormat } from "./input-file.ts";
import { readConfiguration } from "./installation.ts";
import { findByReference } from "./order.ts";
import { type DayOptions, expectOrders, readPeriod } from "./reconcile-day.ts";
import { reconcileTotals } from "./reconcile-totals.ts";
import { makeProgress } from "./terminal.ts";

type Options = FormatOptions & DayOptions & { readonly totals?: boolean } & Neighbours;

type Neighbours = { readonly [Which in Neighbour]?: string };

export function addReconcile(command: Command): void {
  command.argument("[file.csv]", "the acquirer's settlement file of the day");
  setAction(command, reconcile, [
    new Option("--gate <name>", "the gate").makeOptionMandatory(),
    new Option("--day <YYYY-MM-DD>", "the day, in UTC").makeOptionMandatory(),
    new Option(
      "--totals",
      "ask the acquirer's host whether the day's totals agree; without a file",
    ),
    ...formatOptions("kind"),
    new Option("--window <duration>", "how far a line may be from its day, like 15m or 2h").default(
      "15m",
    ),
    new Option("--previous <file.csv>", "the file of the day before, for the day's edge"),
    new Option("--next <file.csv>", "the file of the day after"),
  ]);
}

async function reconcile(
  session: Session,
  file: string | undefined,
  options: Options,
): Promise<Output> {
  const gate = findGate(options.gate, await readConfiguration(session));
  if (gate instanceof Problem) return gate;
  const period = readPeriod(options);
  if (period instanceof Problem) return period;
  if ((file === undefined) !== (options.totals === true)) {
    return new Problem("Give the acquirer's settlement file, or --totals to ask its host.");
  }
  if (file === undefined) return reconcileTotals(session, gate, { period, day: options.day });
  const format = readFormat(options, settlementColumns, settlementWords);
  if (format instanceof Problem) return format;
  const { previous, next } = options;
  for (const each of [file, previous, next]) {
    const problem = each === undefined ? undefined : await findFileProblem(each);
    if (problem !== undefined) return problem;
  }

  const findOrder = (reference: string) => findByReference(session, reference);
  const neighbours = { ...(previous && { previous }), ...(next && { next }) };
  const scope = { gateId: gate.id, period, findOrder };
  const result = await compare(session, scope, { file, neighbours, format });
  if (result instanceof Problem) return result;
  for (const difference of result.differences) await note(session, difference, options);
  await noteReconciled(session.database.query, gate.name, options.day);
  if (result.differences.length > 0) session.findings.tell();
  const described = describe(result, options);
  await putReconciliation(session.database.query, "file", session.actor.who, described);
  if (session.json) return described;
  printReport(result, options);
  return undefined;
}

type Scope = Omit<Parameters<typeof makeReconciliation>[0], "neighbours">;
type Files = {
  readonly file: string;
  readonly neighbours: Neighbours;
  readonly format: SettlementFormat;
};

async function compare(session: Session, scope: Scope, files: Files) {
  // Only "previous" and "next" are there.
  const given = Object.entries(files.neighbours) as [Neighbour, string][];
  const books = makeReconciliation({ ...scope, neighbours: given.map(([which]) => which) });
  await expectOrders(session, scope.period, books);
  try {
    const lines = makeProgress("lines");
    let count = 0;
    for await (const line of readSettlementFile(session.input.open(files.file), files.format)) {
      count += 1;
      books.take(line);
      lines(count);
    }
    for (const [which, file] of given) {
      for await (const line of readSettlementFile(session.input.open(file), files.format)) {
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
    ...{ gate, day, agrees: differences.length === 0, matched, awaited, offset },
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

function printReport(result: Result, { gate, day }: Options): void {
  const { matched, awaited, offset, differences, totals } = result;
  const agrees = differences.length === 0 ? "agrees" : "differs";
  print({ gate, day, result: agrees, matched, awaited, offset, differences: differences.length });
  printBlock(
    totals.map(({ currency, kind, here, there }) => ({
      ...{ currency, kind, "count here": here.count, "count there": there.count },
      "sum here": formatAmount(new Money(here.minor, getCurrency(currency))),
      "sum there": formatAmount(new Money(there.minor, getCurrency(currency))),
    })),
  );
  printBlock(
    differences.map(({ kind, reference, what, here, there, line, order }) => ({
      ...{ difference: kind, reference, kind: what, here: written(here), there: written(there) },
      ...{ line: line ?? "", order: order?.id ?? "" },
    })),
  );
}

function printBlock(rows: readonly Readonly<Record<string, unknown>>[]): void {
  if (rows.length === 0) return;
  process.stdout.write("\n");
  print(rows);
}
