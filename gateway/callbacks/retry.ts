/** What becomes of a callback after a try: over, or once more after a gap that grows. */
import { asInstant, type Instant, parseDate } from "../values/time.ts";
import type { Callback, DeliveryAttempt, DeliveryDecision } from "./callback.ts";

export type RetryOptions = {
  /** Between tries; when they are used up it is given up. */
  readonly gapsMs: readonly number[];
  /** From 0 up to 1: so that receivers which failed together are not called together again. */
  readonly random: () => number;
};

/** However long a receiver wishes to be left alone. */
const retryAfterMaxMs = 86_400_000;
const jitter = 0.1;
/** For what a node that was away has cost. */
const marginMs = 86_400_000;

export function judge(
  { tries, begunAt }: Callback,
  { status, retryAfterMs = 0 }: DeliveryAttempt,
  now: Instant,
  { gapsMs, random }: RetryOptions,
): DeliveryDecision {
  if (status !== undefined && status >= 200 && status < 300) return { ended: "delivered" };
  if (status === 410) return { ended: "stopped" };
  const gapMs = gapsMs[tries];
  if (gapMs === undefined) return { ended: "given_up" };
  const jittered = gapMs * (1 - jitter + 2 * jitter * random());
  const wished = Math.min(retryAfterMs, retryAfterMaxMs);
  const dueAt = asInstant(now + Math.max(jittered, wished));
  // Whoever always wishes for more time does not get more than the table has.
  if (dueAt > begunAt + longestMs(gapsMs)) return { ended: "given_up" };
  return { dueAt, isCounted: true };
}

function longestMs(gapsMs: readonly number[]): number {
  return gapsMs.reduce((sum, gapMs) => sum + gapMs * (1 + jitter), marginMs);
}

/** Seconds or a date; what is neither, or over, is no wish. */
export function readRetryAfter(header: string | undefined, now: Instant): number | undefined {
  if (header === undefined) return undefined;
  const isCount = /^\d{1,9}$/.test(header);
  const waitMs = isCount ? Number(header) * 1000 : (parseDate(header) ?? now) - now;
  return waitMs > 0 ? waitMs : undefined;
}
