/** What the requests that begin an order do: the endpoint is found, the order is accepted. */
import type { Endpoint } from "../orders/merchant.ts";
import type { ChargeKind } from "../orders/order.ts";
import type { Currency } from "../values/currency.ts";
import { Failure } from "../values/failure.ts";
import { isZero, type Money, parseAmount } from "../values/money.ts";
import { acknowledge } from "./acknowledge.ts";
import { type Context, endpointFor, type Reply } from "./operation.ts";
import { type PurchaseRequest, readCard, readPurchase, samenessOf } from "./purchase.ts";

export type PaidRequest = PurchaseRequest & {
  readonly client_orderid: string;
  readonly amount: string;
  readonly currency: Currency;
};

/** Takes or holds what the request says. */
export async function charge(
  kind: ChargeKind,
  request: PaidRequest,
  context: Context,
): Promise<Reply | Failure> {
  const endpoint = endpointFor(context.entryPoint, request.currency.code);
  if (endpoint === undefined) return new Failure("currency_not_supported");
  const money = parseAmount(request.amount, request.currency);
  if (money === undefined || isZero(money)) return new Failure("amount_out_of_range");
  return begin(kind, request, { ...context, endpoint, money });
}

export async function begin(
  kind: ChargeKind,
  request: PurchaseRequest & { readonly client_orderid: string },
  context: Context & { readonly endpoint: Endpoint; readonly money: Money },
): Promise<Reply | Failure> {
  const { endpoint, money, serialNumber, services } = context;
  const { facts, inHand } = readCard(request);
  const accepted = await services.orders.accept({
    kind,
    merchantId: endpoint.merchant.id,
    endpointId: endpoint.id,
    clientOrderId: request.client_orderid,
    serialNumber,
    purchase: readPurchase(request, money),
    card: { kind: "new", facts },
    inHand,
    sameness: samenessOf(kind === "sale" ? endpoint.id : `${kind}/${endpoint.id}`, context),
  });
  if (accepted instanceof Failure) return accepted;
  // A new order is written together with the request that began it.
  return { ...acknowledge(accepted), stored: !accepted.repeated };
}
