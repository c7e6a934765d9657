/**
 * A node's callbacks: their messages, the thread that sends them, and their delivery. The database
 * has a lease for each callback in flight here. If the node defers or loses a callback, it is
 * claimed again from there.
 */
import type { Step } from "../orders/advance.ts";
import type { Order } from "../orders/order.ts";
import { type Clock, hours, later, systemClock } from "../values/time.ts";
import { type AddressSettings, makeAddressChecks, readAddressOptions } from "./addresses.ts";
import {
  type Callback,
  type CallbackRequest,
  type CallbackStore,
  callbackLeaseMs,
  type DeliveryAttempt,
  type DeliveryDecision,
  decide,
  isFirst,
  type RetryOptions,
} from "./callback.ts";
import {
  activeMax,
  type CallbackWorker,
  makeDeliveryLimiter,
  queuedMax,
  startCallbackWorker,
} from "./callback-worker.ts";
import {
  type CallbackJournal,
  type MessageDependencies,
  makeBuildMessage,
  makeRewrite,
} from "./message.ts";
import type { SendingOptions } from "./send.ts";

type Options = Omit<MessageDependencies, "clock"> &
  Pick<DeliveryDependencies, "observe"> & {
    readonly clock: DeliveryDependencies["clock"] & { certain(): Promise<void> };
    readonly settings: AddressSettings & {
      readonly callbackTimeoutMs: number;
      readonly callbackRetryGapsMs: readonly number[];
      readonly callbackKeepDays: number;
      /** If the proxy is empty, receivers are called directly. */
      readonly callbackProxy: string;
      readonly drainMs: number;
    };
    readonly store: CallbackStore & CallbackJournal;
    readonly log: DeliveryDependencies["log"] &
      ((event: "callback.worker_lost", facts: object) => void);
  };

export type Callbacks = ReturnType<typeof openCallbacks>;

type SendingSettings = Pick<Options["settings"], "callbackTimeoutMs" | "callbackProxy"> &
  AddressSettings;

function startSending(settings: SendingSettings, clock: Clock, onLost: (cause: string) => void) {
  const { callbackTimeoutMs: timeoutMs } = settings;
  return startCallbackWorker(sendingOptionsOf(settings), { clock, timeoutMs, onLost });
}

export function sendingOptionsOf(
  settings: AddressSettings & Pick<Options["settings"], "callbackProxy">,
): SendingOptions {
  const { callbackProxy: proxy } = settings;
  return {
    addresses: readAddressOptions(settings),
    resolvesBySystem: settings.environment === "staging",
    proxy: proxy === "" ? undefined : proxy,
  };
}

/** Uses a thread of its own, so that a command needs no running node. */
export async function sendOnce(
  settings: SendingSettings,
  message: CallbackRequest,
): Promise<DeliveryAttempt> {
  const worker = startSending(settings, systemClock, () => undefined);
  return worker.send(message).finally(() => worker.stop());
}

export function openCallbacks(options: Options) {
  const { store, clock, settings, log } = options;
  const { callbackTimeoutMs: timeoutMs } = settings;
  const buildMessage = makeBuildMessage(options);
  const worker = startSending(settings, clock, (cause) => log("callback.worker_lost", { cause }));
  const delivery = makeDelivery({
    ...options,
    worker,
    buildMessage,
    timeoutMs,
    drainMs: settings.drainMs,
    keepDays: settings.callbackKeepDays,
    retry: { gapsMs: settings.callbackRetryGapsMs, random: Math.random },
  });
  return {
    ...delivery,
    /** Callbacks are claimed after the database has confirmed the node's time. */
    claimDue: () => clock.certain().then(delivery.claimDue),
    ...makeAddressChecks(settings),
    /** Sends a message that belongs to no order. */
    send: worker.send,
    find: store.find,
    findOrder: store.findOrder,
    /** Returns the request of a callback as it would be sent now. */
    write: makeRewrite(store, buildMessage),
  };
}

type DeliveryDependencies = {
  readonly store: CallbackStore;
  readonly worker: CallbackWorker;
  readonly buildMessage: (callback: Callback, order: Order) => CallbackRequest | undefined;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly drainMs: number;
  readonly retry: RetryOptions;
  readonly keepDays: number;
  readonly observe: (outcome: string, durationMs: number) => void;
  readonly log: (event: ReturnType<typeof eventOf> | "callback.failed", facts: object) => void;
};

type Job = { readonly callback: Callback; readonly order: Order | undefined };

const claimMax = 256;
const deletionsMax = 20;
/** Above this number of queued callbacks, orders are not kept but read again, to save memory. */
const ordersKeptMax = 2_000;
const nodeStopped = "cancelled: the node stopped";
const gatewayFaultGapMs = 10_000;
const graceMaxMs = 2_000;
/** The time for recording cancelled attempts. Without an answer by then, leases expire. */
const releaseMs = 2_000;

