/**
 * Sends callbacks from a thread. The gateway's clock limits each attempt, and the thread has none:
 * a test that moves the clock uses the same thread as production.
 */
import { type Clock, systemClock } from "../values/time.ts";
import { startWorkerThread, ThreadFault } from "../worker-threads/worker-thread.ts";
import type { AddressOptions } from "./addresses.ts";
import { type CallbackRequest, type DeliveryAttempt, readRetryAfter } from "./callback.ts";
import { activeMax } from "./delivery-limiter.ts";
import type { SendOutcome } from "./send.ts";

export type CallbackWorker = ReturnType<typeof startCallbackWorker>;

export type SendingOptions = {
  readonly addresses: AddressOptions;
  /** Host names are resolved by the system. */
  readonly resolvesBySystem: boolean;
  readonly proxy: string | undefined;
};

type Dependencies = {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** For the thread itself, which takes real time; only its tests have another. */
  readonly threadClock?: Clock;
  readonly onLost: (cause: string) => void;
};

/** A thread that reports nothing for so long after cancelling an attempt hangs. */
const replyWithinMs = 5_000;

export function startCallbackWorker(
  options: SendingOptions,
  { clock, timeoutMs, threadClock = systemClock, onLost }: Dependencies,
) {
  const thread = startWorkerThread<CallbackRequest, SendOutcome>({
    file: new URL("./callback-worker-thread.ts", import.meta.url),
    data: options,
    inFlightMax: activeMax,
    replyWithinMs,
    clock: threadClock,
    onLost,
    cancel: { afterMs: timeoutMs, clock },
  });

  return {
    /** Never rejects: every failure of the network is an attempt. */
    async send(message: CallbackRequest): Promise<DeliveryAttempt> {
      const { method, url, body } = message;
      const request = { at: clock.now(), method, url, body };
      const outcome = await thread.ask(message);
      if (outcome instanceof ThreadFault) return { ...request, ...failedBy(outcome) };
      const { retryAfter, ...rest } = outcome;
      return { ...request, ...rest, retryAfterMs: readRetryAfter(retryAfter, clock.now()) };
    },
    /** Ends every attempt in flight. */
    stop: thread.stop,
  };
}

function failedBy({ kind, isSuspect }: ThreadFault) {
  return {
    status: undefined,
    answer: "",
    durationMs: 0,
    retryAfterMs: undefined,
    failure: kind === "stopped" ? "the node stops" : `callback worker: ${kind}`,
    isGatewayFault: !isSuspect,
  };
}
