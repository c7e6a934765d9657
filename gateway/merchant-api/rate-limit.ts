/**
 * A token bucket per merchant and kind of request. It is asked after authentication, so that nobody
 * can use up another's share; each node counts for itself.
 */
import type { MerchantId } from "../values/ids.ts";
import type { Clock } from "../values/time.ts";

/** Zero when the request may go on, else for how many seconds the merchant should wait. */
export type TakeToken = (isTransaction: boolean, merchant: MerchantId) => number;

export type RateLimits = {
  /** Per second and merchant; zero is no limit. */
  readonly transactionsPerSecond: number;
  readonly questionsPerSecond: number;
};

type Bucket = { tokens: number; at: number };

export function makeTakeToken(limits: RateLimits, clock: Clock): TakeToken {
  const transactions = makeBuckets(limits.transactionsPerSecond, clock);
  const questions = makeBuckets(limits.questionsPerSecond, clock);
  return (isTransaction, merchant) => (isTransaction ? transactions : questions)(merchant);
}

/** Bursts of up to one second's worth are let through. */
function makeBuckets(perSecond: number, clock: Clock): (merchant: MerchantId) => number {
  const buckets = new Map<MerchantId, Bucket>();
  if (perSecond === 0) return () => 0;
  return (merchant) => {
    const now = clock.now();
    const bucket = buckets.get(merchant) ?? { tokens: perSecond, at: now };
    const refilled = bucket.tokens + ((now - bucket.at) / 1000) * perSecond;
    const tokens = Math.min(perSecond, refilled);
    buckets.set(merchant, { tokens: tokens >= 1 ? tokens - 1 : tokens, at: now });
    return tokens >= 1 ? 0 : Math.max(1, Math.ceil((1 - tokens) / perSecond));
  };
}
