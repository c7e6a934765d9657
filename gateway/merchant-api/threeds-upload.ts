/** What the three uploads of 3-D Secure have in common: the order, and the acknowledgement. */
import type { Order } from "../orders/order.ts";
import { Failure } from "../values/failure.ts";
import { asOrderId } from "../values/ids.ts";
import { acknowledge } from "./acknowledge.ts";
import { line, orderId } from "./fields.ts";
import type { Context, Reply } from "./operation.ts";

// biome-ignore format: a table
export const uploadFields = {
  login:             line(20, "merchant login"),
  orderid:           orderId("service order id"),
  "client-order-id": line(128, "merchant order id"),
  control:           line(40, "checksum"),
} as const;

export const uploadControl = ["login", "client-order-id", "orderid"] as const;

type Uploaded = { readonly orderid: string; readonly "client-order-id": string };

/** Finds the order, lets it have what was uploaded, and acknowledges. */
export async function upload(
  request: Uploaded,
  { entryPoint, services }: Context,
  bring: (order: Order) => Promise<Order | Failure>,
): Promise<Reply | Failure> {
  const found = await services.orders.find(entryPoint, {
    clientOrderId: request["client-order-id"],
    orderId: asOrderId(request.orderid),
    bySerialNumber: undefined,
  });
  if (found instanceof Failure) return found;
  const order = await bring(found.order);
  if (order instanceof Failure) return order;
  return acknowledge({ order, transaction: order.transaction, repeated: false });
}
