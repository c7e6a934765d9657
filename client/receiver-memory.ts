/** What a receiver remembers: what it has heard before, and who waits for what. */

/** A set of ids; one in a database serves several processes. */
export type Seen = {
  /** Whether it is new. */
  add(id: string): boolean | Promise<boolean>;
  delete(id: string): unknown;
};

/** The serial number tells an order's transactions apart; without it any result will do. */
export type WaitFor = (
  orderId: string,
  options?: { readonly serialNumber?: string | undefined; readonly signal?: AbortSignal },
) => Promise<void>;

type Heard = { readonly orderid: string; readonly "serial-number": string };

const rememberedMax = 10_000;

/** The oldest are forgotten first. */
export function makeMemory(): Seen & { has(id: string): boolean } {
  const ids = new Set<string>();
  return {
    add(id) {
      if (ids.has(id)) return false;
      ids.add(id);
      if (ids.size > rememberedMax) for (const oldest of ids.values().take(1)) ids.delete(oldest);
      return true;
    },
    delete: (id) => ids.delete(id),
    has: (id) => ids.has(id),
  };
}

/** Whoever begins to wait a moment too late is told at once. */
export function makeWaiting(): { readonly waitFor: WaitFor; tell(heard: Heard): void } {
  const before = makeMemory();
  const waiting = new Map<string, Set<() => void>>();

  return {
    tell({ orderid, "serial-number": serialNumber }) {
      for (const key of [orderid, `${orderid}/${serialNumber}`]) {
        before.add(key);
        for (const told of waiting.get(key) ?? []) told();
        waiting.delete(key);
      }
    },
    waitFor(orderId, { serialNumber, signal } = {}) {
      const key = serialNumber === undefined ? orderId : `${orderId}/${serialNumber}`;
      if (before.has(key)) return Promise.resolve();
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const those = waiting.get(key) ?? new Set();
      waiting.set(key, those.add(resolve));
      const leave = () => {
        those.delete(resolve);
        if (those.size === 0 && waiting.get(key) === those) waiting.delete(key);
        reject(signal?.reason);
      };
      if (signal?.aborted === true) leave();
      else signal?.addEventListener("abort", leave, { once: true });
      return promise;
    },
  };
}
