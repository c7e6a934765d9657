/** A clock that stands still until a test moves it. */
import type { Clock, Instant } from "../../gateway/values/time.ts";

const hourMs = 3_600_000;

type Timer = { readonly at: number; readonly task: () => void };

export class TestClock implements Clock {
  #now: number;
  readonly #timers = new Set<Timer>();

  constructor(now = Date.now()) {
    this.#now = now;
  }

  now(): Instant {
    return this.#now as Instant;
  }

  after(delayMs: number, task: () => void): () => void {
    const timer = { at: this.#now + delayMs, task };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  /**
   * Returns the clock of a machine that is ahead of this time, or behind it with a negative value.
   */
  ahead(aheadMs: number): Clock {
    return {
      now: () => (this.#now + aheadMs) as Instant,
      after: (delayMs, task) => this.after(delayMs, task),
    };
  }

  /** Whether a timer expires in exactly this time, which shows that its request is under way. */
  isAwaited(delayMs: number): boolean {
    return [...this.#timers].some(({ at }) => at === this.#now + delayMs);
  }

  /**
   * Runs the timers that expire on the way, in their order and each at its own time. Over hours, it
   * runs only timers that are set already: a link that is down would try thousands of times.
   */
  advance(durationMs: number): void {
    const end = this.#now + durationMs;
    const known = durationMs < hourMs ? this.#timers : new Set(this.#timers);
    for (;;) {
      const due = this.#findFirst(known, end);
      if (due === undefined) break;
      const isSet = this.#timers.delete(due);
      known.delete(due);
      if (!isSet) continue;
      this.#now = Math.max(this.#now, due.at);
      due.task();
    }
    this.#now = end;
  }

  /** Finds the next timer. Of timers for the same time, it is the one that was set first. */
  #findFirst(timers: ReadonlySet<Timer>, until: number): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of timers) {
      if (timer.at <= until && timer.at < (first?.at ?? Number.POSITIVE_INFINITY)) first = timer;
    }
    return first;
  }
}
