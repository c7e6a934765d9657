/**
 * Requests that wait for their answers, and the memory of answered ones, which distinguishes a
 * repeated answer from a late one.
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

/** Requests with the same time limit, sorted by their end. */
type Lane = { readonly timeoutMs: number; readonly waiters: Set<Waiter>; callOff: () => void };

/** Every waiting request of a gate, over any connection. */
export type WaitersByKey = Map<string, Waiter>;

/**
 * A connection's waiting requests, which are lost with it. Answers are searched among all requests
 * of the gate, because a host may answer over another connection. Requests with the same time limit
 * expire in the order of their sending, so each limit needs one timer.
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

  /** Returns false if no request waits for the answer. */
  answer(key: string, message: IsoMessage): boolean {
    const waiter = this.#byKey.get(key);
    if (waiter === undefined) return false;
    waiter.end(message);
    return true;
  }

  /** The requests of a lost connection are in doubt. Those of others are not affected. */
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
      // If more than the limit is left, the clock was set back, and the request must still end.
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
 * Remembers the latest `countMin` values or up to twice as many. Half of them are forgotten at a
 * time, because a map that loses its oldest entries one by one searches ever longer for them.
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
