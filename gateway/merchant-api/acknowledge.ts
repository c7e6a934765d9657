/** The acknowledgement that every transaction request gets. */
import type { Accepted } from "../orders/requests.ts";
import type { Reply } from "./operation.ts";

export function acknowledge({ order, transaction }: Accepted): Reply {
  return {
    type: "async-response",
    describes: { order, transaction },
    clientOrderId: order.clientOrderId,
    orderId: order.id,
    fields: [["end-point-id", order.endpointId]],
  };
}
