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

type Wake = (order: Order | undefined) => void;

export function makeResultWaits({ load, clock, limitMs, lookEveryMs }: Dependencies) {
  const sleeping = new Map<OrderId, Set<Wake>>();
  let ended = false;

  return {
    /** The same transaction when it is final or the cardholder's turn, or when the time is over. */
    async wait(found: FoundOrder): Promise<FoundOrder> {
      const deadlineAt = later(clock.now(), limitMs);
      let met = found;
      while (!ended && !endsWait(met.transaction.stage)) {
        const leftMs = deadlineAt - clock.now();
        if (leftMs <= 0) break;
        const told = await sleep(met.order.id, Math.min(leftMs, lookEveryMs));
        // A failed look changes nothing: the order is accepted, and the next look follows.
        met = findAgain(told ?? (await load(met.order).catch(() => met.order)), met);
      }
      return met;
    },
    /** This node has committed a step. */
    notify({ order }: Step): void {
      for (const wake of sleeping.get(order.id) ?? []) wake(order);
    },
    /** The node stops: every wait ends with the order as it is. */
    end(): void {
      ended = true;
      for (const wakes of sleeping.values()) for (const wake of wakes) wake(undefined);
    },
  };

  /** Until a step is told, or nothing when the time is over. */
  async function sleep(id: OrderId, durationMs: number): Promise<Order | undefined> {
    const { promise, resolve } = Promise.withResolvers<Order | undefined>();
    const wakes = sleeping.get(id) ?? new Set();
    sleeping.set(id, wakes.add(resolve));
    const callOff = clock.after(durationMs, () => resolve(undefined));
    const told = await promise;
    callOff();
    wakes.delete(resolve);
    if (wakes.size === 0) sleeping.delete(id);
    return told;
  }
}

/** Only a merchant who is answered can show the cardholder the step that the order waits for. */
function endsWait(stage: Stage): boolean {
  return isFinal(stage) || waitsForCardholder(stage);
}

/** Other transactions of the order may have come and gone meanwhile. */
function findAgain(order: Order, { transaction }: FoundOrder): FoundOrder {
  const same = transactionsOf(order).find(
    ({ serialNumber }) => serialNumber === transaction.serialNumber,
  );
  return { order, transaction: same ?? transaction };
}
