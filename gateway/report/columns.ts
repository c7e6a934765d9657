/**
 * The columns of the transaction report, and its lines as CSV (RFC 4180). Programs read the report,
 * so that values stand as they are; only the two texts that payers write themselves are changed,
 * where a spreadsheet would run them as a formula.
 */
import type { FoundOrder } from "../orders/requests.ts";
import { quoteCell, withoutFormula } from "../values/csv-records.ts";
import { formatAmount } from "../values/money.ts";
import type { Instant } from "../values/time.ts";
import type { StatusReader } from "../views/status.ts";

export type ReportLine = FoundOrder & {
  /** When the transaction began, or the stage of a dispute was recorded. */
  readonly at: Instant;
};

type Facts = {
  readonly line: ReportLine;
  /** Reads what the status says of this transaction. */
  readonly status: StatusReader;
  readonly printDate: (instant: Instant) => string;
};
type Column = readonly [
  name: string,
  meaning: string,
  /** The status response's field of this name is printed by default. */
  print?: (facts: Facts) => string | undefined,
];

/** New columns are added at the end, because programs may read a column by its number. */
// biome-ignore format: a table
export const reportColumns: readonly Column[] = [
  ["gw-order-id",        "the gateway's id of the order", ({ line }) => line.order.id],
  ["merchant-order-id",  "the merchant's own id of the order", ({ line }) => line.order.clientOrderId],
  ["serial-number",      "names the transaction, or the stage of a dispute, as `by-request-sn` does", ({ line }) => (line.dispute ?? line.transaction).serialNumber],
  ["end-point-id",       "the endpoint of the order", ({ line }) => line.order.endpointId],
  ["transaction-type",   "as in the status response"],
  ["status",             "`processing`, `approved`, `declined`, `filtered` or `error`"],
  ["order-stage",        "as in the status response"],
  ["created",            "when the transaction began, or the stage of a dispute was recorded", ({ line, printDate }) => printDate(line.at)],
  ["transaction-date",   "when it was final"],
  ["gw-processing-date", "when the acquirer answered"],
  ["amount",             "the transaction's own amount; that of a dispute is the disputed one", ({ line }) => formatAmount((line.dispute ?? line.transaction).amount)],
  ["currency",           "its currency"],
  ["charged-amount",     "the charged amount of the order, where it differs from the requested one"],
  ["processor-tx-id",    "the network's id, or the acquirer's reference"],
  ["processor-rrn",      "the acquirer's reference"],
  ["approval-code",      "the issuer's approval code"],
  ["terminal-id",        "the terminal of the gate"],
  ["descriptor",         "what the cardholder's statement shows"],
  ["card-type",          "the card's network"],
  ["bin",                "the first digits of the card"],
  ["last-four-digits",   "its last four digits; empty for a wallet's device number"],
  ["cardholder-name",    "the name on the card", ({ status }) => withoutFormula(status("cardholder-name"))],
  ["card-country-alpha-three-code", "the issuer's country"],
  ["email",              "the customer's email address", ({ status }) => withoutFormula(status("email"))],
  ["eci",                "the electronic commerce indicator of 3-D Secure"],
  ["verified-3d-status", "the result of 3-D Secure"],
  ["error-code",         "why it was not approved"],
  ["error-message",      "the same in words"],
  ["reason-code",        "the reason of a dispute", ({ line }) => line.dispute?.reason],
  ["seller-commission",  "the merchant's commission, in the line of the sale or the capture alone", (facts) => commissionIn("seller-commission", facts)],
  ["acquirer-commission", "the acquirer's commission, likewise", (facts) => commissionIn("acquirer-commission", facts)],
  ["merchantdata",       "the merchant's own data"],
];

/** The lines of an order say once what it has cost, so that a column can be summed up. */
function commissionIn(name: string, { line, status }: Facts): string | undefined {
  const { transaction, dispute } = line;
  const hasCharged = transaction.kind === "sale" || transaction.kind === "capture";
  const isApproved = transaction.stage === "approved" && dispute === undefined;
  return hasCharged && isApproved ? status(name) : undefined;
}

/** Two names contain the operator's own word in place of `gw`. */
export function columnNames(fieldWord: string): readonly string[] {
  return reportColumns.map(([name]) => name.replace(/^gw-/, `${fieldWord}-`));
}

const printers = reportColumns.map(
  ([name, , print = ({ status }: Facts) => status(name)]) => print,
);

export function cellsOf(facts: Facts): readonly string[] {
  return printers.map((print) => print(facts) ?? "");
}

/** The loop takes half of the time that a joined list of the quoted cells would. */
export function writeReportLine(cells: readonly string[]): string {
  let line = "";
  for (const cell of cells) line += `${quoteCell(cell)},`;
  return `${line.slice(0, -1)}\r\n`;
}
