/** A clock that tests move, so that nothing waits for real time. */
import { asInstant, type Clock, type Instant } from "./time.ts";

/** 2026-11-15 02:04:06.789 UTC. */
export const startsAt = asInstant(1_794_708_246_789);

export class TestClock implements Clock {
  #now: number = startsAt;
  #timers: { readonly at: number; readonly task: () => void }[] = [];

  now(): Instant {
    return asInstant(this.#now);
  }

  after(delayMs: number, task: () => void): () => void {
    const timer = { at: this.#now + delayMs, task };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  /** The times, from now, at which something is scheduled, the soonest first. */
  get pendingMs(): readonly number[] {
    return this.#timers.map(({ at }) => at - this.#now).toSorted((left, right) => left - right);
  }

  move(durationMs: number): void {
    const end = this.#now + durationMs;
    for (;;) {
      const [next] = this.#timers.toSorted((left, right) => left.at - right.at);
      if (next === undefined || next.at > end) break;
      this.#timers = this.#timers.filter((other) => other !== next);
      this.#now = next.at;
      next.task();
    }
    this.#now = end;
  }
}
