/**
 * Tells whether this process is short of processor time, because its own work or other programs
 * take it. Requests and commits are gathered only then: gathering saves processor time and costs
 * every request some milliseconds (decision 0045).
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
