/**
 * Finds an order of an entry point, waits for its result, and keeps in memory the ended orders that
 * merchants poll repeatedly. Another merchant's order is never found.
 */
import type { Step } from "../orders/advance.ts";
import { type Endpoint, type EntryPoint, shopNameOf } from "../orders/merchant.ts";
import type { Order, Stage } from "../orders/order.ts";
import type { FoundOrder, OrderQuery } from "../orders/requests.ts";
import { isFinal, waitsForCardholder } from "../orders/stages.ts";
import { findNamed, initialOf, transactionsOf } from "../orders/transactions.ts";
import { Failure } from "../values/failure.ts";
import {
  asEndpointId,
  asReceiptId,
  type EndpointId,
  type MerchantId,
  type OrderId,
  type ReceiptId,
  type SerialNumber,
} from "../values/ids.ts";
import { type Clock, type Instant, later } from "../values/time.ts";
import type { RequestDigest } from "../vault/request-digests.ts";

/** `digest` is that of the request that began the order. */
export type ExistingOrder = { readonly order: Order; readonly digest: RequestDigest };

/** Returns all orders with the client order id, the latest last. */
export type FindExisting = (
  merchant: MerchantId,
  clientOrderId: string,
) => Promise<readonly ExistingOrder[]>;

/**
 * The order of the request that a serial number names. `describes` is the serial number of the
 * request that began the transaction: another number if the named request was a repeat.
 */
export type NamedBySerial = { readonly orderId: OrderId; readonly describes: SerialNumber };

export type OrderKey = { readonly merchantId: MerchantId; readonly orderId: OrderId };

export type SearchDependencies = {
  readonly findById: (key: OrderKey) => Promise<Order | undefined>;
  readonly findExisting: FindExisting;
  readonly findBySerial: (
    merchant: MerchantId,
    serial: SerialNumber,
  ) => Promise<NamedBySerial | undefined>;
};

export type OrderSearch = ReturnType<typeof makeOrderSearch>;

export function makeOrderSearch(dependencies: SearchDependencies) {
  return {
    async find(entryPoint: EntryPoint, wanted: OrderQuery): Promise<FoundOrder | Failure> {
      const { bySerialNumber } = wanted;
      if (bySerialNumber !== undefined) return findBySerial(entryPoint, wanted, bySerialNumber);
      const order = await findLatest(entryPoint, wanted);
      if (order === undefined || !isWanted(order, entryPoint, wanted)) return notFound;
      return { order, transaction: order.transaction };
    },
  };

  async function findBySerial(
    entryPoint: EntryPoint,
    wanted: OrderQuery,
    serial: SerialNumber,
  ): Promise<FoundOrder | Failure> {
    const merchantId = entryPoint.merchant.id;
    const named = await dependencies.findBySerial(merchantId, serial);
    const orderId = named?.orderId ?? wanted.orderId;
    if ((wanted.orderId ?? orderId) !== orderId) return notFound;
    const describes = named?.describes ?? serial;
    for (const order of await findAll(merchantId, { ...wanted, orderId })) {
      const found = findNamed(order, describes);
      if (found !== undefined && isWanted(order, entryPoint, wanted)) return found;
    }
    return notFound;
  }

  /**
   * Which transaction a request began is stored with its order only, so without an order id all
   * orders with the client order id are searched.
   */
  async function findAll(
    merchantId: MerchantId,
    { orderId, clientOrderId }: OrderQuery,
  ): Promise<readonly Order[]> {
    if (orderId === undefined) {
      return (await dependencies.findExisting(merchantId, clientOrderId)).map(({ order }) => order);
    }
    const order = await dependencies.findById({ merchantId, orderId });
    return order === undefined ? [] : [order];
  }

  async function findLatest(
    entryPoint: EntryPoint,
    { orderId, clientOrderId }: OrderQuery,
  ): Promise<Order | undefined> {
    const merchantId = entryPoint.merchant.id;
    if (orderId !== undefined) return dependencies.findById({ merchantId, orderId });

    // Without an order id, the entry point gets the latest order that it may see.
    const known = await dependencies.findExisting(merchantId, clientOrderId);
    return known.findLast(({ order }) => isReachable(order, entryPoint))?.order;
  }
}

const notFound = new Failure("order_not_found");

function isWanted(order: Order, entryPoint: EntryPoint, { clientOrderId }: OrderQuery): boolean {
  return order.clientOrderId === clientOrderId && isReachable(order, entryPoint);
}

function isReachable({ endpointId }: Order, { endpoints }: EntryPoint): boolean {
  return endpoints.some(({ id }) => id === endpointId);
}

type ReceiptDependencies = {
  /** A disabled endpoint is returned too, because its receipts stay available. */
  readonly findEndpoint: (id: EndpointId) => Endpoint | undefined;
  /** An id that was never issued may give any order, so the caller compares receipt ids. */
  readonly readReceiptId: (receipt: ReceiptId) => OrderKey | undefined;
  readonly findOfReceipt: (merchant: MerchantId, orderId: OrderId) => Promise<Order | undefined>;
};

