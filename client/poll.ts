/**
 * Asks for the status of a transaction until it is final or the cardholder has a 3-D Secure step to
 * do. The gaps between questions grow. With a receiver of callbacks, the arrival of a callback
 * triggers the question, and the gaps only cover lost callbacks.
 */
import { isFinalStatus, StillProcessing, type Timing } from "./call.ts";
import type { StatusReply, StatusRequest } from "./operations.generated.ts";
import type { WaitFor } from "./receiver.ts";

/**
 * The result to wait for: an acknowledgement, a status response, or a status request. An
 * acknowledgement is identified by its serial number, so that a capture or a return is not mistaken
 * for another one. A request without `by-request-sn` is about the order's latest transaction.
 */
export type Awaited = StatusRequest | Acknowledged | Described;

type Acknowledged = {
  readonly type?: "async-response";
  readonly "serial-number"?: string;
  readonly "merchant-order-id": string;
  readonly "gw-order-id": string;
};
/**
 * A status response. To wait for the transaction of a synchronous call, give the serial number of
 * its response as `by-request-sn`.
 */
type Described = Pick<StatusReply, "type" | "merchant-order-id" | "gw-order-id" | "by-request-sn">;

export type WaitOptions = {
  readonly timeoutMs?: number;
  /** The first gap. Each following gap is half as long again, up to ten times the first. */
  readonly everyMs?: number;
  readonly signal?: AbortSignal;
  /** The receiver of this order's callbacks. */
  readonly receiver?: { readonly waitFor: WaitFor };
};

export type WaitForResult = (awaited: Awaited, options?: WaitOptions) => Promise<StatusReply>;
type Ask = (request: StatusRequest, options: Pick<WaitOptions, "signal">) => Promise<StatusReply>;

const growth = 1.5;
const growthMax = 10;

export function makeWaitForResult(ask: Ask, timing: Timing): WaitForResult {
  return async (awaited, { timeoutMs = 120_000, everyMs = 500, signal, receiver } = {}) => {
    const question = questionOf(awaited);
    const options = signal === undefined ? {} : { signal };
    const giveUpAt = timing.now() + timeoutMs;
    const rest = makeRest(timing, question, receiver);
    if (receiver !== undefined) await rest(Math.min(everyMs, timeoutMs), signal);
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
      await rest(Math.min(gapMs, leftMs), signal);
    }
  };
}

/** Makes a pause that the arrival of the callback ends early, once. */
function makeRest(timing: Timing, question: StatusRequest, receiver: WaitOptions["receiver"]) {
  const { orderid, "by-request-sn": serialNumber } = question;
  let hasArrived = false;
  return async (durationMs: number, signal: AbortSignal | undefined): Promise<void> => {
    if (hasArrived || receiver === undefined || orderid === undefined) {
      return timing.pause(durationMs, signal);
    }
    const over = new AbortController();
    const ends = signal === undefined ? over.signal : AbortSignal.any([signal, over.signal]);
    const arrival = receiver.waitFor(orderid, { serialNumber, signal: ends }).then(() => {
      hasArrived = true;
    });
    const pause = timing.pause(durationMs, ends);
    try {
      await Promise.race([arrival, pause]);
    } finally {
      // The loser of the race is aborted, and its rejection is ignored.
      void Promise.allSettled([arrival, pause]);
      over.abort();
    }
  };
}

export function isFinal({ status }: StatusReply): boolean {
  return isFinalStatus(status);
}

/**
 * Whether the acquirer's answer is missing. The order may be charged, so it must not be paid again.
 */
export function isInDoubt(status: StatusReply): boolean {
  return status.status === "processing" && status["order-stage"]?.endsWith("_unknown") === true;
}

/** Whether a 3-D Secure step waits for the cardholder's browser. */
export function needsCardholder(status: StatusReply): boolean {
  return status["tds-status"] !== undefined || status.html !== undefined;
}

/**
 * Makes the status request. A status response is identified by its `by-request-sn`, because its own
 * serial number names the status request, which began no transaction.
 */
function questionOf(awaited: Awaited): StatusRequest {
  if ("client_orderid" in awaited) return awaited;
  const serialNumber =
    awaited.type === "status-response" ? awaited["by-request-sn"] : awaited["serial-number"];
  return {
    client_orderid: awaited["merchant-order-id"],
    orderid: awaited["gw-order-id"],
    "by-request-sn": serialNumber,
  };
}
