/**
 * `gw chargeback`: records the acquirer's chargebacks on their orders, each stage of a case once.
 * An import ends with 0 when every line is recorded, with 1 when a line is not, with 2 when the
 * file cannot be read.
 */
import { randomUUIDv7 } from "node:crypto";
import { type Command, Option } from "commander";
import { findRecorded } from "../orders/chargebacks.ts";
import type { OrderEvent } from "../orders/events.ts";
import { chargebackStages, type Order } from "../orders/order.ts";
import { initialOf } from "../orders/transactions.ts";
import {
  type ChargebackLine,
  chargebackColumns,
  readChargebackFile,
} from "../reconciliation/chargeback-file.ts";
import { indexChargeback, listChargebacks } from "../storage/chargebacks.ts";
import type { Configuration } from "../storage/configuration.ts";
import { readDatabaseTime } from "../storage/database-clock.ts";
import { CsvFaults } from "../values/csv-records.ts";
import { Failure } from "../values/failure.ts";
import { asSerialNumber } from "../values/ids.ts";
import { getCurrency } from "../values/iso-codes.ts";
import { formatAmount, isSameMoney, Money } from "../values/money.ts";
import { Problem } from "../values/problem.ts";
import { asInstant, parseDate } from "../values/time.ts";
import { makeReport, type OperatorReport, reportAtLast } from "../wiring/operator-events.ts";
import { addCommands, type Output, type Session } from "./command.ts";
import { type FormatOptions, findFileProblem, formatOptions, readFormat } from "./input-file.ts";
import { readConfiguration } from "./installation.ts";
import { findByReference } from "./order.ts";

const listedMax = 1_000;

export function addChargebackCommands(chargeback: Command): void {
  const since = new Option("--since <YYYY-MM-DD>", "only those from this day on");
  // biome-ignore format: a table
  addCommands(chargeback, [
    ["import <file.csv>", "record the chargebacks of the acquirer's file on their orders", importFile, formatOptions("stage")],
    ["list",              "list recorded chargebacks, the latest first",                   list, [since]],
  ]);
}

async function importFile(session: Session, file: string, options: FormatOptions) {
  const format = readFormat(options, chargebackColumns, chargebackStages);
  if (format instanceof Problem) return format;
  const problem = await findFileProblem(file);
  if (problem !== undefined) return problem;
  const lines = await readChargebackFile(session.input.open(file), format).catch((error) => {
    if (!(error instanceof CsvFaults)) throw error;
    return new Problem([...error.sentences, "Nothing was recorded."].join("\n"));
  });
  if (lines instanceof Problem) return lines;

  const configuration = await readConfiguration(session);
  const report = makeReport(session);
  const results = [];
  for (const line of lines) {
    const result = await record({ session, configuration, report }, line);
    results.push({ line: line.line, case: line.chargeback.caseId, ...result });
  }
  const isBad = ({ result }: { result: string }) => result !== "recorded" && result !== "known";
  if (results.some(isBad)) session.findings.tell();
  if (session.json || results.length > 0) return results;
  return "The file has no chargebacks.";
}

type Place = {
  readonly session: Session;
  readonly configuration: Configuration;
  readonly report: OperatorReport;
};

async function record({ session, configuration, report }: Place, line: ChargebackLine) {
  const { reference } = line;
  const serialNumber = asSerialNumber(randomUUIDv7());
  const chargeback = { ...line.chargeback, serialNumber };
  const { stage } = chargeback;
  const stores = session.cells.stores(({ node }) => node.query);
  let earlier: Order | undefined;
  const find = async () => {
    const order = await findByReference(session, reference);
    // A capture or a reversal has the reference of its charge; a refund has its own.
    return order && initialOf(order).identifiers?.reference === reference ? order : undefined;
  };
  const eventFor = async (order: Order): Promise<OrderEvent | undefined> => {
    earlier = findRecorded(order, chargeback) === undefined ? undefined : order;
    const endpoint = configuration.endpoints.get(order.endpointId);
    const notify = endpoint?.settings.tellsChargebacks === true;
    return earlier === undefined ? { kind: "charged_back", chargeback, notify } : undefined;
  };
  const order = await reportAtLast(report, find, eventFor);
  if (order === undefined) return { stage, order: "", result: "no such order" };
  if (order instanceof Failure) return { stage, order: "", result: order.message };
  const recorded = findRecorded(order, chargeback) ?? chargeback;
  // Also when it is known: a crash may have come between the order and this row.
  const now = await readDatabaseTime(session.database.query);
  await stores.call(order.merchantId, (query) => indexChargeback(query, order, recorded, now));
  const isSame = isSameMoney(recorded.amount, chargeback.amount);
  const known = isSame ? "known" : "recorded before with another amount";
  return { stage, order: order.id, result: earlier === undefined ? "recorded" : known };
}

async function list(session: Session, options: { readonly since?: string }): Promise<Output> {
  const { since } = options;
  const from = since === undefined ? asInstant(0) : parseDate(`${since}T00:00:00Z`);
  if (from === undefined) return new Problem("--since is a date like 2030-01-31.");
  const stores = session.cells.stores(({ node }) => node.query);
  const found = await stores.each((query) => listChargebacks(query, from, listedMax));
  const latestFirst = found.flat().toSorted((one, other) => other.at.localeCompare(one.at));
  const rows = latestFirst.slice(0, listedMax);
  if (rows.length === 0 && !session.json) return "There are no chargebacks.";
  return rows.map(({ amount, currency, ...row }) => ({
    order: row.order_id,
    case: row.case_id,
    stage: row.stage,
    amount: `${formatAmount(new Money(BigInt(amount), getCurrency(currency)))} ${currency}`,
    reason: row.reason,
    at: row.at,
  }));
}
