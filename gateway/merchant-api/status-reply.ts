/** The order (status) response, as the status operation and the synchronous twins give it. */
import type { FoundOrder } from "../orders/asked.ts";
import type { Services } from "../services.ts";
import { printStatus } from "../views/status.ts";
import type { Reply } from "./operation.ts";

export function statusReply(
  found: FoundOrder,
  asked: { readonly bySerialNumber: string | undefined; readonly services: Services },
): Reply {
  const { bySerialNumber, services } = asked;
  return {
    type: "status-response",
    clientOrderId: found.order.clientOrderId,
    orderId: found.order.id,
    fields: printStatus(found, { bySerialNumber, printDate: services.printDate }),
  };
}
