/**
 * Reads a page of the transaction report: unpacks its rows, chooses the lines that the query asks
 * for and prints their cells. Long reports do this in a thread.
 */
import type { TransactionKind } from "../orders/order.ts";
import type { FoundOrder } from "../orders/requests.ts";
import type { MerchantId } from "../values/ids.ts";
import type { Instant } from "../values/time.ts";
import { foundStatusOf, makeStatusReader, type ShownBySettings } from "../views/status.ts";
import { cellsOf, type ReportLine } from "./columns.ts";

export type ReportQuery = {
  readonly merchantId: MerchantId;
  readonly from: Instant;
  readonly until: Instant;
  /** Bounds of the time when the acquirer answered. */
  readonly bankFrom?: Instant | undefined;
  readonly bankUntil?: Instant | undefined;
  /** All of them if absent. */
  readonly types?: readonly string[] | undefined;
  readonly statuses?: readonly string[] | undefined;
  readonly endpoints?: readonly string[] | undefined;
};

export type RowsPage<Row> = {
  readonly rows: readonly Row[];
  readonly query: ReportQuery;
  /** The settings of the endpoints of the rows. */
  readonly settings: ReadonlyMap<string, ShownBySettings>;
};

/** Returns undefined for a row without a line. */
export type Unpack<Row> = (row: Row) => ReportLine | undefined;
type PrintDate = (instant: Instant) => string;

const noSettings: ShownBySettings = {};

export function makeReadPage<Row>(unpack: Unpack<Row>, printDate: PrintDate) {
  return ({ rows, query, settings: settingsOf }: RowsPage<Row>): readonly (readonly string[])[] =>
    rows.flatMap((row) => {
      const line = unpack(row);
      const settings = (line && settingsOf.get(line.order.endpointId)) ?? noSettings;
      if (line === undefined || !matches(line, query, settings)) return [];
      return [
        cellsOf({ line, status: makeStatusReader(line, { printDate, settings }), printDate }),
      ];
    });
}

function matches(line: ReportLine, query: ReportQuery, settings: ShownBySettings): boolean {
  const { types, statuses, endpoints, bankFrom, bankUntil } = query;
  if (endpoints !== undefined && !endpoints.includes(line.order.endpointId)) return false;
  if (statuses !== undefined && !statuses.includes(foundStatusOf(line))) return false;
  if (types !== undefined && !types.some((type) => isOfType(type, line, settings))) return false;
  if (bankFrom === undefined && bankUntil === undefined) return true;
  const { answer } = line.transaction;
  const bankAt = answer?.hostAt ?? answer?.processedAt;
  return bankAt !== undefined && bankAt >= (bankFrom ?? bankAt) && bankAt < (bankUntil ?? Infinity);
}

/**
 * Types that are not a type of the status response: returns of a charge and of a hold have one word
 * there, and a return that travels as a refund has no word of its own.
 */
const ownTypes: Readonly<Record<string, (found: FoundOrder) => boolean>> = {
  cancel: ({ transaction }) => transaction.kind === "cancel",
  refund: ({ transaction }) => transaction.asRefund === true,
  void: ({ transaction }) => transaction.kind === "void",
};
const cancel: TransactionKind = "cancel";

function isOfType(type: string, found: FoundOrder, settings: ShownBySettings): boolean {
  const { transaction, dispute } = found;
  const isOwn = ownTypes[type];
  if (isOwn !== undefined) return dispute === undefined && isOwn(found);
  const isCancel = dispute === undefined && transaction.kind === cancel;
  return !isCancel && makeStatusReader(found, { settings })("transaction-type") === type;
}
