/**
 * Delivers callbacks. Each receiver of each merchant has its own places: one that hangs fills those
 * and no other's. What is in hand here is leased in the database, so whatever a node drops or takes
 * with it when it ends is found there again.
 */
import type { Order } from "../orders/order.ts";
import { type Clock, type Instant, later } from "../values/time.ts";
import {
  type Attempt,
  type Callback,
  type CallbackStore,
  placeOf,
  type Verdict,
} from "./callback.ts";
import { judge, type RetryOptions } from "./retry.ts";
import type { Message } from "./send.ts";

export type Deliver = {
  /** Just written with its order: it goes out at once. */
  start(callback: Callback, order: Order): void;
  /** Takes up what is due; answers how many. */
  claimDue(): Promise<number>;
  readonly count: number;
  idle(): Promise<void>;
};

type Needs = {
  readonly store: CallbackStore;
  readonly send: (message: Message) => Promise<Attempt>;
  readonly messageOf: (callback: Callback, order: Order) => Message | undefined;
  readonly clock: Clock;
  readonly leaseMs: number;
  /** How long one try may take. */
  readonly tryMs: number;
  readonly retry: RetryOptions;
  readonly onAttempt: (callback: Callback, attempt: Attempt, verdict: Verdict) => void;
  readonly onTrouble: (callback: Callback, error: unknown) => void;
};

type Job = {
  readonly callback: Callback;
  readonly order: Order | undefined;
  readonly leaseUntil: Instant;
};

const placesPerReceiver = 32;
const waitingPerReceiverMax = 10_000;
const waitingMax = 20_000;
const activeMax = 4_096;
/** With so many waiting, no more of a receiver are taken from the database. */
const fullAt = 256;
const claimMax = 256;

export function makeDeliver(needs: Needs): Deliver {
  const { store, clock, leaseMs } = needs;
  const receivers = new Map<string, { active: number; readonly waiting: Job[] }>();
  const working = new Set<Promise<void>>();
  let waitingCount = 0;

  return {
    start: (callback, order) => take({ callback, order, leaseUntil: later(clock.now(), leaseMs) }),
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
    async idle() {
      while (working.size > 0) await Promise.all(working);
    },
  };

  async function claimSome(): Promise<number> {
    const now = clock.now();
    const until = later(now, leaseMs);
    const most = Math.min(claimMax, waitingMax - waitingCount, activeMax - working.size);
    if (most <= 0) return 0;
    const full = [...receivers].filter(([, { waiting }]) => waiting.length >= fullAt);
    const except = full.map(([place]) => place);
    const claimed = await store.claimDue({ now, until, most, except });
    for (const callback of claimed) take({ callback, order: undefined, leaseUntil: until });
    return claimed.length;
  }

  function take(job: Job): void {
    const place = placeOf(job.callback);
    const receiver = receivers.get(place) ?? { active: 0, waiting: [] };
    if (receiver.active < placesPerReceiver && working.size < activeMax) {
      receivers.set(place, receiver);
      run(place, job);
      return;
    }
    // Beyond that its lease runs out, and it is found in the database again.
    if (receiver.waiting.length >= waitingPerReceiverMax || waitingCount >= waitingMax) return;
    // Nobody starts those of a receiver without anything under way.
    if (receiver.active === 0) return;
    waitingCount += 1;
    // The order is read again then: a long queue shall hold little.
    receiver.waiting.push({ ...job, order: undefined });
  }

  function run(place: string, job: Job): void {
    const receiver = receivers.get(place);
    if (receiver === undefined) return;
    receiver.active += 1;
    let isDone = false;
    const work: Promise<void> = deliver(job, makeRoom)
      .catch((error) => needs.onTrouble(job.callback, error))
      .finally(() => {
        makeRoom();
        working.delete(work);
      });
    working.add(work);

    /** The receiver has answered: writing that down must not keep its place. */
    function makeRoom(): void {
      if (isDone || receiver === undefined) return;
      isDone = true;
      receiver.active -= 1;
      const next = receiver.waiting.shift();
      if (next !== undefined) {
        waitingCount -= 1;
        run(place, next);
      } else if (receiver.active === 0) receivers.delete(place);
    }
  }

  async function deliver(
    { callback, order, leaseUntil }: Job,
    makeRoom: () => void,
  ): Promise<void> {
    // It has waited for so long that another node might take it up while we are at it.
    if (later(clock.now(), needs.tryMs) > leaseUntil) return;
    if (callback.sequence > 1 && (await store.waitsForEarlier(callback))) return;
    const attempt = await attemptOf(callback, order ?? (await store.findOrder(callback)));
    makeRoom();
    const verdict = judge(callback, attempt, clock.now(), needs.retry);
    needs.onAttempt(callback, attempt, verdict);
    await store.record({ callback, attempt, verdict });
  }

  /** What cannot even be said fails like what is not heard: it must not be tried for ever. */
  async function attemptOf(callback: Callback, order: Order | undefined): Promise<Attempt> {
    try {
      const message = order && needs.messageOf(callback, order);
      if (message === undefined) throw new Error("there is nothing to tell of");
      return await needs.send(message);
    } catch (error) {
      needs.onTrouble(callback, error);
      return {
        ...{ at: clock.now(), method: "GET", url: callback.url, body: "", durationMs: 0 },
        ...{ status: undefined, answer: "", retryAfterMs: undefined },
        failure: "it could not be written",
      };
    }
  }
}
