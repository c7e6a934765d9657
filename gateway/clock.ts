/** The real clock. Whatever knows the time was handed a clock; this is the one of production. */
import { asInstant, type Clock } from "./values/time.ts";

export const systemClock: Clock = {
  now: () => asInstant(Date.now()),
  after(delayMs, task) {
    const timer = setTimeout(task, delayMs);
    // A timer alone must not keep a stopping gateway alive.
    timer.unref();
    return () => clearTimeout(timer);
  },
};
