/**
 * Finds the order of a receipt for whoever knows its address. There is a receipt only of what was
 * approved, and only at the endpoint that took the order; everything else is the same nothing.
 */

import type { Endpoint } from "../orders/merchant.ts";
import type { Order } from "../orders/order.ts";
import { initialOf } from "../orders/transactions.ts";
import {
  asEndpointId,
  asReceiptId,
  type EndpointId,
  type MerchantId,
  type ReceiptId,
} from "../values/ids.ts";

type Dependencies = {
  /** Also one that takes no orders any more: its receipts stay. */
  readonly findEndpoint: (id: EndpointId) => Endpoint | undefined;
  readonly findByReceipt: (merchant: MerchantId, receipt: ReceiptId) => Promise<Order | undefined>;
};

export type FoundReceipt = { readonly order: Order; readonly merchantName: string };

export function makeFindReceipt({ findEndpoint, findByReceipt }: Dependencies) {
  return async (endpointId: string, receiptId: string): Promise<FoundReceipt | undefined> => {
    const endpoint = findEndpoint(asEndpointId(endpointId));
    if (endpoint === undefined || !/^\d{1,39}$/.test(receiptId)) return undefined;
    const order = await findByReceipt(endpoint.merchant.id, asReceiptId(receiptId));
    if (order === undefined || order.endpointId !== endpoint.id) return undefined;
    const { stage } = initialOf(order);
    return stage === "approved" ? { order, merchantName: endpoint.merchant.name } : undefined;
  };
}
