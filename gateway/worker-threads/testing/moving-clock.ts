/** A clock that a test moves: timers run when it passes them. */
import { asInstant, type Clock } from "../../values/time.ts";

export function makeMovingClock(start = 1_794_708_246_000): Clock & { move(ms: number): void } {
  let timers: { readonly at: number; readonly task: () => void }[] = [];
  let now = start;
  return {
    now: () => asInstant(now),
    after(delayMs, task) {
      const timer = { at: now + delayMs, task };
      timers.push(timer);
      return () => {
        timers = timers.filter((each) => each !== timer);
      };
    },
    move(durationMs) {
      now += durationMs;
      const due = timers.filter(({ at }) => at <= now);
      timers = timers.filter(({ at }) => at > now);
      for (const { task } of due) task();
    },
  };
}