export function makeDelivery(dependencies: DeliveryDependencies) {
  const { store, worker, clock, timeoutMs } = dependencies;
  const leaseMs = callbackLeaseMs(timeoutMs);
  const limiter = makeDeliveryLimiter<Job>();
  const inFlight = new Set<Promise<void>>();
  let isStopping = false;
  let isCancelled = false;

  return {
    start({ order, callbacks = [], at }: Pick<Step, "order" | "callbacks" | "at">): void {
      const key = { merchantId: order.merchantId, orderId: order.id };
      // The end of the lease that the commit has written, however long the commit took.
      const lease = { tries: 0, begunAt: at, leaseUntil: later(at, leaseMs) };
      for (const each of callbacks) admit({ callback: { ...each, ...key, ...lease }, order });
    },
    async claimDue(): Promise<number> {
      let count = 0;
      for (let claimed = 1; claimed > 0; count += claimed) claimed = await claimSome();
      return count;
    },
    /** Works in bounded portions, because a stopping node waits for the end of one. */
    async deleteOld(): Promise<void> {
      const { keepDays } = dependencies;
      if (keepDays === 0) return;
      for (let count = 0; count < deletionsMax; count += 1) {
        if ((await store.deleteEnded(later(clock.now(), -keepDays * hours(24)))) === 0) return;
      }
    },
    countInFlight: () => inFlight.size,
    idle,
    /** Callbacks that have not begun are released. Attempts in flight may go on for a moment. */
    async stop(): Promise<void> {
      const graceMs = Math.min(graceMaxMs, dependencies.drainMs);
      await Promise.race([drain(graceMs), pause(systemClock, graceMs + releaseMs)]);
      await worker.stop();
    },
  };

  async function drain(graceMs: number): Promise<void> {
    isStopping = true;
    release(limiter.clear());
    await Promise.race([idle(), pause(clock, graceMs)]);
    isCancelled = true;
    await worker.stop();
    await idle();
  }

  async function idle(): Promise<void> {
    while (inFlight.size > 0) await Promise.all(inFlight);
  }

  async function claimSome(): Promise<number> {
    const now = clock.now();
    const room = Math.min(queuedMax - limiter.queuedCount, activeMax - inFlight.size);
    if (room <= 0 || isStopping) return 0;
    const claimed = await store.claimDue({
      now,
      until: later(now, leaseMs),
      countMax: Math.min(claimMax, room),
      except: limiter.saturated(),
    });
    for (const callback of claimed) admit({ callback, order: undefined });
    return claimed.length;
  }

  function admit(job: Job): void {
    if (isStopping) {
      release([job]);
      return;
    }
    const keepsOrder = limiter.queuedCount < ordersKeptMax;
    if (limiter.admit(keepsOrder ? job : { ...job, order: undefined }) === "run") run(job);
  }

  function run(job: Job): void {
    let hasFinished = false;
    const work = deliver(job, finish).catch((error) => logFailure(job.callback, error));
    track(work.finally(finish));

    /** Called when the receiver has answered. Recording the attempt does not occupy the slot. */
    function finish(): void {
      if (hasFinished) return;
      hasFinished = true;
      const next = limiter.finish(job);
      if (next !== undefined) run(next);
    }
  }

  function track(work: Promise<void>): void {
    const tracked = work.finally(() => inFlight.delete(tracked));
    inFlight.add(tracked);
  }

  /** If the database does not answer, the leases expire. */
  function release(jobs: readonly Job[]): void {
    if (jobs.length === 0) return;
    const callbacks = jobs.map(({ callback }) => callback);
    track(store.release(callbacks, clock.now()).catch(() => undefined));
  }

  async function deliver({ callback, order }: Job, finish: () => void): Promise<void> {
    // The callback was queued so long that another node may claim it during the attempt.
    if (later(clock.now(), timeoutMs) > callback.leaseUntil) return;
    if (!isFirst(callback) && (await store.waitsForEarlier(callback))) return;
    const current = order ?? (await store.findOrder(callback));
    if (isStopping) return release([{ callback, order }]);
    const sent = await send(callback, current);
    finish();
    const isStopped = isCancelled && sent.status === undefined;
    const attempt = isStopped ? { ...sent, failure: nodeStopped } : sent;
    const now = clock.now();
    const decision =
      isStopped || attempt.isGatewayFault === true
        ? { dueAt: later(now, isStopped ? 0 : gatewayFaultGapMs), isCounted: false }
        : decide(callback, attempt, now, dependencies.retry);
    report(callback, attempt, decision);
    await store.record({ callback, attempt, decision });
  }

  /** A message that cannot be built counts as a failed attempt, or it would be tried for ever. */
  async function send(callback: Callback, order: Order | undefined): Promise<DeliveryAttempt> {
    try {
      const message = order && dependencies.buildMessage(callback, order);
      if (message === undefined) throw new Error("the order has no such transaction");
      return await worker.send(message);
    } catch (error) {
      logFailure(callback, error);
      return {
        at: clock.now(),
        method: "GET",
        url: callback.url,
        body: "",
        durationMs: 0,
        status: undefined,
        answer: "",
        retryAfterMs: undefined,
        failure: "the message could not be built",
      };
    }
  }

  function report(callback: Callback, attempt: DeliveryAttempt, decision: DeliveryDecision): void {
    const { status, failure, durationMs } = attempt;
    const { orderId: order, sequence } = callback;
    const outcome = status === undefined ? "none" : `${Math.floor(status / 100)}xx`;
    dependencies.observe(outcome, durationMs);
    const event = eventOf(callback, decision);
    const facts = { order, sequence, status, failure, ms: durationMs };
    const isOver = event === "callback.ended" && "ended" in decision;
    dependencies.log(event, isOver ? { ...facts, ended: decision.ended } : facts);
  }

  function logFailure({ orderId: order, sequence }: Callback, error: unknown): void {
    dependencies.log("callback.failed", { err: error, order, sequence });
  }
}

/** The database has every attempt, so a successful first one is only logged at level debug. */
export function eventOf({ tries }: Pick<Callback, "tries">, decision: DeliveryDecision) {
  const ended = "ended" in decision ? decision.ended : undefined;
  if (ended === "delivered" && tries === 0) return "callback.delivered";
  return ended === undefined || ended === "delivered" ? "callback.attempted" : "callback.ended";
}

function pause(clock: Clock, durationMs: number): Promise<void> {
  return new Promise((resolve) => void clock.after(durationMs, resolve));
}
