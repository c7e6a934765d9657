/** The time that one exchange may take: when it is over, everything under way is ended. */
import type { Clock } from "../values/time.ts";

export type Limit = {
  readonly isOver: boolean;
  /** Fails when the time is over, and never ends otherwise. */
  over(): Promise<never>;
  /** Called when the time is over, at once when it is already. */
  onOver(cut: () => void): void;
  callOff(): void;
};

export const timeIsOver = "no answer in time";

export function startLimit(clock: Clock, durationMs: number): Limit {
  const cuts: (() => void)[] = [];
  let isOver = false;
  const callOff = clock.after(durationMs, () => {
    isOver = true;
    for (const cut of cuts) cut();
  });
  const onOver = (cut: () => void) => {
    if (isOver) cut();
    else cuts.push(cut);
  };
  return {
    get isOver() {
      return isOver;
    },
    over: () => new Promise((_, reject) => onOver(() => reject(new Error(timeIsOver)))),
    onOver,
    callOff,
  };
}
