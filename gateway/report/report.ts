/**
 * The transaction report of one merchant: a line for each transaction and each stage of a dispute
 * that began in a span of time, in the order of their beginnings. It is read page by page, so that
 * neither memory nor a transaction of the database grows with it. A thread prints all pages but the
 * first, so that payments do not wait for them.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { EndpointSettings } from "../orders/merchant.ts";
import { asEndpointId, type EndpointId, type MerchantId } from "../values/ids.ts";
import { type Instant, makePrintDate, systemClock } from "../values/time.ts";
import type { ShownBySettings, Status } from "../views/status.ts";
import { startWorkerThread, ThreadFault } from "../worker-threads/worker-thread.ts";
import { columnNames, writeReportLine } from "./columns.ts";
import { makeReadPage, type ReportQuery, type RowsPage, type Unpack } from "./read-page.ts";

/** The types of a report. */
export const reportTypes = [
  ...["sale", "reversal", "preauth", "capture", "cancel", "fraud", "chargeback", "retrieval"],
  ...["dispute", "refund", "void", "payout", "account-verification", "chargeback-reversal"],
];
export const reportStatuses: readonly Status[] = [
  ...(["approved", "declined", "filtered", "error", "processing"] as const),
];

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
/**
 * Finds what began in the span, the earliest first, as rows that `unpack` reads. There is an end if
 * more may follow.
 */
export type FindBegun<Row extends EndpointRow> = (page: ReportPage) => FoundPage<Row>;
type EndpointRow = { readonly endpoint_id: string };
type FoundPage<Row> = Promise<{
  readonly rows: readonly Row[];
  readonly end: ReportPosition | undefined;
}>;

export type ReportOptions<Row extends EndpointRow> = {
  readonly findBegun: FindBegun<Row>;
  readonly unpack: Unpack<Row>;
  readonly settingsOf: (endpoint: EndpointId) => EndpointSettings;
  readonly zone: string;
  /** The operator's word in names of fields. */
  readonly fieldWord: string;
  /** How many payments this process has in flight. The report makes way for them. */
  readonly countInFlight?: () => number;
};

/** The settings with which the thread of a report is started. */
export type ReportThreadData = Pick<ReportOptions<EndpointRow>, "zone">;

/** How many transactions one statement of a report reads. They may have 25 MB in all. */
const pageRows = 200;
/** The report rests for this long, in times of its work, for a while after each payment. */
const restShare = 0.5;
const restAfterPaymentMs = 1_000;
const restMaxMs = 20;
/** The thread has a low priority, and waits where payments need all cores. */
const printWithinMs = 60_000;

export type TransactionReport = ReturnType<typeof makeTransactionReport>;

export function makeTransactionReport<Row extends EndpointRow>(options: ReportOptions<Row>) {
  const { findBegun, settingsOf, zone, countInFlight = () => 0 } = options;
  const names = columnNames(options.fieldWord);
  const readPage = makeReadPage(options.unpack, makePrintDate(zone));
  return { names, rows, stream };

  /** Yields the CSV in parts. A page without lines is a part, so that a lost reader is noticed. */
  async function* stream(query: ReportQuery): AsyncGenerator<string> {
    yield writeReportLine(names);
    const rest = makeRest(countInFlight);
    const thread = startThread(zone);
    let isFirst = true;
    try {
      for await (const page of readPages(query)) {
        const startedAt = performance.now();
        const printed = isFirst ? writeLines(readPage(page)) : await thread.ask(page);
        if (printed instanceof ThreadFault) {
          throw new Error(`the thread of the report: ${printed.kind} ${printed.detail}`);
        }
        isFirst = false;
        const workedMs = performance.now() - startedAt;
        yield printed;
        await rest(workedMs);
      }
    } finally {
      await thread.stop();
    }
  }

  /** Yields the lines as objects by the names of the columns. */
  async function* rows(query: ReportQuery): AsyncGenerator<Readonly<Record<string, string>>> {
    for await (const page of readPages(query)) {
      for (const cells of readPage(page)) {
        yield Object.fromEntries(names.map((name, at) => [name, cells[at] ?? ""]));
      }
    }
  }

  /** The next page is read while the present one is printed. */
  async function* readPages(query: ReportQuery): AsyncGenerator<RowsPage<Row>> {
    for (let next: FoundPage<Row> | undefined = findPage(query); next !== undefined; ) {
      const { rows: found, end }: Awaited<FoundPage<Row>> = await next;
      next = end && findPage(query, end);
      // Without a reader the rest is not awaited, and its failure concerns no one.
      next?.catch(() => undefined);
      const endpoints = new Set(found.map(({ endpoint_id }) => endpoint_id));
      const settings = new Map([...endpoints].map((id) => [id, shownOf(id)]));
      yield { rows: found, query, settings };
    }
  }

  function findPage(query: ReportQuery, after?: ReportPosition): FoundPage<Row> {
    const { merchantId, from, until } = query;
    return findBegun({ merchantId, from, until, after, limit: pageRows });
  }

  /** Only these settings count, and a thread could not be given all of them. */
  function shownOf(endpoint: string): ShownBySettings {
    const { tellsChargebacks = false, voidAs } = settingsOf(asEndpointId(endpoint));
    return { tellsChargebacks, ...(voidAs && { voidAs }) };
  }
}

export function writeLines(lines: readonly (readonly string[])[]): string {
  return lines.map(writeReportLine).join("");
}

/** The thread of one report. It starts with the first request. */
function startThread<Row>(zone: string) {
  const data: ReportThreadData = { zone };
  return startWorkerThread<RowsPage<Row>, string>({
    file: new URL("./report-worker-thread.ts", import.meta.url),
    data,
    inFlightMax: 1,
    replyWithinMs: printWithinMs,
    clock: systemClock,
    onLost: () => undefined,
  });
}

/**
 * Rests while there are payments: the database would otherwise work for a report without a pause,
 * and handle payments later.
 */
function makeRest(countInFlight: () => number) {
  let restsUntil = 0;
  return async (workedMs: number): Promise<void> => {
    const now = performance.now();
    if (countInFlight() > 0) restsUntil = now + restAfterPaymentMs;
    if (now < restsUntil) await pause(Math.min(restShare * workedMs, restMaxMs));
  };
}
