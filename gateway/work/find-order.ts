/** Finds an order among those of an endpoint or a group; another merchant's is never found. */
import type { WantedOrder } from "../orders/asked.ts";
import type { EntryPoint } from "../orders/merchant.ts";
import type { Order } from "../orders/order.ts";
import { Failure } from "../values/failure.ts";
import type { MerchantId, OrderId, SerialNumber } from "../values/ids.ts";
import type { Known } from "./accept.ts";

type Needs = {
  readonly findById: (key: {
    merchantId: MerchantId;
    orderId: OrderId;
  }) => Promise<Order | undefined>;
  readonly findKnown: (merchant: MerchantId, clientOrderId: string) => Promise<readonly Known[]>;
  readonly findBySerial: (
    merchant: MerchantId,
    serial: SerialNumber,
  ) => Promise<OrderId | undefined>;
};

export function makeFindOrder(needs: Needs) {
  return async (entryPoint: EntryPoint, wanted: WantedOrder): Promise<Order | Failure> => {
    const order = await find(entryPoint, wanted);
    if (order === undefined || order.clientOrderId !== wanted.clientOrderId) return notFound;
    if (!isReachable(entryPoint, order)) return notFound;
    return order;
  };

  async function find(
    { merchant, ...entryPoint }: EntryPoint,
    { orderId, clientOrderId, bySerialNumber }: WantedOrder,
  ): Promise<Order | undefined> {
    if (bySerialNumber !== undefined) {
      const named = await needs.findBySerial(merchant.id, bySerialNumber);
      if (named === undefined || (orderId !== undefined && orderId !== named)) return undefined;
      return needs.findById({ merchantId: merchant.id, orderId: named });
    }
    if (orderId !== undefined) return needs.findById({ merchantId: merchant.id, orderId });

    // Without an order id: the latest one that this entry point can reach.
    const known = await needs.findKnown(merchant.id, clientOrderId);
    const latest = known.findLast(({ order }) => isReachable({ merchant, ...entryPoint }, order));
    return latest?.order;
  }
}

const notFound = new Failure("order_not_found");

function isReachable({ endpoints }: EntryPoint, { endpointId }: Order): boolean {
  return endpoints.some(({ id }) => id === endpointId);
}
