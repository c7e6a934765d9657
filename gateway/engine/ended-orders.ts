/**
 * Orders that polls ask for again and that have ended, in memory. The database says of each that it
 * still has this version, in one statement for the polls of a moment: another node, an operator or
 * an erasure may have changed it. While the database is unreachable, no poll is answered from
 * memory.
 */
import type { Step } from "../orders/advance.ts";
import type { Order } from "../orders/order.ts";
import type { OrderId } from "../values/ids.ts";
import type { OrderKey } from "./find.ts";

type Dependencies = {
  readonly find: (key: OrderKey) => Promise<Order | undefined>;
  /** Whether the database has this version of the order. */
  readonly isCurrent: (order: Order) => Promise<boolean>;
  readonly limits?: Limits;
};

/** The limits of one generation. There are two generations. */
type Limits = { readonly ordersMax: number; readonly bytesMax: number };
const usualLimits: Limits = { ordersMax: 2_500, bytesMax: 12_000_000 };

/** An order takes so many times the length of its JSON, with its printed reply. */
const bytesPerCharacter = 4;

export function makeEndedOrders({ find, isCurrent, limits = usualLimits }: Dependencies) {
  /** Without an order: it was asked for once, or was open. Most are asked for once. */
  let young = new Map<OrderId, Order | undefined>();
  let old: typeof young = new Map();
  let bytes = 0;

  return {
    async find(key: OrderKey): Promise<Order | undefined> {
      const known = (young.has(key.orderId) ? young : old).get(key.orderId);
      const isTheirs = known !== undefined && known.merchantId === key.merchantId;
      if (isTheirs && (await isCurrent(known))) return known;
      const isAskedAgain = has(key.orderId);
      const found = await find(key);
      if (found !== undefined) remember(found, isAskedAgain);
      return found;
    },

    /** Called with every committed step. Orders that no one asks for are not kept. */
    onStep({ order }: Step): void {
      if (has(order.id)) remember(order, true);
    },

    /** Called every few seconds: orders that were read before the last call are forgotten. */
    forgetOld,
  };

  function has(id: OrderId): boolean {
    return young.has(id) || old.has(id);
  }

  function remember(order: Order, isAskedAgain: boolean): void {
    const isKept = isAskedAgain && order.transaction.finishedAt !== undefined;
    young.set(order.id, isKept ? order : undefined);
    bytes += isKept ? JSON.stringify(order).length * bytesPerCharacter : 0;
    if (young.size >= limits.ordersMax || bytes >= limits.bytesMax) forgetOld();
  }

  function forgetOld(): void {
    [old, young, bytes] = [young, new Map(), 0];
  }
}
