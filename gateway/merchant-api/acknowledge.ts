/** The acknowledgement that every transaction request gets. */
import type { Accepted } from "../orders/asked.ts";
import type { Reply } from "./operation.ts";

export function acknowledge({ order, repeated }: Accepted): Reply {
  return {
    type: "async-response",
    repeated,
    clientOrderId: order.clientOrderId,
    orderId: order.id,
    fields: [["end-point-id", order.endpointId]],
  };
}
