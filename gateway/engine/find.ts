/** Finds an order among those of an endpoint or a group; another merchant's is never found. */
import { type Endpoint, type EntryPoint, shopNameOf } from "../orders/merchant.ts";
import type { Order } from "../orders/order.ts";
import type { FoundOrder, OrderQuery } from "../orders/requests.ts";
import { findNamed, initialOf } from "../orders/transactions.ts";
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
import type { RequestDigest } from "../vault/request-digests.ts";

/** An order with the digest of the request that made it. */
export type ExistingOrder = { readonly order: Order; readonly digest: RequestDigest };

/** The orders of a client order id, the latest last. */
export type FindExisting = (
  merchant: MerchantId,
  clientOrderId: string,
) => Promise<readonly ExistingOrder[]>;

/** What a request led to: `describes` is the request that began the transaction it repeated. */
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

  /** A request that began a transaction is stored with its order and nowhere else. */
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

    // Without an order id: the latest one that this entry point can reach.
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
  /** Also a disabled one: its receipts stay. */
  readonly findEndpoint: (id: EndpointId) => Endpoint | undefined;
  /**
   * Returns the order that the receipt's id was derived from. For an id that was never issued, it
   * may return any order, or undefined.
   */
  readonly readReceiptId: (receipt: ReceiptId) => OrderKey | undefined;
  readonly findOfReceipt: (merchant: MerchantId, orderId: OrderId) => Promise<Order | undefined>;
};

export type FindReceipt = ReturnType<typeof makeFindReceipt>;

/**
 * Finds the order of a receipt. Only approved orders have one, and only at the endpoint that
 * accepted the order; in every other case the caller gets undefined.
 */
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
