/** What the requests that begin an order do: the endpoint is found, the order is accepted. */

import type { Endpoint } from "../orders/merchant.ts";
import type { ChargeKind } from "../orders/order.ts";
import type { OrderRequest } from "../orders/requests.ts";
import { Failure } from "../values/failure.ts";
import type { Currency } from "../values/iso-codes.ts";
import { isZero, type Money, parseAmount } from "../values/money.ts";
import type { Secret } from "../values/secret.ts";
import { acknowledge } from "./acknowledge.ts";
import { type Context, endpointFor, type Reply } from "./operation.ts";
import { type PurchaseRequest, readCard, readPurchase, requestFingerprintOf } from "./purchase.ts";
import { readWalletText } from "./wallet.ts";

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
  const { endpoint, serialNumber, services } = context;
  const requestFingerprint = requestFingerprintOf(
    kind === "sale" ? endpoint.id : `${kind}/${endpoint.id}`,
    context,
  );
  const payment = await readPayment(request, { ...context, requestFingerprint });
  if (payment instanceof Failure) return payment;
  const { letGo, ...paid } = payment;
  const accepted = await services.orders.accept({
    kind,
    merchantId: endpoint.merchant.id,
    endpointId: endpoint.id,
    clientOrderId: request.client_orderid,
    serialNumber,
    requestFingerprint,
    ...paid,
  });
  if (accepted instanceof Failure) {
    // Only where it is certain that no order has it: a failure of the database says nothing.
    if (accepted.code === "duplicate_order") await letGo?.();
    return accepted;
  }
  // A new order is written together with the request that began it.
  return { ...acknowledge(accepted), stored: !accepted.repeated };
}

type Payment = Pick<OrderRequest, "purchase" | "card" | "cardData" | "authentication"> & {
  /** Of a wallet's payment data, which can be used once. */
  readonly letGo?: () => Promise<void>;
};

/** With the request's card, or with whatever a wallet's payment data holds. */
async function readPayment(
  request: PurchaseRequest,
  context: Context & {
    readonly endpoint: Endpoint;
    readonly money: Money;
    readonly requestFingerprint: Secret<string>;
  },
): Promise<Payment | Failure> {
  const { endpoint, money, requestFingerprint, services } = context;
  const purchase = readPurchase(request, money);
  const { payment_data: sent, payment_data_type: type } = request;
  if (sent === undefined || type === undefined) {
    const { facts, cardData } = readCard(request);
    return { purchase, card: { kind: "new", facts }, cardData };
  }
  const opened = await services.wallets.open({
    ...{ type, endpoint, requestFingerprint, amount: money, text: readWalletText(sent) },
    holderName: request.card_printed_name,
  });
  if (opened instanceof Failure) return opened;
  const { wallet, paid } = opened;
  const bought = { ...purchase, wallet };
  if (paid === undefined) return { purchase: bought, card: { kind: "none" }, cardData: undefined };
  const { facts, cardData, authentication, letGo } = paid;
  const proof = authentication === undefined ? {} : { authentication };
  return { purchase: bought, card: { kind: "new", facts }, cardData, letGo, ...proof };
}
