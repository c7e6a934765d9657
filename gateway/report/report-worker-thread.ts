/**
 * Runs in its own thread, because reading the orders of a month takes a core for half a minute, and
 * payments would wait for each page.
 */
import { workerData } from "node:worker_threads";
import { type BegunRow, unpackBegun } from "../storage/orders/order-row.ts";
import { makePrintDate } from "../values/time.ts";
import { serveRequests } from "../worker-threads/worker-thread.ts";
import { makeReadPage, type RowsPage } from "./read-page.ts";
import { type ReportThreadData, writeLines } from "./report.ts";

const { zone }: ReportThreadData = workerData;
const readPage = makeReadPage(unpackBegun, makePrintDate(zone));

/** On a machine without a free core, a report would otherwise hardly go on. */
const niceness = 5;

serveRequests((page: RowsPage<BegunRow>, done: (printed: string) => void) => {
  done(writeLines(readPage(page)));
  return undefined;
}, niceness);
