/**
 * The transaction report of one merchant: a line for each transaction and each stage of a dispute
 * that began in a span of time, in the order of their beginnings. It is read page by page, so that
 * neither memory nor a transaction of the database grows with it.
 */
import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises";
import type { EndpointSettings } from "../orders/merchant.ts";
import type { Order, TransactionKind } from "../orders/order.ts";
import type { FoundOrder } from "../orders/requests.ts";
import type { MerchantId } from "../values/ids.ts";
import type { Instant } from "../values/time.ts";
import { foundStatusOf, makeStatusReader, type Status } from "../views/status.ts";
import { cellsOf, columnNames, type ReportLine, writeReportLine } from "./columns.ts";

/** The types of a report. */
export const reportTypes = [
  ...["sale", "reversal", "preauth", "capture", "cancel", "fraud", "chargeback", "retrieval"],
  ...["dispute", "refund", "void", "payout", "account-verification", "chargeback-reversal"],
];
export const reportStatuses: readonly Status[] = [
  ...(["approved", "declined", "filtered", "error", "processing"] as const),
];

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

/** The position after a line; several transactions may begin at one moment. */
export type ReportPosition = {
  readonly at: Instant;
  readonly orderId: string;
  readonly version: number;
};

export type ReportPage = {
  readonly merchantId: MerchantId;
  readonly from: Instant;
  readonly until: Instant;
  readonly after: ReportPosition | undefined;
  readonly limit: number;
};
/** Finds what began in the span, the earliest first. There is an end if more may follow. */
export type FindBegun = (page: ReportPage) => FoundPage;
type FoundPage = Promise<{
  readonly rows: readonly ReportLine[];
  readonly end: ReportPosition | undefined;
}>;

export type ReportOptions = {
  readonly findBegun: FindBegun;
  readonly settingsOf: (order: Order) => EndpointSettings;
  readonly printDate: (instant: Instant) => string;
  /** The operator's word in names of fields. */
  readonly fieldWord: string;
  /** How many payments this process has in flight. The report makes way for them. */
  readonly countInFlight?: () => number;
};

/** How many transactions one statement of a report reads. */
const pageRows = 500;
/** How many lines are printed before other requests get their turn. */
const printedTogether = 25;
/** The report rests for this long, in times of its work, for a while after each payment. */
const restShare = 2;
const restAfterPaymentMs = 1_000;
const restMaxMs = 20;

export type TransactionReport = ReturnType<typeof makeTransactionReport>;

export function makeTransactionReport(options: ReportOptions) {
  const { findBegun, settingsOf, printDate, countInFlight = () => 0 } = options;
  const names = columnNames(options.fieldWord);
  return { names, rows, stream };

  /** Yields the CSV in parts. */
  async function* stream(query: ReportQuery): AsyncGenerator<string> {
    yield writeReportLine(names);
    for await (const lines of readLines(query)) {
      yield lines.map((line) => writeReportLine(read(line))).join("");
    }
  }

  /** Yields the lines as objects by the names of the columns. */
  async function* rows(query: ReportQuery): AsyncGenerator<Readonly<Record<string, string>>> {
    for await (const lines of readLines(query)) {
      for (const line of lines) {
        const cells = read(line);
        yield Object.fromEntries(names.map((name, at) => [name, cells[at] ?? ""]));
      }
    }
  }

  /** Yields a few lines at a time. The next page is read while the present one is printed. */
  async function* readLines(query: ReportQuery): AsyncGenerator<readonly ReportLine[]> {
    const rest = makeRest(countInFlight);
    for (let next: FoundPage | undefined = findPage(query); next !== undefined; ) {
      const { rows: found, end }: Awaited<FoundPage> = await next;
      next = end && findPage(query, end);
      // Without a reader the rest is not awaited, and its failure concerns no one.
      next?.catch(() => undefined);
      for (let at = 0; at < found.length; at += printedTogether) {
        const startedAt = performance.now();
        const lines = found.slice(at, at + printedTogether);
        // An empty group is yielded too, so that a reader who has left is noticed.
        yield lines.filter((line) => matches(line, query, settingsOf(line.order)));
        await rest(performance.now() - startedAt);
      }
    }
  }

  function findPage({ merchantId, from, until }: ReportQuery, after?: ReportPosition): FoundPage {
    return findBegun({ merchantId, from, until, after, limit: pageRows });
  }

  function read(line: ReportLine): readonly string[] {
    const settings = settingsOf(line.order);
    return cellsOf({ line, status: makeStatusReader(line, { printDate, settings }), printDate });
  }
}

/**
 * Lets other requests have their turn, and rests while there are payments: a process whose time a
 * report takes would handle payments in rounds, and each of them later.
 */
function makeRest(countInFlight: () => number) {
  let restsUntil = 0;
  return async (workedMs: number): Promise<void> => {
    const now = performance.now();
    if (countInFlight() > 0) restsUntil = now + restAfterPaymentMs;
    if (now >= restsUntil) await nextTurn();
    else await pause(Math.min(restShare * workedMs, restMaxMs));
  };
}

function matches(line: ReportLine, query: ReportQuery, settings: EndpointSettings): boolean {
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

function isOfType(type: string, found: FoundOrder, settings: EndpointSettings): boolean {
  const { transaction, dispute } = found;
  const isOwn = ownTypes[type];
  if (isOwn !== undefined) return dispute === undefined && isOwn(found);
  const isCancel = dispute === undefined && transaction.kind === cancel;
  return !isCancel && makeStatusReader(found, { settings })("transaction-type") === type;
}
