/**
 * The transaction report for the portal's users. The browser downloads the report as a file while
 * the gateway is still writing it. An operator must name the merchant whose report it is.
 */
import type { OpenReport } from "../report/open-report.ts";
import { reportStatuses, reportTypes } from "../report/report.ts";
import { Failure } from "../values/failure.ts";
import type { MerchantId } from "../values/ids.ts";
import { asInstant, hours, later, seconds } from "../values/time.ts";
import { type Configured, merchantFor } from "./reads.ts";
import { type Caller, type HandlersOf, PortalFile, PortalRefusal, row } from "./route.ts";
import { file, instant, list, oneOf, optional, record, text } from "./schema.ts";
import { numericId } from "./shapes.ts";

const chosen = record({
  merchant: optional(text("a login; for operators", { max: 64 })),
  from: optional(instant("the earliest beginning; by default 31 days before the end")),
  until: optional(instant("before which the latest has begun; by default now")),
  type: optional(list(oneOf(reportTypes))),
  status: optional(list(oneOf(reportStatuses))),
  endpoint: optional(list(numericId("an endpoint's id"))),
});

export const reportRoutes = {
  "GET /exports/transactions": row(
    "see_orders",
    "merchant",
    chosen,
    file<PortalFile>("text/csv"),
    "the transaction report of a merchant, as a CSV file",
  ),
} as const;

export type ReportHandlerOptions = {
  readonly configured: () => Configured;
  readonly openReport: OpenReport;
  readonly recordExport: (actor: Caller["actor"], filters: object) => Promise<void>;
};

/**
 * The longest period of a report. It is a day longer than in the merchant interface, because a
 * month of 31 days in which the clocks go back is an hour longer than 31 days.
 */
const spanMaxMs = hours(24 * 32);
const usualSpanMs = hours(24 * 31);

export function reportHandlers({ configured, openReport, recordExport }: ReportHandlerOptions) {
  return {
    async "GET /exports/transactions"(input, caller) {
      const merchantId = merchantFor(caller, configured(), input.merchant);
      if (merchantId === undefined || merchantId === null) return noMerchant;
      // The report ends one second after now, so that it contains the transactions of the present
      // second.
      const until = input.until ?? later(caller.now, seconds(1));
      const from = input.from ?? until - usualSpanMs;
      if (from > until || until - from > spanMaxMs) return tooLong;
      const { type: types, status: statuses, endpoint: endpoints } = input;
      if (endpoints?.every((id) => isOwn(id, merchantId)) === false) return noEndpoint;
      await recordExport(caller.actor, { report: "transactions", merchantId, ...input });
      const range = { from: asInstant(from), until: asInstant(until) };
      const parts = await openReport({ merchantId, ...range, types, statuses, endpoints });
      return parts instanceof Failure ? refused(parts) : new PortalFile(fileName, parts);
    },
  } satisfies HandlersOf<typeof reportRoutes>;

  function isOwn(id: string, merchantId: MerchantId): boolean {
    const { endpoints } = configured();
    return [...endpoints.values()].some(
      (each) => each.id === id && each.merchant.id === merchantId,
    );
  }
}

const fileName = "transaction-report.csv";
const noMerchant = new PortalRefusal(400, "invalid_input", "Choose a merchant.", "merchant");
const tooLong = new PortalRefusal(400, "invalid_input", "Choose 31 days at most.", "from");
const noEndpoint = new PortalRefusal(
  400,
  "invalid_input",
  "There is no such endpoint.",
  "endpoint",
);

function refused({ code }: Failure): PortalRefusal {
  if (code !== "too_many_requests") {
    return new PortalRefusal(503, "unavailable", "The database cannot be reached. Try again.");
  }
  return new PortalRefusal(429, "busy", "Another report is being written. Try again in a minute.");
}
