/** What a receiver remembers: which results are kept, or being kept, and who waits for what. */

/**
 * How far a result has come. One in a database serves several processes. A result is lost when
 * somebody is told "done" before it is kept, so it is "in_progress" until then; and whoever died in
 * between must not block it for ever, so what was begun a minute ago and is not done is new again.
 */
export type Seen = {
  /** Begins it when it is new: of several at once, one only is told so. */
  begin(id: string): Progress | Promise<Progress>;
  /** It is kept: from now on it is a repeat. */
  done(id: string): unknown;
  /** It was not kept: when it comes again, it is new. */
  forget(id: string): unknown;
};

export type Progress = "new" | "in_progress" | "done";

/** The serial number tells an order's transactions apart; without it any result will do. */
export type WaitFor = (
  orderId: string,
  options?: { readonly serialNumber?: string | undefined; readonly signal?: AbortSignal },
) => Promise<void>;

export type Heard = { readonly orderId: string; readonly serialNumber: string | undefined };

const rememberedMax = 10_000;

/** Longer than the gateway waits for an answer, shorter than its first gap between tries. */
const beginningMs = 60_000;

export function makeMemory(now: () => number): Seen {
  const begun = makeRecent<number | "done">();
  return {
    begin(id) {
      const before = begun.get(id);
      if (before === "done") return "done";
      if (before !== undefined && now() - before < beginningMs) return "in_progress";
      begun.put(id, now());
      return "new";
    },
    done: (id) => begun.put(id, "done"),
    forget: (id) => begun.delete(id),
  };
}

/** Whoever begins to wait a moment too late is told at once. */
export function makeWaiting(): { readonly waitFor: WaitFor; tell(heard: Heard): void } {
  const before = makeRecent<true>();
  const waiting = new Map<string, Set<() => void>>();

  return {
    tell({ orderId, serialNumber }) {
      for (const key of [orderId, `${orderId}/${serialNumber}`]) {
        before.put(key, true);
        for (const told of waiting.get(key) ?? []) told();
        waiting.delete(key);
      }
    },
    waitFor(orderId, { serialNumber, signal } = {}) {
      const key = serialNumber === undefined ? orderId : `${orderId}/${serialNumber}`;
      if (before.get(key) === true) return Promise.resolve();
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

/** The oldest are forgotten first. */
function makeRecent<Value>() {
  const values = new Map<string, Value>();
  return {
    get: (key: string) => values.get(key),
    put(key: string, value: Value): void {
      values.delete(key);
      values.set(key, value);
      if (values.size <= rememberedMax) return;
      for (const oldest of values.keys().take(1)) values.delete(oldest);
    },
    delete: (key: string) => values.delete(key),
  };
}
