/**
 * Sends merchants the transaction report of each day that has ended. A row of the database for each
 * merchant and day says when its report is due. A node claims the row with a lease, so that another
 * node sends the report if the first one dies.
 */
import { createCipheriv, createDecipheriv, type Hmac, randomBytes, randomUUID } from "node:crypto";
import { open, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Endpoint, Merchant } from "../orders/merchant.ts";
import type { MerchantId } from "../values/ids.ts";
import * as time from "../values/time.ts";
import type { AddressChecks } from "./addresses.ts";
import {
  type Callback,
  type DeliveryAttempt,
  type DeliveryDecision,
  decide,
  type RetryOptions,
  readRetryAfter,
} from "./callback.ts";
import type { Senders, SendOutcome, SentRequest } from "./send.ts";

type Instant = time.Instant;

export type DueReport = Pick<Callback, "merchantId" | "tries" | "begunAt" | "leaseUntil"> & {
  readonly day: string;
};
type Attempt = Pick<DeliveryAttempt, "status" | "failure" | "retryAfterMs">;

export type DailyReportStore = {
  /** Adds the rows of a day, and of at most two weeks before it since the merchant's latest row. */
  addDays(merchants: readonly MerchantId[], day: string, now: Instant): Promise<void>;
  claim(
    merchants: readonly MerchantId[],
    now: Instant,
    until: Instant,
  ): Promise<DueReport | undefined>;
  /** Does nothing if the row has another lease by now. */
  record(
    report: DueReport,
    attempt: Attempt & { at: Instant },
    decision: DeliveryDecision,
  ): Promise<void>;
};

type Options = Pick<AddressChecks, "findAddressFault"> & {
  readonly store: DailyReportStore;
  readonly clock: time.Clock;
  readonly zone: string;
  readonly timeoutMs: number;
  readonly retry: RetryOptions;
  readonly merchants: () => readonly Merchant[];
  readonly endpointsOf: (merchant: Merchant) => readonly Endpoint[];
  readonly senders: Senders;
  readonly stream: (query: {
    readonly merchantId: MerchantId;
    readonly from: Instant;
    readonly until: Instant;
  }) => AsyncIterable<string>;
  /** Begins a signature with each of the merchant's valid keys. */
  readonly beginSignatures: (merchant: Merchant) => readonly Hmac[];
  readonly log: (
    event: "report.delivered" | "report.undelivered" | "report.failed",
    facts: object,
  ) => void;
};

const reportsAtOnce = 4;
/** After this time, every node has committed the transactions that began before midnight. */
const afterDayMs = time.minutes(5);
/** No attempt lasts longer than a lease. */
const leaseMs = time.minutes(30);
/** A receiver has more time for a longer report. */
const bytesPerMsMin = 100;
const cipher = "aes-256-ctr";

