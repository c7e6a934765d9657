/**
 * The requests that wait for their answers. Those with the same time limit run out in the order in
 * which they were made, so each limit needs one timer and not one per request: thousands wait.
 */
import type { IsoMessage } from "@tollgate/protocols/iso8583";
import { type Clock, type Instant, later } from "../../values/time.ts";

export type Ending = IsoMessage | "timeout" | "link_lost";

type Waiter = {
  readonly key: string;
  readonly lane: Lane;
  readonly deadlineAt: Instant;
  readonly promise: Promise<Ending>;
  readonly resolve: (ending: Ending) => void;
};

/** Requests with one time limit, the first to run out first. */
type Lane = { readonly timeoutMs: number; readonly waiters: Set<Waiter>; callOff: () => void };

export class Waiting {
  readonly #clock: Clock;
  readonly #byKey = new Map<string, Waiter>();
  readonly #lanes = new Map<number, Lane>();
  #onEmpty: () => void = () => {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  find(key: string): Promise<Ending> | undefined {
    return this.#byKey.get(key)?.promise;
  }

  add(key: string, timeoutMs: number): Promise<Ending> {
    const lane = this.#lanes.get(timeoutMs) ?? this.#openLane(timeoutMs);
    const deadlineAt = later(this.#clock.now(), timeoutMs);
    const waiter = { key, lane, deadlineAt, ...Promise.withResolvers<Ending>() };
    this.#byKey.set(key, waiter);
    lane.waiters.add(waiter);
    return waiter.promise;
  }

  /** False when nobody waits for it. */
  answer(key: string, message: IsoMessage): boolean {
    const waiter = this.#byKey.get(key);
    if (waiter === undefined) return false;
    this.#end(waiter, message);
    return true;
  }

  /** Their link is gone, and with it every answer. */
  loseAll(): void {
    for (const { callOff } of this.#lanes.values()) callOff();
    this.#lanes.clear();
    for (const waiter of this.#byKey.values()) this.#end(waiter, "link_lost");
  }

  whenEmpty(): Promise<void> {
    if (this.#byKey.size === 0) return Promise.resolve();
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
      // More left than there ever was: the clock was set back, and nobody waits for it to return.
      if (leftMs > 0 && leftMs <= lane.timeoutMs) {
        this.#arm(lane, leftMs);
        return;
      }
      this.#end(waiter, "timeout");
    }
    this.#lanes.delete(lane.timeoutMs);
  }

  #end(waiter: Waiter, ending: Ending): void {
    this.#byKey.delete(waiter.key);
    waiter.lane.waiters.delete(waiter);
    waiter.resolve(ending);
    if (this.#byKey.size === 0) this.#onEmpty();
  }
}
