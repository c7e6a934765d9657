/** What the two versions of card registration have in common: the first payment and its card. */
import type { CardReferences } from "../orders/card-reference.ts";
import type { Order } from "../orders/order.ts";
import { Failure } from "../values/failure.ts";
import { asOrderId } from "../values/ids.ts";
import { line, orderId } from "./fields.ts";
import type { Context, Reply } from "./operation.ts";

export const registrationFields = {
  client_orderid: line(128, "merchant order id of the first payment"),
  orderid: orderId("service order id of the first payment"),
} as const;

type Registered = { readonly references: CardReferences; readonly order: Order };

export async function registration(
  request: { readonly client_orderid: string; readonly orderid: string },
  { entryPoint, services }: Context,
  print: (registered: Registered) => Reply["fields"],
): Promise<Reply | Failure> {
  const found = await services.orders.find(entryPoint, {
    clientOrderId: request.client_orderid,
    orderId: asOrderId(request.orderid),
    bySerialNumber: undefined,
  });
  if (found instanceof Failure) return found;
  const references = await services.cards.register(found.order);
  if (references instanceof Failure) return references;
  const fields = print({ references, order: found.order });
  return { type: "create-card-ref-response", fields };
}
