/** Tells the first of many at once, and then at most once in a while, how many there were. */
import type { Clock } from "../values/time.ts";

export type Seldom = { tell(cause: string): void; end(): void };

export function makeSeldom(
  clock: Clock,
  intervalMs: number,
  onTold: (lastCause: string, count: number) => void,
): Seldom {
  let untold = { cause: "", count: 0 };
  let callOff: (() => void) | undefined;

  return {
    tell(cause) {
      untold = { cause, count: untold.count + 1 };
      if (callOff === undefined) tellNow();
    },
    /** What is untold is told: nobody would later. */
    end() {
      if (untold.count > 0) tellNow();
      callOff?.();
    },
  };

  function tellNow(): void {
    const { cause, count } = untold;
    untold = { cause: "", count: 0 };
    callOff?.();
    callOff = clock.after(intervalMs, () => {
      callOff = undefined;
      if (untold.count > 0) tellNow();
    });
    onTold(cause, count);
  }
}
