/** What captures and returns have in common: the order that they are about, and how much of it. */
import type { FollowUpTerms } from "../orders/order.ts";
import { Failure } from "../values/failure.ts";
import { asOrderId } from "../values/ids.ts";
import type { Currency } from "../values/iso-codes.ts";
import { parseAmount } from "../values/money.ts";
import { acknowledge } from "./acknowledge.ts";
import { amount, conditional, currency, line, optional, orderId } from "./fields.ts";
import type { Context, Reply } from "./operation.ts";

// biome-ignore format: a table
export const followUpFields = {
  login:          line(20, "merchant login"),
  client_orderid: line(128, "merchant order id"),
  orderid:        orderId("service order id"),
  amount:         optional(amount("how much; without it all that there is")),
  currency:       conditional(currency("currency of the order; mandatory with an amount")),
  comment:        optional(line(50, "short comment; a request that differs only in it is another request")),
  control:        line(40, "checksum"),
} as const;

export const followUpControl = [
  "login",
  "client_orderid",
  "orderid",
  { moneyIfSent: "amount" },
] as const;

/** A currency alone is not signed, and means nothing. */
export function followUpRules({ amount: sent, currency: code }: FollowUpFields) {
  const isAlone = code !== undefined && sent === undefined;
  return isAlone ? [new Failure("missing_parameter", "amount")] : [];
}

export type FollowUpFields = {
  readonly client_orderid: string;
  readonly orderid: string;
  readonly amount: string | undefined;
  readonly currency: Currency | undefined;
  readonly comment: string | undefined;
};

export async function followUp(
  operation: FollowUpTerms["operation"],
  request: FollowUpFields,
  { entryPoint, serialNumber, services }: Context,
): Promise<Reply | Failure> {
  const { client_orderid: clientOrderId, currency: code, comment } = request;
  const money =
    request.amount === undefined || code === undefined
      ? undefined
      : parseAmount(request.amount, code);
  const accepted = await services.orders.followUp(entryPoint, {
    wanted: { clientOrderId, orderId: asOrderId(request.orderid) },
    serialNumber,
    request: { operation, amount: money, comment },
  });
  return accepted instanceof Failure ? accepted : acknowledge(accepted);
}
