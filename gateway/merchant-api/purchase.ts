/** Begins an order: reads the purchase and the card or wallet of the request, and accepts it. */
import type { TokenCard } from "../engine/hosted-fields.ts";
import type { Endpoint } from "../orders/merchant.ts";
import type { ChargeKind, Customer, Purchase, WalletType } from "../orders/order.ts";
import type { OrderRequest, RequestFingerprint } from "../orders/requests.ts";
import { canSend } from "../orders/route.ts";
import { CardNumber } from "../values/card-number.ts";
import { Failure } from "../values/failure.ts";
import type { EndpointId } from "../values/ids.ts";
import { type Currency, getCurrency } from "../values/iso-codes.ts";
import { isZero, Money, parseAmount } from "../values/money.ts";
import { Secret } from "../values/secret.ts";
import { type Context, endpointFor, type Reply } from "./operation.ts";
import { type PurchaseRequest, readBrowser, readWalletText } from "./purchase-fields.ts";
import { acknowledge } from "./reply.ts";

type Priced = { readonly amount: string; readonly currency: Currency };

export async function charge(
  kind: ChargeKind,
  request: PurchaseRequest & Priced,
  context: Context,
): Promise<Reply | Failure> {
  const priced = withAmount(request, context);
  return priced instanceof Failure ? priced : begin(kind, request, priced);
}

export function withAmount(request: Priced, context: Context): PurchaseContext | Failure {
  const endpoint = endpointFor(context.entryPoint, request.currency.code);
  if (endpoint === undefined) return new Failure("currency_not_supported");
  const amount = parseAmount(request.amount, request.currency);
  const isPossible = amount !== undefined && !isZero(amount) && canSend(endpoint, amount);
  if (!isPossible) return new Failure("amount_out_of_range");
  return { ...context, endpoint, amount };
}

/** An account verification has no currency, so any endpoint of a group will do. */
export function withoutAmount(context: Context): PurchaseContext | Failure {
  const endpoint = context.entryPoint.endpoints.find(({ enabled }) => enabled);
  if (endpoint === undefined) return new Failure("unknown_endpoint");
  return { ...context, endpoint, amount: new Money(0n, getCurrency(endpoint.currency)) };
}

export type PurchaseContext = Context & {
  readonly endpoint: Endpoint;
  readonly amount: Money;
  readonly isUnattended?: true;
};

export async function begin(
  kind: ChargeKind,
  request: SomeFields & Pick<PurchaseRequest, "client_orderid">,
  context: PurchaseContext,
): Promise<Reply | Failure> {
  const { endpoint, serialNumber, services } = context;
  const refusal = refuseExtension(request, endpoint);
  if (refusal !== undefined) return refusal;
  const requestFingerprint = requestFingerprintOf(chargeSubject(kind, endpoint.id), context);
  const { isUnattended } = context;
  const bought = readPurchase(request, context.amount);
  const purchase = isUnattended ? { ...bought, isUnattended } : bought;
  const payment = await readPayment({ request, purchase, requestFingerprint }, context);
  if (payment instanceof Failure) return payment;
  const accepted = await services.orders.accept({
    kind,
    merchantId: endpoint.merchant.id,
    endpointId: endpoint.id,
    clientOrderId: request.client_orderid,
    serialNumber,
    requestFingerprint,
    ...payment.paid,
  });
  if (accepted instanceof Failure) {
    // After a failure of the database, an order with the payment data may exist.
    if (accepted.code === "duplicate_order") await payment.release?.();
    return accepted;
  }
  await payment.spend?.(accepted, purchase.ipAddress);
  return acknowledge(accepted);
}

/** Mail order and exemptions take risk from issuers, so the operator decides who may use them. */
export function refuseExtension(
  request: Pick<SomeFields, "transaction_channel" | "sca_exemption">,
  { settings }: Endpoint,
): Failure | undefined {
  const { transaction_channel: channel, sca_exemption: exemption } = request;
  if (channel === "MOTO" && settings.moto !== true) return notAccepted("transaction_channel");
  const isRefused = exemption !== undefined && settings.exemptions !== true;
  return isRefused ? notAccepted("sca_exemption") : undefined;
}

function notAccepted(name: string): Failure {
  return new Failure("not_supported_by_gate", `${name}: the endpoint does not accept it`);
}

export function chargeSubject(kind: ChargeKind, endpoint: EndpointId): string {
  return kind === "sale" ? endpoint : `${kind}/${endpoint}`;
}

type Payment = {
  readonly paid: Pick<OrderRequest, "purchase" | "card" | "cardData" | "authentication">;
  /** Payment data and tokens can be used once. This function makes them usable again. */
  readonly release?: () => Promise<void>;
  /** Destroys the card of a token when its order has begun. */
  readonly spend?: TokenCard["spend"];
};

type PaymentRequest = Pick<OrderRequest, "purchase" | "requestFingerprint"> & {
  readonly request: SomeFields & Pick<PurchaseRequest, "client_orderid">;
};

/** The rules have checked that the request has a card, a token or a wallet's payment data. */
async function readPayment(
  asked: PaymentRequest,
  context: PurchaseContext,
): Promise<Payment | Failure> {
  const { payment_data: sent, payment_data_type: type, hosted_fields_token: token } = asked.request;
  if (token !== undefined) return openToken({ ...asked, token }, context);
  if (sent === undefined || type === undefined) {
    return { paid: { purchase: asked.purchase, ...readCard(asked.request) } };
  }
  return openWallet({ ...asked, sent, type }, context);
}