export function makeDailyReports(options: Options) {
  const { store, clock, zone, log } = options;
  const stopping = new AbortController();
  return { run, stop: () => stopping.abort() };

  async function run(): Promise<void> {
    const wanting = options.merchants().filter((each) => each.enabled && each.settings.reportUrl);
    if (wanting.length === 0) return;
    const byId = new Map(wanting.map((merchant) => [merchant.id, merchant]));
    const today = time.dayNumber(time.calendarIn(zone, time.later(clock.now(), -afterDayMs)));
    await store.addDays([...byId.keys()], isoDay(today - 1), clock.now());
    const work = async () => {
      while (!stopping.signal.aborted) {
        const now = clock.now();
        const due = await store.claim([...byId.keys()], now, time.later(now, leaseMs));
        const merchant = due && byId.get(due.merchantId);
        if (due === undefined || merchant === undefined) return;
        await deliver(merchant, due);
      }
    };
    await Promise.all(Array.from({ length: reportsAtOnce }, work));
  }

  async function deliver(merchant: Merchant, due: DueReport): Promise<void> {
    const facts = { merchant: merchant.login, day: due.day };
    const attempt = await send(merchant, due).catch((error): Attempt => {
      log("report.failed", { ...facts, err: error });
      return failed("the gateway could not write the report");
    });
    const { status, failure } = attempt;
    const at = clock.now();
    const isStopped = stopping.signal.aborted && status === undefined;
    const decision: DeliveryDecision = isStopped
      ? { dueAt: at, isCounted: false }
      : decide(due, attempt, at, options.retry);
    await store.record(due, { ...attempt, at }, decision);
    const ended = "ended" in decision ? decision.ended : undefined;
    const event = ended === "delivered" ? "report.delivered" : "report.undelivered";
    log(event, { ...facts, status, failure, ended });
  }

  /**
   * The report goes through a nameless file, because its signature is sent before it and it may be
   * of any size. The key of the file is only in memory.
   */
  async function send(merchant: Merchant, { day, leaseUntil }: DueReport): Promise<Attempt> {
    const url = merchant.settings.reportUrl ?? "";
    const endpoints = options.endpointsOf(merchant);
    const fault = findReportFault(url, endpoints, options);
    if (fault !== undefined) return failed(fault);
    const path = join(tmpdir(), `tollgate-report-${randomUUID()}`);
    await using file = await open(path, "wx+", 0o600);
    await unlink(path);
    const [key, start] = [randomBytes(32), Buffer.alloc(16)];
    const sealer = createCipheriv(cipher, key, start);
    let size = 0;
    for await (const part of options.stream({ merchantId: merchant.id, ...spanOf(day) })) {
      stopping.signal.throwIfAborted();
      const sealed = sealer.update(part, "utf8");
      await file.appendFile(sealed);
      size += sealed.length;
    }
    async function* read() {
      const opener = createDecipheriv(cipher, key, start);
      for (let at = 0; at < size; ) {
        const { bytesRead, buffer } = await file.read({ position: at });
        yield opener.update(buffer.subarray(0, bytesRead));
        at += bytesRead;
      }
    }
    const id = `report-${merchant.login}-${day}`;
    const timestamp = Math.floor(clock.now() / 1000);
    const macs = options.beginSignatures(merchant);
    for (const mac of macs) mac.update(`${id}.${timestamp}.`);
    for await (const part of read()) for (const mac of macs) mac.update(part);
    const headers = {
      "content-type": "text/csv; charset=utf-8; header=present",
      "content-length": String(size),
      "content-disposition": `attachment; filename="transaction-report-${day}.csv"`,
      "webhook-id": id,
      "webhook-timestamp": String(timestamp),
      "webhook-signature": macs.map((mac) => `v1,${mac.digest("base64")}`).join(" "),
    };
    const isOpened = endpoints.every(({ settings }) => settings.privateCallbacks === true);
    const limitMs = Math.min(options.timeoutMs + size / bytesPerMsMin, leaseUntil - clock.now());
    const outcome = await exchange(isOpened, { method: "POST", url, headers, body: read }, limitMs);
    return { ...outcome, retryAfterMs: readRetryAfter(outcome.retryAfter, clock.now()) };
  }

  async function exchange(isOpened: boolean, message: SentRequest, limitMs: number) {
    const { promise, resolve } = Promise.withResolvers<SendOutcome>();
    const cancel = options.senders[isOpened ? "opened" : "closed"](message, resolve);
    const end = () => cancel?.();
    const forget = clock.after(limitMs, end);
    stopping.signal.addEventListener("abort", end);
    const outcome = await promise;
    forget();
    stopping.signal.removeEventListener("abort", end);
    return outcome;
  }

  function spanOf(day: string) {
    const [year = "", month = "", date = ""] = day.split("-");
    const next = isoDay(time.dayNumber({ year, month, day: date }) + 1);
    const [from, until] = [day, next].map((each) => time.instantIn(zone, `${each}T00:00:00`));
    if (from === undefined || until === undefined) throw new Error(`no day ${day}`);
    return { from, until };
  }
}

/** A merchant's report may go where callbacks of all its endpoints may go. */
export function findReportFault(
  url: string,
  endpoints: readonly Pick<Endpoint, "settings">[],
  { findAddressFault }: Pick<AddressChecks, "findAddressFault">,
): string | undefined {
  if (endpoints.length === 0) return "the merchant has no endpoint";
  return findAddressFault(url, "callback", endpoints);
}

function failed(failure: string): Attempt {
  return { status: undefined, failure, retryAfterMs: undefined };
}

function isoDay(number: number): string {
  return time.calendar(time.asInstant(number * time.hours(24))).iso.slice(0, 10);
}
