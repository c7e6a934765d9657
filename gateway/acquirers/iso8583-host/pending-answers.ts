/**
 * Requests that wait for their answers, and the memory of answered ones, which distinguishes a
 * second answer from a late one.
 */
import type { IsoMessage } from "@tollgate/protocols/iso8583";
import { type Clock, type Instant, later } from "../../values/time.ts";

export type Ending = IsoMessage | "timeout" | "link_lost";

type Waiter = {
  readonly sentAt: Instant;
  readonly deadlineAt: Instant;
  readonly promise: Promise<Ending>;
  readonly end: (ending: Ending) => void;
};

/** Requests with one time limit, the first to run out first. */
type Lane = { readonly timeoutMs: number; readonly waiters: Set<Waiter>; callOff: () => void };

/** Every request of a gate that waits for its answer, over whichever connection it was sent. */
export type WaitersByKey = Map<string, Waiter>;

/**
 * The requests of one connection that wait for their answers: they are lost with it. An answer is
 * looked up among the requests of the whole gate, because a host may answer over another
 * connection. Requests with the same time limit expire in the order in which they were sent, so
 * each limit needs one timer, not one per request.
 */
export class PendingAnswers {
  readonly #clock: Clock;
  readonly #byKey: WaitersByKey;
  readonly #lanes = new Map<number, Lane>();
  #count = 0;
  #onEmpty: () => void = () => {};

  constructor(clock: Clock, byKey: WaitersByKey = new Map()) {
    this.#clock = clock;
    this.#byKey = byKey;
  }

  /** The number of requests that wait on this connection. */
  get count(): number {
    return this.#count;
  }

  find(key: string): Promise<Ending> | undefined {
    return this.#byKey.get(key)?.promise;
  }

  add(key: string, timeoutMs: number): Promise<Ending> {
    const lane = this.#lanes.get(timeoutMs) ?? this.#openLane(timeoutMs);
    const sentAt = this.#clock.now();
    const deadlineAt = later(sentAt, timeoutMs);
    const { promise, resolve } = Promise.withResolvers<Ending>();
    const waiter: Waiter = {
      sentAt,
      deadlineAt,
      promise,
      end: (ending) => {
        this.#byKey.delete(key);
        lane.waiters.delete(waiter);
        this.#count -= 1;
        resolve(ending);
        if (this.#count === 0) this.#onEmpty();
      },
    };
    this.#byKey.set(key, waiter);
    lane.waiters.add(waiter);
    this.#count += 1;
    return promise;
  }

  /** False when no request waits for it. */
  answer(key: string, message: IsoMessage): boolean {
    const waiter = this.#byKey.get(key);
    if (waiter === undefined) return false;
    waiter.end(message);
    return true;
  }

  /** The connection is lost: its requests are in doubt, those of other connections are not. */
  loseAll(): void {
    const lanes = [...this.#lanes.values()];
    this.#lanes.clear();
    for (const { callOff, waiters } of lanes) {
      callOff();
      for (const waiter of waiters) waiter.end("link_lost");
    }
  }

  whenEmpty(): Promise<void> {
    if (this.#count === 0) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onEmpty = resolve;
    return promise;
  }

  #openLane(timeoutMs: number): Lane {
    const lane: Lane = { timeoutMs, waiters: new Set(), callOff: () => {} };
    this.#lanes.set(timeoutMs, lane);
    this.#arm(lane, timeoutMs);
    return lane;
  }

  #arm(lane: Lane, delayMs: number): void {
    lane.callOff = this.#clock.after(delayMs, () => this.#sweep(lane));
  }

  #sweep(lane: Lane): void {
    const now = this.#clock.now();
    for (const waiter of lane.waiters) {
      const leftMs = waiter.deadlineAt - now;
      // More left than the limit itself: the clock was set back, and the request must still end.
      if (leftMs > 0 && leftMs <= lane.timeoutMs) {
        this.#arm(lane, leftMs);
        return;
      }
      waiter.end("timeout");
    }
    this.#lanes.delete(lane.timeoutMs);
  }
}

/**
 * Remembers the latest values, at least `countMin` and at most twice as many. It forgets half at a
 * time: a map that forgets its oldest entry one by one searches for it longer and longer.
 */
export class Recent<Value> {
  readonly #countMin: number;
  #newer = new Map<string, Value>();
  #older = new Map<string, Value>();

  constructor(countMin: number) {
    this.#countMin = countMin;
  }

  remember(key: string, value: Value): void {
    if (this.#newer.size >= this.#countMin) {
      this.#older = this.#newer;
      this.#newer = new Map();
    }
    this.#newer.set(key, value);
  }

  find(key: string): Value | undefined {
    return this.#newer.get(key) ?? this.#older.get(key);
  }
}
