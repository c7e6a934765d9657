/** Requests for an existing order: captures and returns, and the uploads of 3-D Secure. */
import type { FollowUpTerms, Order } from "../orders/order.ts";
import type { FoundOrder } from "../orders/requests.ts";
import { Failure } from "../values/failure.ts";
import { asOrderId } from "../values/ids.ts";
import { parseAmount } from "../values/money.ts";
import * as field from "./fields.ts";
import type { Context, Reply } from "./operation.ts";
import { acknowledge } from "./reply.ts";

export function findOrder(
  clientOrderId: string,
  id: string,
  { entryPoint, services }: Context,
): Promise<FoundOrder | Failure> {
  const query = { clientOrderId, orderId: asOrderId(id), bySerialNumber: undefined };
  return services.orders.find(entryPoint, query);
}

export const followUpFields = {
  login: field.line(20, "merchant login"),
  client_orderid: field.clientOrderId("merchant order id"),
  orderid: field.orderId("service order id"),
  amount: field.optional(
    field.amount("amount to capture or return; by default the whole remaining amount"),
  ),
  currency: field.conditional(field.currency("currency of the order; mandatory with an amount")),
  comment: field.optional(
    field.line(50, "short comment; two requests that differ only in it are different requests"),
  ),
  control: field.checksum(),
} as const;

type FollowUpValues = field.Values<typeof followUpFields>;

/** A currency without an amount is not signed and has no meaning. */
export function followUpRules({ amount: sent, currency: code }: FollowUpValues) {
  const isAlone = code !== undefined && sent === undefined;
  return isAlone ? [new Failure("missing_parameter", "amount")] : [];
}

export async function followUp(
  operation: FollowUpTerms["operation"],
  request: FollowUpValues,
  { entryPoint, serialNumber, services }: Context,
): Promise<Reply | Failure> {
  const { client_orderid: clientOrderId, amount: sent, currency: code, comment } = request;
  const money = sent === undefined || code === undefined ? undefined : parseAmount(sent, code);
  const accepted = await services.orders.followUp(entryPoint, {
    wanted: { clientOrderId, orderId: asOrderId(request.orderid) },
    serialNumber,
    request: { operation, amount: money, comment },
  });
  return accepted instanceof Failure ? accepted : acknowledge(accepted);
}

export const uploadFields = {
  login: field.line(20, "merchant login"),
  orderid: field.orderId("service order id"),
  "client-order-id": field.clientOrderId("merchant order id"),
  control: field.checksum(),
} as const;

export const uploadControl = ["login", "client-order-id", "orderid"] as const;

/** Finds the order, reports the upload to it, and acknowledges. */
export async function upload(
  request: field.Values<Pick<typeof uploadFields, "orderid" | "client-order-id">>,
  context: Context,
  report: (order: Order) => Promise<Order | Failure>,
): Promise<Reply | Failure> {
  const found = await findOrder(request["client-order-id"], request.orderid, context);
  if (found instanceof Failure) return found;
  const order = await report(found.order);
  if (order instanceof Failure) return order;
  return acknowledge({ order, transaction: order.transaction });
}
