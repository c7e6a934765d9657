/**
 * Delivers callbacks, each receiver's in its own places. What is in hand here is leased in the
 * database, so whatever a node drops or takes with it when it ends is found there again.
 */
import type { Order } from "../orders/order.ts";
import { type Clock, later } from "../values/time.ts";
import type { Callback, CallbackStore, DeliveryAttempt, DeliveryDecision } from "./callback.ts";
import { activeMax, makeDeliveryLimiter, waitingMax } from "./delivery-limiter.ts";
import { judge, type RetryOptions } from "./retry.ts";
import type { Message } from "./send.ts";

export type Deliver = {
  /** Just written with its order: it goes out at once. */
  start(callback: Callback, order: Order): void;
  /** Takes up what is due; answers how many. */
  claimDue(): Promise<number>;
  readonly count: number;
  idle(): Promise<void>;
  /** What has not begun is given back; what is under way has a moment, and is then called off. */
  stop(graceMs: number): Promise<void>;
};

type Dependencies = {
  readonly store: CallbackStore;
  readonly send: (message: Message) => Promise<DeliveryAttempt>;
  /** Ends every try that is under way. */
  readonly callOff: () => void;
  readonly messageOf: (callback: Callback, order: Order) => Message | undefined;
  readonly clock: Clock;
  readonly leaseMs: number;
  /** How long one try may take. */
  readonly tryMs: number;
  readonly retry: RetryOptions;
  readonly onAttempt: (
    callback: Callback,
    attempt: DeliveryAttempt,
    verdict: DeliveryDecision,
  ) => void;
  readonly onTrouble: (callback: Callback, error: unknown) => void;
};

type Job = { readonly callback: Callback; readonly order: Order | undefined };

const claimMax = 256;
/** With so many waiting their orders are read again: a long queue shall hold little. */
const ordersKeptMax = 2_000;
const calledOff = "called off: the node stopped";
/** After a try that failed by our own fault. */
const ownFaultGapMs = 10_000;

export function makeDeliver(dependencies: Dependencies): Deliver {
  const { store, clock, leaseMs } = dependencies;
  const places = makeDeliveryLimiter<Job>();
  const working = new Set<Promise<void>>();
  let isStopping = false;
  let isCalledOff = false;

  return {
    start: (callback, order) => take({ callback, order }),
    async claimDue() {
      let count = 0;
      for (let claimed = claimMax; claimed === claimMax; count += claimed) {
        claimed = await claimSome();
      }
      return count;
    },
    get count() {
      return working.size;
    },
    idle,
    async stop(graceMs) {
      isStopping = true;
      giveBack(places.empty());
      await Promise.race([idle(), pause(graceMs)]);
      isCalledOff = true;
      dependencies.callOff();
      await idle();
    },
  };

  async function idle(): Promise<void> {
    while (working.size > 0) await Promise.all(working);
  }

  async function claimSome(): Promise<number> {
    const now = clock.now();
    const most = Math.min(
      ...[claimMax, waitingMax - places.waitingCount, activeMax - working.size],
    );
    if (most <= 0 || isStopping) return 0;
    const until = later(now, leaseMs);
    const claimed = await store.claimDue({ now, until, most, except: places.full() });
    for (const callback of claimed) take({ callback, order: undefined });
    return claimed.length;
  }

  function take(job: Job): void {
    if (isStopping) {
      giveBack([job]);
      return;
    }
    const keepsOrder = places.waitingCount < ordersKeptMax;
    const entered = places.enter(keepsOrder ? job : { ...job, order: undefined });
    if (entered === "goes") run(job);
  }

  function run(job: Job): void {
    let hasLeft = false;
    const work = deliver(job, makeRoom).catch((error) =>
      dependencies.onTrouble(job.callback, error),
    );
    keep(work.finally(makeRoom));

    /** The receiver has answered: writing that down must not keep its place. */
    function makeRoom(): void {
      if (hasLeft) return;
      hasLeft = true;
      const next = places.leave(job);
      if (next !== undefined) run(next);
    }
  }

  function keep(work: Promise<void>): void {
    const kept = work.finally(() => working.delete(kept));
    working.add(kept);
  }

  /** While the database is away they are left to their leases. */
  function giveBack(jobs: readonly Job[]): void {
    if (jobs.length === 0) return;
    const callbacks = jobs.map(({ callback }) => callback);
    keep(store.giveBack(callbacks, clock.now()).catch(() => undefined));
  }

  async function deliver({ callback, order }: Job, makeRoom: () => void): Promise<void> {
    // It has waited for so long that another node might take it up while we are at it.
    if (later(clock.now(), dependencies.tryMs) > callback.leaseUntil) return;
    if (callback.sequence > 1 && (await store.waitsForEarlier(callback))) return;
    const told = order ?? (await store.findOrder(callback));
    if (isStopping) return giveBack([{ callback, order }]);
    const priorAttempts = await attemptOf(callback, told);
    makeRoom();
    const isEnd = isCalledOff && priorAttempts.status === undefined;
    const attempt = isEnd ? { ...priorAttempts, failure: calledOff } : priorAttempts;
    const now = clock.now();
    const verdict =
      isEnd || attempt.isOurFault === true
        ? { dueAt: later(now, isEnd ? 0 : ownFaultGapMs), isCounted: false }
        : judge(callback, attempt, now, dependencies.retry);
    dependencies.onAttempt(callback, attempt, verdict);
    await store.record({ callback, attempt, verdict });
  }

  /** What cannot even be said fails like what is not heard: it must not be tried for ever. */
  async function attemptOf(callback: Callback, order: Order | undefined): Promise<DeliveryAttempt> {
    try {
      const message = order && dependencies.messageOf(callback, order);
      if (message === undefined) throw new Error("there is nothing to tell of");
      return await dependencies.send(message);
    } catch (error) {
      dependencies.onTrouble(callback, error);
      return {
        ...{ at: clock.now(), method: "GET", url: callback.url, body: "", durationMs: 0 },
        ...{ status: undefined, answer: "", retryAfterMs: undefined },
        failure: "it could not be written",
      };
    }
  }

  function pause(durationMs: number): Promise<void> {
    return new Promise((resolve) => void clock.after(durationMs, resolve));
  }
}
