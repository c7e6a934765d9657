/**
 * Token buckets, one per client: `burst` requests at once, `perSecond` in the long run. Each node
 * counts for itself. Also the rate at which refusals are reported.
 */
import type { Clock } from "../values/time.ts";
import { networkOf } from "./client-network.ts";
import type { HttpRequest } from "./router.ts";

export type RateLimitOptions = {
  /** Zero is no limit. */
  readonly perSecond: number;
  /** The number of one second when it is left out. */
  readonly burst?: number;
};

/** Beyond these, the client that has been idle longest is forgotten. */
const clientsMax = 10_000;

export function makeRateLimit<Client>(
  { perSecond, burst = perSecond }: RateLimitOptions,
  clock: Pick<Clock, "now">,
) {
  const buckets = new Map<Client, { readonly tokens: number; readonly at: number }>();
  if (perSecond === 0) return { take: () => 0, release: () => undefined };
  return {
    /** Takes a token and returns zero, or returns the seconds to wait for the next token. */
    take(client: Client): number {
      const tokens = tokensOf(client);
      put(client, tokens >= 1 ? tokens - 1 : tokens);
      return tokens >= 1 ? 0 : Math.max(1, Math.ceil((1 - tokens) / perSecond));
    },
    /** Releases a token, for a request that is not counted after all. */
    release: (client: Client) => put(client, Math.min(burst, tokensOf(client) + 1)),
  };

  function tokensOf(client: Client): number {
    const bucket = buckets.get(client);
    if (bucket === undefined) return burst;
    return Math.min(burst, bucket.tokens + ((clock.now() - bucket.at) / 1000) * perSecond);
  }

  function put(client: Client, tokens: number): void {
    buckets.delete(client);
    buckets.set(client, { tokens, at: clock.now() });
    if (buckets.size <= clientsMax) return;
    for (const idle of buckets.keys().take(1)) buckets.delete(idle);
  }
}

/** Tells by the network of the client whether a request comes too fast. */
export function makeNetworkLimit(
  options: RateLimitOptions,
  clock: Pick<Clock, "now">,
  addressOf: (request: HttpRequest) => string,
): (request: HttpRequest) => boolean {
  const { take } = makeRateLimit<string>(options, clock);
  return (request) => take(networkOf(addressOf(request)) ?? "") > 0;
}

/** Anyone can be refused as often as they like: the log must not grow with that. */
const summaryEveryMs = 60_000;

/** Reports the first at once, and then at most one summary a minute. */
export function makeSummary(clock: Clock, report: (lastCause: string, count: number) => void) {
  let [lastCause, count] = ["", 0];
  let cancel: (() => void) | undefined;

  return {
    add(cause: string): void {
      [lastCause, count] = [cause, count + 1];
      if (cancel === undefined) reportNow();
    },
    /** Reports the rest. */
    end(): void {
      if (count > 0) reportNow();
      cancel?.();
    },
  };

  function reportNow(): void {
    cancel?.();
    cancel = clock.after(summaryEveryMs, () => {
      cancel = undefined;
      if (count > 0) reportNow();
    });
    report(lastCause, count);
    count = 0;
  }
}