export type FindReceipt = ReturnType<typeof makeFindReceipt>;

/** Only approved orders have a receipt, and only at the endpoint that accepted them. */
export function makeFindReceipt(dependencies: ReceiptDependencies) {
  const { findEndpoint, readReceiptId, findOfReceipt } = dependencies;
  return async (endpointId: string, receiptId: string) => {
    const endpoint = findEndpoint(asEndpointId(endpointId));
    if (endpoint === undefined || !/^\d{1,39}$/.test(receiptId)) return undefined;
    const { merchant } = endpoint;
    const key = readReceiptId(asReceiptId(receiptId));
    if (key?.merchantId !== merchant.id) return undefined;
    const order = await findOfReceipt(merchant.id, key.orderId);
    if (order === undefined || order.endpointId !== endpoint.id) return undefined;
    const { stage, receiptId: own } = initialOf(order);
    const isReceipt = stage === "approved" && own === receiptId;
    return isReceipt ? { order, merchantName: shopNameOf(endpoint) } : undefined;
  };
}

type EndedOrdersOptions = {
  readonly find: (key: OrderKey) => Promise<Order | undefined>;
  /** Returns whether the database still has this version of the order. */
  readonly isCurrent: (order: Order) => Promise<boolean>;
  readonly limits?: Limits;
};

/** The cache has a young and an old generation. Each of them has these limits. */
type Limits = { readonly ordersMax: number; readonly bytesMax: number };
const usualLimits: Limits = { ordersMax: 2_500, bytesMax: 12_000_000 };

/** An estimate of the memory that an order takes, as a multiple of its length as JSON. */
const bytesPerCharacter = 4;

/**
 * Keeps in memory the ended orders that merchants poll repeatedly. Another node, an operator or an
 * erasure may change such an order, so each poll compares its version with the database, in one
 * query for concurrent polls. While the database is unreachable, polls fail.
 */
export function makeEndedOrders({ find, isCurrent, limits = usualLimits }: EndedOrdersOptions) {
  /** Recently read orders. The value is undefined if an order was read only once or is open. */
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

    onStep({ order }: Step): void {
      if (has(order.id)) remember(order, true);
    },

    /** Called every few seconds. Removes orders that were last read before the previous call. */
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

export type ResultWaits = ReturnType<typeof makeResultWaits>;

type WaitDependencies = {
  readonly load: (order: Order) => Promise<Order>;
  readonly clock: Clock;
  readonly limitMs: number;
  readonly lookEveryMs: number;
};

type Listener = { latest?: Order | undefined; wake: () => void };

/**
 * Lets requests wait for the result of a transaction. A step that this node commits ends the wait
 * at once; other nodes' steps are found by polling.
 */
export function makeResultWaits({ load, clock, limitMs, lookEveryMs }: WaitDependencies) {
  const listeners = new Map<OrderId, Set<Listener>>();
  let ended = false;

  return {
    /**
     * Waits until the transaction is final, the cardholder has to act, or the time limit has
     * passed. `until` may shorten the limit. Returns the latest transaction.
     */
    async waitForResult(found: FoundOrder, until?: Instant): Promise<FoundOrder> {
      if (endsWait(found.transaction.stage)) return found;
      const deadlineAt = Math.min(later(clock.now(), limitMs), until ?? Number.POSITIVE_INFINITY);
      const { listener, close } = listen(found.order.id);
      let met = found;
      for (;;) {
        // A step may have been committed before this wait began, so the order is read at once. If a
        // read fails, the wait goes on with the known order: the payment is already accepted, so
        // its request must not fail.
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
    notify({ order }: Step): void {
      for (const listener of listeners.get(order.id) ?? []) {
        listener.latest = order;
        listener.wake();
      }
    },
    /** The node is stopping. The waiting requests are answered with the orders as they are. */
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

  /** A step of the order that this node commits ends the sleep early. */
  async function sleep(listener: Listener, durationMs: number): Promise<void> {
    if (listener.latest !== undefined) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    listener.wake = resolve;
    const callOff = clock.after(durationMs, resolve);
    await promise;
    callOff();
  }
}

/**
 * Returns true if the transaction is final, or if the cardholder has to act. In that case, only the
 * merchant can send the cardholder to the next page.
 */
function endsWait(stage: Stage): boolean {
  return isFinal(stage) || waitsForCardholder(stage);
}

/** Other transactions of the order may have begun and ended since this one was found. */
function findAgain(seen: Order, { order: known, transaction }: FoundOrder): FoundOrder {
  const order = seen.version < known.version ? known : seen;
  const same = transactionsOf(order).find(
    ({ serialNumber }) => serialNumber === transaction.serialNumber,
  );
  return { order, transaction: same ?? transaction };
}
