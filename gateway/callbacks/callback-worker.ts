/**
 * Sends callbacks from a thread, and decides how many are in flight. The gateway's clock limits
 * each attempt, and the thread has none, so that tests that move the clock use the thread of
 * production.
 */
import type { MerchantId } from "../values/ids.ts";
import { type Clock, systemClock } from "../values/time.ts";
import { startWorkerThread, ThreadFault } from "../worker-threads/worker-thread.ts";
import {
  type Callback,
  type CallbackRequest,
  type DeliveryAttempt,
  readRetryAfter,
  receiverKey,
  type Saturated,
} from "./callback.ts";
import type { SendingOptions, SendOutcome } from "./send.ts";

export type CallbackWorker = ReturnType<typeof startCallbackWorker>;

type Dependencies = {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** The clock of the thread, which uses real time except in its own tests. */
  readonly threadClock?: Clock;
  readonly onLost: (cause: string) => void;
};

/** A thread that reports nothing for this long after an attempt was cancelled hangs. */
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
    /** Never rejects: every failure of the network counts as an attempt. */
    async send(message: CallbackRequest): Promise<DeliveryAttempt> {
      const { method, url, body } = message;
      const request = { at: clock.now(), method, url, body };
      const outcome = await thread.ask(message);
      if (outcome instanceof ThreadFault) return { ...request, ...failedBy(outcome) };
      const { retryAfter, ...rest } = outcome;
      return { ...request, ...rest, retryAfterMs: readRetryAfter(retryAfter, clock.now()) };
    },
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

type Limited = { readonly callback: Pick<Callback, "merchantId" | "receiver"> };
type Load = { active: number; queued: number };
type Receiver<Job> = { active: number; readonly queue: Job[] };

const slotsPerReceiver = 64;
export const activeMax = 4_096;
export const queuedMax = 20_000;
/** A receiver with a longer queue is saturated. */
const saturatedAt = 256;

/** A merchant gets a third of the free slots, so that a single one gets a quarter of all slots. */
const activeShareOf = (free: number) => free / 3;
/** A queued callback costs little, so a merchant may have all free places in the queue. */
const queueShareOf = (free: number) => free;

/**
 * Decides whether a callback runs now, is queued, or is deferred to the database. Each receiver of
 * a merchant has a few slots, and each merchant a share of the free slots, so that a merchant whose
 * receivers hang fills its own share only.
 */
export function makeDeliveryLimiter<Job extends Limited>() {
  const receivers = new Map<string, Receiver<Job>>();
  const merchants = new Map<MerchantId, Load>();
  const all: Load = { active: 0, queued: 0 };

  return {
    /** A deferred callback is claimed from the database when its lease has expired. */
    admit(job: Job): "run" | "queue" | "defer" {
      const key = receiverKey(job.callback);
      const { merchantId } = job.callback;
      const receiver = receivers.get(key) ?? { active: 0, queue: [] };
      const merchant = merchants.get(merchantId) ?? { active: 0, queued: 0 };
      if (receiver.active < slotsPerReceiver && mayRun(merchant)) {
        receivers.set(key, receiver);
        merchants.set(merchantId, merchant);
        for (const each of [receiver, merchant, all]) each.active += 1;
        return "run";
      }
      // A finished job starts the next one of its receiver, so a queue needs an active job. No
      // queue is so long that the merchant's other receivers could not queue.
      if (receiver.active === 0 || receiver.queue.length >= roomOf(merchant)) return "defer";
      receiver.queue.push(job);
      for (const each of [merchant, all]) each.queued += 1;
      return "queue";
    },
    /** Frees the job's slot. Returns the queued job that gets it. */
    finish({ callback }: Job): Job | undefined {
      const key = receiverKey(callback);
      const receiver = receivers.get(key);
      const merchant = merchants.get(callback.merchantId);
      if (receiver === undefined || merchant === undefined) throw new Error("it was not admitted");
      const next = receiver.queue.shift();
      if (next !== undefined) {
        for (const each of [merchant, all]) each.queued -= 1;
        return next;
      }
      for (const each of [receiver, merchant, all]) each.active -= 1;
      if (receiver.active === 0) receivers.delete(key);
      if (merchant.active === 0) merchants.delete(callback.merchantId);
      return undefined;
    },
    clear(): readonly Job[] {
      for (const each of [...merchants.values(), all]) each.queued = 0;
      return [...receivers.values()].flatMap(({ queue }) => queue.splice(0));
    },
    /** For these receivers and merchants, no more callbacks are claimed from the database. */
    saturated(): Saturated {
      const isFull = (merchant: Load) => !mayRun(merchant) || roomOf(merchant) <= 0;
      return {
        receivers: keysOf(receivers, ({ queue }) => queue.length >= saturatedAt),
        merchants: keysOf(merchants, isFull),
      };
    },
    get queuedCount() {
      return all.queued;
    },
  };

  function mayRun({ active }: Load): boolean {
    return active < activeShareOf(activeMax - all.active);
  }

  function roomOf({ queued }: Load): number {
    return queueShareOf(queuedMax - all.queued) - queued;
  }
}

function keysOf<Key, Value>(map: ReadonlyMap<Key, Value>, isWanted: (value: Value) => boolean) {
  return [...map].filter(([, value]) => isWanted(value)).map(([key]) => key);
}
