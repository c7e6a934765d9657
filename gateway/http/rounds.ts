/**
 * Finds out whether this process is short of processor time, and if so, processes requests in
 * rounds and gathers commits. Requests that follow each other directly find code and data in the
 * processor's caches: at a few hundred a second they cost a quarter to a third less, and wait some
 * milliseconds each (decision 0045). With time to spare, each request is processed as it arrives.
 */
import { performance } from "node:perf_hooks";

/** The event loop's share of active time above which the process is busy. */
const busyAbove = 0.8;
/** Gathering lowers the share by a third, so below this share it is no longer needed. */
const calmBelow = 0.5;
/** The period of measurement is long enough that one request does not decide. */
const lookEveryMs = 100;

type Reading = ReturnType<typeof performance.eventLoopUtilization>;

/** `read` returns the event loop's times since the given reading, or since the start. */
export function makeIsBusy(
  read: (since?: Reading) => Reading = performance.eventLoopUtilization,
): () => boolean {
  let last = read();
  let isBusy = false;

  return () => {
    const now = read();
    const [idleMs, activeMs] = [now.idle - last.idle, now.active - last.active];
    if (idleMs + activeMs < lookEveryMs) return isBusy;
    last = now;
    isBusy = activeMs / (idleMs + activeMs) > (isBusy ? calmBelow : busyAbove);
    return isBusy;
  };
}

/**
 * The requests in one part of a round. While the database writes the orders of one part, the next
 * is processed. In a single part, a hundred connections would wait together for the one or the
 * other.
 */
const partMax = 48;

/** Returns the end of the present gap; undefined while the gateway is not busy and after a rest. */
export type UntilRound = () => Promise<void> | undefined;

export function makeRounds(gapMs: number, isBusy: () => boolean): UntilRound {
  let waiting: (() => void)[] = [];
  let isResting = false;

  return () => {
    if (isResting) return new Promise((goOn) => waiting.push(goOn));
    if (isBusy()) rest();
    return undefined;
  };

  function rest(): void {
    isResting = true;
    setTimeout(release, gapMs);
  }

  /**
   * Handlers continue when this function has returned. The next part waits for two turns of the
   * event loop, because in the first turn the orders of this part are sent to the database.
   */
  function release(): void {
    const part = waiting.slice(0, partMax);
    waiting = waiting.slice(partMax);
    for (const goOn of part) goOn();
    if (waiting.length > 0) setImmediate(setImmediate, release);
    else if (part.length > 0 && isBusy()) rest();
    else isResting = false;
  }
}
