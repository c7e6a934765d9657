/** The time that one exchange may take: when it is over, everything under way is ended. */
import type { Clock } from "../values/time.ts";

export type Limit = {
  readonly isOver: boolean;
  /** Fails when the time is over, and never ends otherwise. */
  readonly over: Promise<never>;
  /** Called when the time is over, at once when it is already. */
  onOver(cut: () => void): void;
  callOff(): void;
};

export const timeIsOver = "no answer in time";

export function startLimit(clock: Clock, durationMs: number): Limit {
  const cuts: (() => void)[] = [];
  let isOver = false;
  const { promise: over, reject } = Promise.withResolvers<never>();
  // Whoever waits for it is told; that nobody does is no trouble.
  over.catch(() => undefined);
  const callOff = clock.after(durationMs, () => {
    isOver = true;
    reject(new Error(timeIsOver));
    for (const cut of cuts) cut();
  });
  return {
    get isOver() {
      return isOver;
    },
    over,
    onOver(cut) {
      if (isOver) cut();
      else cuts.push(cut);
    },
    callOff,
  };
}
