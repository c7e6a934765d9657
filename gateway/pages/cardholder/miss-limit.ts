/**
 * Lets nobody look for receipts that there are not, again and again: each look is a question to the
 * database. What is found costs nothing. Each node counts for itself.
 */
import type { Clock } from "../../values/time.ts";

export type MissLimit = {
  /** Zero when this client may look, else for how many seconds it should wait. */
  take(client: string | undefined): number;
  /** There was something: the look is not counted. */
  giveBack(client: string | undefined): void;
};

const missesAtOnce = 60;
const missesPerSecond = 2;

/** Whoever was heard of longest ago is forgotten first. */
const clientsMax = 10_000;

type Bucket = { readonly tokens: number; readonly at: number };

export function makeMissLimit(clock: Pick<Clock, "now">): MissLimit {
  const buckets = new Map<string, Bucket>();
  return {
    take(client) {
      if (client === undefined) return 0;
      const tokens = tokensOf(client);
      const isFree = tokens >= 1;
      put(client, isFree ? tokens - 1 : tokens);
      return isFree ? 0 : Math.max(1, Math.ceil((1 - tokens) / missesPerSecond));
    },
    giveBack(client) {
      if (client !== undefined) put(client, Math.min(missesAtOnce, tokensOf(client) + 1));
    },
  };

  function tokensOf(client: string): number {
    const { tokens, at } = buckets.get(client) ?? { tokens: missesAtOnce, at: clock.now() };
    return Math.min(missesAtOnce, tokens + ((clock.now() - at) / 1000) * missesPerSecond);
  }

  function put(client: string, tokens: number): void {
    buckets.delete(client);
    buckets.set(client, { tokens, at: clock.now() });
    if (buckets.size <= clientsMax) return;
    for (const oldest of buckets.keys().take(1)) buckets.delete(oldest);
  }
}
