/** An order by the id that a merchant or a log names it by. */
import type { Order } from "../orders/order.ts";
import type { Database } from "../storage/database.ts";
import { StartProblem } from "../storage/embedded.ts";
import { makeFindBySequence, makeFindOrders } from "../storage/find-orders.ts";
import {
  asOrderId,
  isNumericId,
  type MerchantId,
  type OrderId,
  sequenceOf,
} from "../values/ids.ts";
import type { House } from "./house.ts";

export async function findOrder({ database }: House, text: string): Promise<Order | StartProblem> {
  const id = asOrderId(text);
  const isId = isNumericId(text) && text.length > 6;
  const order = isId ? await makeFindBySequence(database.query)(sequenceOf(id)) : undefined;
  return order?.id === id ? order : new StartProblem(`There is no order ${text}.`);
}

export function loadOrder({ query }: Database) {
  const { byId } = makeFindOrders(query, { batchMax: 1, inFlightMax: 1 });
  return async (merchantId: MerchantId, orderId: OrderId): Promise<Order> => {
    const order = await byId({ merchantId, orderId });
    if (order === undefined) throw new Error(`order ${orderId} has vanished`);
    return order;
  };
}
