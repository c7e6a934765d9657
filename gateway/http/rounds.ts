/**
 * Whether this process is short of processor time, because its own work or other programs take it.
 * Then it handles requests in rounds, and gathers commits: requests that are handled one right
 * after the other find their code and data in the processor's caches, and cost a quarter to a third
 * less at a few hundred requests a second, and some milliseconds of waiting each (decision 0045). A
 * gateway with time to spare handles each request as it arrives.
 */
import { performance } from "node:perf_hooks";

/** The event loop's share of active time above which the process is busy. */
const busyAbove = 0.8;
/** Gathering lowers the share by a third: below this, the process is fine without it. */
const calmBelow = 0.5;
/** Long enough for a share that one request does not decide. */
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
 * A longer round is handled in parts: while the database writes the orders of one, the next is
 * handled. In one part, a hundred connections would wait together for the one or the other.
 */
const partMax = 48;

/**
 * Returns what a request waits for: the end of the present gap, or nothing while the gateway is not
 * busy and after a rest.
 */
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
   * The handlers go on when this function has returned. The next part waits for two turns of the
   * event loop: in the first of them the orders of this part leave for the database.
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
