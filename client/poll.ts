/**
 * Asks for the status of a transaction until it is final or the cardholder has a 3-D Secure step to
 * do. The gaps between questions grow: most end in a moment, the others take their time.
 */
import { StillProcessing } from "./errors.ts";
import type { StatusReply, StatusRequest } from "./operations.generated.ts";
import type { Timing } from "./timing.ts";

/**
 * An acknowledgement or a status as it came, or a question of one's own. An acknowledgement is
 * waited for by its serial number, so that a capture or a return is not mistaken for another one;
 * a question without a `by-request-sn` is about the order's latest transaction.
 */
export type Awaited = StatusRequest | Acknowledged | Described;

type Acknowledged = {
  readonly type?: "async-response";
  readonly "serial-number"?: string;
  readonly "merchant-order-id": string;
  readonly "gw-order-id": string;
};
/** Of a synchronous call too; its own serial number has to be given as `by-request-sn`. */
type Described = Pick<StatusReply, "type" | "merchant-order-id" | "gw-order-id" | "by-request-sn">;

export type WaitOptions = {
  readonly timeoutMs?: number;
  /** The first gap; each following one is half as long again, up to ten times the first. */
  readonly everyMs?: number;
  readonly signal?: AbortSignal;
};

export type WaitForResult = (awaited: Awaited, options?: WaitOptions) => Promise<StatusReply>;
type Ask = (request: StatusRequest, options: WaitOptions) => Promise<StatusReply>;

const growth = 1.5;
const growthMax = 10;
const finals: ReadonlySet<string> = new Set(["approved", "declined", "error", "filtered"]);

export function makeWaitForResult(ask: Ask, timing: Timing): WaitForResult {
  return async (awaited, { timeoutMs = 120_000, everyMs = 500, signal } = {}) => {
    const question = questionOf(awaited);
    const options = signal === undefined ? {} : { signal };
    const giveUpAt = timing.now() + timeoutMs;
    for (let gapMs = everyMs; ; gapMs = Math.min(gapMs * growth, everyMs * growthMax)) {
      const status = await ask(question, options);
      if (isFinal(status) || needsCardholder(status)) return status;
      const leftMs = giveUpAt - timing.now();
      if (leftMs <= 0) {
        throw new StillProcessing({
          orderId: question.orderid,
          clientOrderId: question.client_orderid,
          stage: status["order-stage"] ?? status.status,
        });
      }
      await timing.pause(Math.min(gapMs, leftMs), signal);
    }
  };
}

export function isFinal({ status }: StatusReply): boolean {
  return finals.has(status);
}

/** A 3-D Secure step waits for the cardholder's browser. */
export function needsCardholder(status: StatusReply): boolean {
  return status["tds-status"] !== undefined || status.html !== undefined;
}

function questionOf(awaited: Awaited): StatusRequest {
  if ("client_orderid" in awaited) return awaited;
  return {
    client_orderid: awaited["merchant-order-id"],
    orderid: awaited["gw-order-id"],
    "by-request-sn": serialNumberOf(awaited),
  };
}

/** The serial number of a status is that of the question, which began nothing. */
function serialNumberOf(awaited: Acknowledged | Described): string | undefined {
  return awaited.type === "status-response" ? awaited["by-request-sn"] : awaited["serial-number"];
}