async function openToken(
  { token, request, purchase, requestFingerprint }: PaymentRequest & { readonly token: string },
  { entryPoint, services }: PurchaseContext,
): Promise<Payment | Failure> {
  const held = await services.hostedFields.open(entryPoint, token, requestFingerprint.text);
  if (held instanceof Failure) return held;
  const { cardData, release, spend } = held;
  const { number, expiryMonth, expiryYear } = cardData;
  const { bin, lastFour, network } = number;
  const holderName = request.card_printed_name ?? "";
  const facts = { bin, lastFour, network, holderName, expiryMonth, expiryYear: `20${expiryYear}` };
  return { paid: { purchase, card: { kind: "new", facts }, cardData }, release, spend };
}

type WalletPayment = PaymentRequest & { readonly sent: string; readonly type: WalletType };

async function openWallet(
  { sent, type, request, purchase, requestFingerprint }: WalletPayment,
  { endpoint, amount, services }: PurchaseContext,
): Promise<Payment | Failure> {
  if (!type.endsWith("_encrypted") && endpoint.merchant.settings.decryptedWallets !== true) {
    return notAllowed;
  }
  const opened = await services.wallets.open({
    type,
    endpoint,
    amount,
    text: readWalletText(sent),
    requestFingerprint: requestFingerprint.text,
    holderName: request.card_printed_name,
  });
  if (opened instanceof Failure) return opened;
  const { wallet, paid } = opened;
  const bought = { ...purchase, wallet };
  if (paid === undefined) {
    return { paid: { purchase: bought, card: { kind: "none" }, cardData: undefined } };
  }
  const { facts, cardData, authentication, release } = paid;
  const proof = authentication === undefined ? {} : { authentication };
  return { paid: { purchase: bought, card: { kind: "new", facts }, cardData, ...proof }, release };
}

const notAllowed = new Failure(
  "not_supported_by_gate",
  "payment_data_type: the operator does not allow the merchant to send decrypted payment data",
);

type CardFields =
  | "credit_card_number"
  | "cardNumber"
  | "expire_month"
  | "expire_year"
  | "card_printed_name"
  | "cvv2";

/** `facts` may be stored, the card data may not. A receiver's card may lack its expiry. */
export function splitCard(request: Pick<SomeFields, CardFields>) {
  const number = new CardNumber(request.credit_card_number ?? request.cardNumber ?? "");
  const { bin, lastFour, network } = number;
  const expiryMonth = request.expire_month?.padStart(2, "0") ?? "";
  const expiryYear = request.expire_year?.slice(-2) ?? "";
  const holderName = request.card_printed_name ?? "";
  const expiry = { expiryMonth, expiryYear: expiryYear && `20${expiryYear}` };
  return {
    facts: { bin, lastFour, network, holderName, ...expiry },
    cardData: { number, expiryMonth, expiryYear, cvv: readCvv(request) },
  };
}

function readCard(request: SomeFields): Pick<OrderRequest, "card" | "cardData"> {
  const { facts, cardData } = splitCard(request);
  return { card: { kind: "new", facts }, cardData };
}

export function readCvv({ cvv2 }: Pick<SomeFields, "cvv2">): Secret<string> | undefined {
  return cvv2 === undefined ? undefined : new Secret(cvv2);
}

type SomeFields = { readonly [Name in keyof PurchaseRequest]?: PurchaseRequest[Name] | undefined };

export function readCustomer(request: SomeFields): Customer {
  return {
    firstName: request.first_name,
    lastName: request.last_name,
    email: request.email,
    phone: request.phone,
    cellPhone: request.cell_phone,
    birthday: request.birthday,
    country: request.country,
    state: request.state,
    city: request.city,
    zipCode: request.zip_code,
    address: request.address1,
  };
}

/** A recurring payment lacks some fields, and the payment page adds the IP address later. */
export function readPurchase(request: SomeFields, amount: Money): Purchase {
  const { transaction_channel: channel, sca_exemption: scaExemption } = request;
  const { three_ds_preference: challengePreference } = request;
  return {
    amount,
    description: request.order_desc ?? "",
    ipAddress: request.ipaddress ?? "",
    customer: readCustomer(request),
    urls: {
      redirect: request.redirect_url,
      redirectSuccess: request.redirect_success_url,
      redirectFail: request.redirect_fail_url,
      serverCallback: request.server_callback_url,
      notify: request.notify_url,
    },
    merchantData: request.merchant_data,
    purpose: request.purpose,
    comment: request.comment,
    siteUrl: request.site_url,
    browser: readBrowser(request),
    ...(channel === "MOTO" && { channel }),
    ...(challengePreference && { challengePreference }),
    ...(scaExemption && { scaExemption }),
  };
}

/** Two requests are equal if all known fields but the checksum are equal (decisions 0005, 0041). */
export function requestFingerprintOf(subject: string, context: Context): RequestFingerprint {
  const cvv = context.known.includes("cvv2") ? context.sent.get("cvv2") : undefined;
  return {
    text: new Secret(printFields(subject, context)),
    cvv: cvv === undefined || cvv === "" ? undefined : new Secret(cvv),
  };
}

function printFields(subject: string, { sent, known }: Context): string {
  let text = subject;
  for (const name of known) {
    const value = sent.get(name);
    if (value === undefined || value === "" || name === "control" || name === "login") continue;
    text += name === "cvv2" ? "\ncvv2" : `\n${name}=${value.length}:${value}`;
  }
  return text;
}
