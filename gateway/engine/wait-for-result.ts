/**
 * Waits for the end of a transaction, or for the cardholder's turn, within a limit. Steps that this
 * node commits wake the wait at once; steps of other nodes are looked for at an interval.
 */
import type { Step } from "../orders/advance.ts";
import type { Order, Stage } from "../orders/order.ts";
import type { FoundOrder } from "../orders/requests.ts";
import { isFinal, waitsForCardholder } from "../orders/stages.ts";
import { transactionsOf } from "../orders/transactions.ts";
import type { OrderId } from "../values/ids.ts";
import { type Clock, later } from "../values/time.ts";

export type ResultWaits = ReturnType<typeof makeResultWaits>;

type Dependencies = {
  readonly load: (order: Order) => Promise<Order>;
  readonly clock: Clock;
  readonly limitMs: number;
  readonly lookEveryMs: number;
};

type Listener = { latest?: Order | undefined; wake: () => void };

export function makeResultWaits({ load, clock, limitMs, lookEveryMs }: Dependencies) {
  const listeners = new Map<OrderId, Set<Listener>>();
  let ended = false;

  return {
    /** The same transaction when it is final or the cardholder's turn, or when the time is over. */
    async waitForResult(found: FoundOrder): Promise<FoundOrder> {
      if (endsWait(found.transaction.stage)) return found;
      const deadlineAt = later(clock.now(), limitMs);
      const { listener, close } = listen(found.order.id);
      let met = found;
      for (;;) {
        // The first look is at once: a step may have been committed since the order was read.
        // A failed look changes nothing: the order is accepted, and the next look follows.
        const { latest } = listener;
        listener.latest = undefined;
        met = findAgain(latest ?? (await load(met.order).catch(() => met.order)), met);
        const leftMs = deadlineAt - clock.now();
        if (ended || leftMs <= 0 || endsWait(met.transaction.stage)) break;
        await sleep(listener, Math.min(leftMs, lookEveryMs));
      }
      close();
      return met;
    },
    /** This node has committed a step. */
    notify({ order }: Step): void {
      for (const listener of listeners.get(order.id) ?? []) {
        listener.latest = order;
        listener.wake();
      }
    },
    /** The node stops: every wait ends with the order as it is. */
    end(): void {
      ended = true;
      for (const set of listeners.values()) for (const { wake } of set) wake();
    },
  };

  function listen(id: OrderId): { readonly listener: Listener; readonly close: () => void } {
    const listener: Listener = { wake: () => undefined };
    const set = listeners.get(id) ?? new Set();
    listeners.set(id, set.add(listener));
    const close = () => {
      set.delete(listener);
      if (set.size === 0) listeners.delete(id);
    };
    return { listener, close };
  }

  /** Waits until a step is reported, or until the time is over. */
  async function sleep(listener: Listener, durationMs: number): Promise<void> {
    if (listener.latest !== undefined) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    listener.wake = resolve;
    const callOff = clock.after(durationMs, resolve);
    await promise;
    callOff();
  }
}

/** Only a merchant who is answered can show the cardholder the step that the order waits for. */
function endsWait(stage: Stage): boolean {
  return isFinal(stage) || waitsForCardholder(stage);
}

/** Other transactions of the order may have begun and ended since. */
function findAgain(seen: Order, { order: known, transaction }: FoundOrder): FoundOrder {
  const order = seen.version < known.version ? known : seen;
  const same = transactionsOf(order).find(
    ({ serialNumber }) => serialNumber === transaction.serialNumber,
  );
  return { order, transaction: same ?? transaction };
}
