/** A clock that stands still until a test moves it. */
import type { Clock, Instant } from "../../gateway/values/time.ts";

export class TestClock implements Clock {
  #now = Date.now();
  #timers: { readonly at: number; readonly task: () => void }[] = [];

  now(): Instant {
    return this.#now as Instant;
  }

  after(delayMs: number, task: () => void): () => void {
    const timer = { at: this.#now + delayMs, task };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((each) => each !== timer);
    };
  }

  /** Whether a timer falls due in exactly this time: its request is under way then. */
  isAwaited(delayMs: number): boolean {
    return this.#timers.some(({ at }) => at === this.#now + delayMs);
  }

  /** Runs what falls due on the way, in its order, each at its own moment. */
  advance(durationMs: number): void {
    const end = this.#now + durationMs;
    for (;;) {
      const due = this.#timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.#timers = this.#timers.filter((each) => each !== due);
      this.#now = Math.max(this.#now, due.at);
      due.task();
    }
    this.#now = end;
  }
}
