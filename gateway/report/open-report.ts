/**
 * Opens transaction reports for those who send them: one of a merchant at a time over all nodes,
 * and a few at a time in this process, because a thousand shops may ask at midnight. A report
 * counts until it has ended, however it ends.
 */
import { Failure } from "../values/failure.ts";
import type { MerchantId } from "../values/ids.ts";
import type { ReportQuery } from "./read-page.ts";
import type { TransactionReport } from "./report.ts";

type Release = () => Promise<void>;
export type OpenReportOptions = Pick<TransactionReport, "stream"> & {
  /** Returns undefined while another report of the merchant is being sent, by any node. */
  readonly takeReport: (merchant: MerchantId) => Promise<Release | undefined | Failure>;
  readonly log: (
    event: "report.sent" | "report.broken_off" | "report.failed",
    facts: object,
  ) => void;
};

const reportsAtOnceMax = 4;
/** How long a client that was refused should wait, in seconds. */
export const reportRetryAfterS = 10;

export type OpenReport = ReturnType<typeof makeOpenReport>;

export function makeOpenReport({ stream, takeReport, log }: OpenReportOptions) {
  let running = 0;

  /** Returns the parts of the report. The caller must read them or call their `return`. */
  return async (query: ReportQuery): Promise<AsyncGenerator<string> | Failure> => {
    if (running >= reportsAtOnceMax) {
      return new Failure("too_many_requests", "other reports are being sent");
    }
    running += 1;
    const release = await takeReport(query.merchantId).catch((error) => {
      running -= 1;
      throw error;
    });
    if (typeof release === "function") return begun(send(query, release));
    running -= 1;
    return release ?? new Failure("too_many_requests", "a report of the merchant is being sent");
  };

  async function* send(query: ReportQuery, release: Release) {
    const startedAt = performance.now();
    const { merchantId: merchant } = query;
    let isWhole = false;
    try {
      yield "";
      yield* stream(query);
      isWhole = true;
    } catch (error) {
      log("report.failed", { merchant, err: error });
      throw error;
    } finally {
      running -= 1;
      await release();
      const ms = Math.round(performance.now() - startedAt);
      log(isWhole ? "report.sent" : "report.broken_off", { merchant, ms });
    }
  }
}

/** Reads the empty first part: `return` runs no `finally` before a generator has begun. */
async function begun(parts: AsyncGenerator<string>): Promise<AsyncGenerator<string>> {
  await parts.next();
  return parts;
}
