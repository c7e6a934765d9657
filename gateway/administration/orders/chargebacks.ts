/**
 * Records the acquirer's chargebacks in their orders, each stage of a case once. An import has
 * findings if a line cannot be recorded.
 */
import { randomUUIDv7 } from "node:crypto";
import type { OrderEvent } from "../../orders/events.ts";
import { chargebackStages, type Order } from "../../orders/order.ts";
import { findRecorded, initialOf } from "../../orders/transactions.ts";
import {
  type ChargebackLine,
  chargebackColumns,
  readChargebackFile,
} from "../../reconciliation/acquirer-file.ts";
import type { Configuration } from "../../storage/configuration/configuration.ts";
import { indexChargeback, listChargebacks } from "../../storage/portal/reconciliations.ts";
import { Failure } from "../../values/failure.ts";
import { asSerialNumber } from "../../values/ids.ts";
import { getCurrency } from "../../values/iso-codes.ts";
import { isSameMoney, Money, printMoney } from "../../values/money.ts";
import { Problem } from "../../values/problem.ts";
import { asInstant, parseDate } from "../../values/time.ts";
import { type Action, action } from "../action.ts";
import { option, word } from "../field.ts";
import { formatFields, readFormat } from "../file-format.ts";
import { findByReference, queriesOf } from "../find.ts";
import {
  makeReport,
  type OperatorReport,
  reportToLatest,
} from "../installation/operator-events.ts";
import { refuseFaults } from "../readers.ts";
import { Report, readConfiguration, type Session } from "../session.ts";

const listedMax = 1_000;

export const chargebackActions: readonly Action[] = [
  action("record", "reconcile", {
    name: "chargeback import",
    does: [
      "record the chargebacks of the acquirer's file on their orders",
      "die Rückbelastungen aus der Datei des Acquirers bei ihren Zahlungen vermerken",
    ],
    duration: "minutes",
    fields: {
      file: word("file", "file.csv", ["the acquirer's file", "die Datei des Acquirers"]),
      ...formatFields([
        "the file's own words for each stage, like PURCHASE=sale",
        "Wörter der Datei für jede Stufe, wie CB1=first",
      ]),
    },
    async perform(session, { file: source, ...given }) {
      const format = readFormat(given, chargebackColumns, chargebackStages);
      if (format instanceof Problem) return format;
      const lines = await readChargebackFile(source.open(), format).catch(
        refuseFaults("Nothing was recorded."),
      );
      if (lines instanceof Problem) return lines;

      const configuration = await readConfiguration(session);
      const report = makeReport(session, (id) => configuration.endpoints.get(id));
      const results = [];
      for (const line of lines) {
        const result = await record({ session, configuration, report }, line);
        results.push({ line: line.line, case: line.chargeback.caseId, ...result });
      }
      const isBad = ({ result }: { result: string }) => result !== "recorded" && result !== "known";
      if (results.some(isBad)) session.findings.note();
      return results.length > 0 ? results : new Report(results, "The file has no chargebacks.");
    },
  }),
  action("look", "see_orders", {
    name: "chargeback list",
    does: [
      "list recorded chargebacks, the latest first",
      "vermerkte Rückbelastungen auflisten, die neuesten zuerst",
    ],
    fields: {
      since: option("day", "YYYY-MM-DD", ["only those from this day on", "nur die ab diesem Tag"]),
    },
    async perform(session, { since }) {
      const from = since === undefined ? asInstant(0) : parseDate(`${since}T00:00:00Z`);
      if (from === undefined) return new Problem("since is a date like 2030-01-31.");
      const found = await queriesOf(session).each((query) =>
        listChargebacks(query, from, listedMax),
      );
      const latestFirst = found.flat().toSorted((one, other) => other.at.localeCompare(one.at));
      const rows = latestFirst.slice(0, listedMax).map(({ amount, currency, ...row }) => ({
        order: row.order_id,
        case: row.case_id,
        stage: row.stage,
        amount: printMoney(new Money(BigInt(amount), getCurrency(currency))),
        reason: row.reason,
        at: row.at,
      }));
      return rows.length > 0 ? rows : new Report(rows, "There are no chargebacks.");
    },
  }),
];

type Dependencies = {
  readonly session: Session;
  readonly configuration: Configuration;
  readonly report: OperatorReport;
};

async function record({ session, configuration, report }: Dependencies, line: ChargebackLine) {
  const { reference } = line;
  const serialNumber = asSerialNumber(randomUUIDv7());
  const chargeback = { ...line.chargeback, serialNumber };
  const { stage } = chargeback;
  let earlier: Order | undefined;
  const find = async () => {
    const order = await findByReference(session, reference);
    // A capture or a reversal has the reference of its charge; a refund has its own.
    return order && initialOf(order).identifiers?.reference === reference ? order : undefined;
  };
  const eventFor = async (order: Order): Promise<OrderEvent | undefined> => {
    earlier = findRecorded(order, chargeback) === undefined ? undefined : order;
    const endpoint = configuration.endpoints.get(order.endpointId);
    const { tellsChargebacks = false } = endpoint?.settings ?? {};
    const notify = tellsChargebacks !== false;
    return earlier === undefined ? { kind: "charged_back", chargeback, notify } : undefined;
  };
  const order = await reportToLatest(report, find, eventFor);
  if (order === undefined) return { stage, order: "", result: "no such order" };
  if (order instanceof Failure) return { stage, order: "", result: order.message };
  const recorded = findRecorded(order, chargeback) ?? chargeback;
  // The row is written for a known chargeback too: the node may have crashed after the order and
  // before this row.
  const now = await session.now();
  await queriesOf(session).call(order.merchantId, (query) =>
    indexChargeback(query, order, recorded, now),
  );
  const isSame = isSameMoney(recorded.amount, chargeback.amount);
  const known = isSame ? "known" : "recorded before with another amount";
  return { stage, order: order.id, result: earlier === undefined ? "recorded" : known };
}
