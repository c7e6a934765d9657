/**
 * Recurring payments: the registration of a paid card, and the payments that charge or hold an
 * amount on a registered card.
 */
import {
  type CardReference,
  type CardReferences,
  refuseInitiator,
} from "../orders/card-reference.ts";
import type { CardData } from "../orders/events.ts";
import type { Endpoint } from "../orders/merchant.ts";
import type { Credential, Customer, Order } from "../orders/order.ts";
import type { Accepted } from "../orders/requests.ts";
import { canSend } from "../orders/route.ts";
import { Failure } from "../values/failure.ts";
import { asCardRefId, type EndpointId } from "../values/ids.ts";
import { isSameMoney, isZero, type Money, parseAmount } from "../values/money.ts";
import * as field from "./fields.ts";
import { type Context, endpointFor, findOrder, type Reply } from "./operation.ts";
import { readCvv, readPurchase, requestFingerprintOf } from "./purchase.ts";
import { addressFaults, mayNeedCvv } from "./purchase-fields.ts";
import { acknowledge } from "./reply.ts";

export const registrationFields = {
  client_orderid: field.clientOrderId("merchant order id of the first payment"),
  orderid: field.orderId("service order id of the first payment"),
} as const;

type Registered = { readonly references: CardReferences; readonly order: Order };

export async function registerCard(
  request: field.Values<typeof registrationFields>,
  context: Context,
  print: (registered: Registered) => Reply["fields"],
): Promise<Reply | Failure> {
  const found = await findOrder(request.client_orderid, request.orderid, context);
  if (found instanceof Failure) return found;
  const references = await context.services.cards.register(found.order);
  if (references instanceof Failure) return references;
  const fields = print({ references, order: found.order });
  return { type: "create-card-ref-response", fields };
}

// biome-ignore format: a table
export const rebillFields = {
  client_orderid:       field.clientOrderId("merchant order id; it can be paid once"),
  login:                field.line(20, "merchant login"),
  cardrefid:            field.cardRefId("card reference id from registration"),
  order_desc:           field.freeText(65_536, "order description"),
  amount:               field.amount("amount in the highest unit with `.` as delimiter"),
  enumerate_amounts:    field.optional(field.pattern("128/String", /^(?=.{1,128}$)\d+(\.\d+)?(,\d+(\.\d+)?)*$/, "smaller amounts, separated by commas, tried in turn when the amount is declined")),
  currency:             field.currency("three-letter currency code"),
  cvv2:                 field.conditional(field.digits(3, 4, "card verification value; mandatory when the cardholder initiates the payment and a gate of the endpoint needs it")),
  ipaddress:            field.ipAddress("customer's IP address, for fraud screening"),
  comment:              field.optional(field.line(50, "short comment")),
  purpose:              field.optional(field.line(128, "destination of the payment, for fraud monitoring")),
  redirect_url:         field.optional(field.url("the browser is redirected here at the end; mandatory where 3-D Secure is possible")),
  redirect_success_url: field.optional(field.url("the browser is redirected here when approved")),
  redirect_fail_url:    field.optional(field.url("the browser is redirected here when declined or filtered")),
  server_callback_url:  field.optional(field.url("receives the result")),
  notify_url:           field.optional(field.url("receives the results of later transactions")),
  merchant_data:        field.optional(field.freeText(65_536, "free merchant data, returned in status and callback")),
  recurrent_scenario:   field.optional(field.choice(["REGULAR", "IRREGULAR"] as const, "`REGULAR` (a fixed plan) or `IRREGULAR` (when there is something to pay); by default the gate's setting, else `REGULAR`")),
  recurrent_initiator:  field.optional(field.choice(["CARDHOLDER", "MERCHANT"] as const, "who initiates the payment: `CARDHOLDER` or `MERCHANT`; by default the gate's setting, else `MERCHANT`")),
  control:              field.checksum(),
} as const;

export const rebillControl = [
  "{id?}",
  "login",
  "client_orderid",
  "cardrefid",
  { minorUnitsOf: "amount" },
  "currency",
] as const;

type RebillRequest = field.Values<typeof rebillFields>;
/** A profile is charged by the merchant alone. */
type ProfileRequest = Partial<RebillRequest> &
  Pick<RebillRequest, "client_orderid" | "cardrefid" | "amount" | "currency">;

export async function rebill(
  kind: "sale" | "preauth",
  request: RebillRequest,
  context: Context,
): Promise<Reply | Failure> {
  const accepted = await chargeAgain(kind, request, context);
  return accepted instanceof Failure ? accepted : acknowledge(accepted);
}

type ProfileCharge = {
  readonly subject: (endpoint: EndpointId) => string;
  readonly reference: CardReference;
  readonly customer: Customer;
};

export async function chargeAgain(
  kind: "sale" | "preauth",
  request: ProfileRequest,
  context: Context,
  profile?: ProfileCharge,
): Promise<Accepted | Failure> {
  const { entryPoint, serialNumber, services } = context;
  const endpoint = endpointFor(entryPoint, request.currency.code);
  if (endpoint === undefined) return new Failure("currency_not_supported");
  const amounts = readAmounts(request, endpoint);
  if (amounts instanceof Failure) return amounts;
  const subject = profile?.subject(endpoint.id) ?? rebillSubject(kind, endpoint.id);
  const identity = {
    merchantId: endpoint.merchant.id,
    clientOrderId: request.client_orderid,
    requestFingerprint: requestFingerprintOf(subject, context),
  };
  const terms = credentialOf(request, endpoint);
  const found = lacksCvv(request, endpoint, terms)
    ? new Failure("missing_parameter", "cvv2")
    : await findCard(request, context, { ...terms, reference: profile?.reference });
  if (found instanceof Failure) return found;

  const { reference, cardData } = found;
  const { networkId, isDevice } = reference;
  const credential = { ...terms, networkId, ...(isDevice === true ? { isDevice } : {}) };
  const bought = readPurchase(request, amounts.amount);
  const purchase = { ...bought, customer: profile?.customer ?? bought.customer, credential };
  const { otherAmounts } = amounts;
  return services.orders.accept({
    ...identity,
    kind,
    endpointId: endpoint.id,
    serialNumber,
    purchase: otherAmounts.length === 0 ? purchase : { ...purchase, otherAmounts },
    card: { kind: "registered", facts: reference.card },
    cardData,
  });
}

export function rebillSubject(kind: "sale" | "preauth", endpoint: EndpointId): string {
  return `rebill/${kind}/${endpoint}`;
}

/** A merchant that initiates a payment itself has no CVV, because it must not store one. */
function lacksCvv(
  { cvv2 }: Pick<ProfileRequest, "cvv2">,
  endpoint: Endpoint,
  { initiator }: Pick<Credential, "initiator">,
): boolean {
  return cvv2 === undefined && initiator === "CARDHOLDER" && mayNeedCvv(endpoint);
}

async function findCard(
  request: ProfileRequest,
  { entryPoint, services: { cards } }: Context,
  {
    initiator,
    reference: known,
  }: Pick<Credential, "initiator"> & { readonly reference: CardReference | undefined },
): Promise<{ readonly reference: CardReference; readonly cardData: CardData } | Failure> {
  const reference = known ?? (await cards.find(entryPoint, asCardRefId(request.cardrefid)));
  if (reference instanceof Failure) return reference;
  const refusal = refuseInitiator(reference, initiator);
  if (refusal !== undefined) return refusal;
  const cardData = await cards.findCardData(reference);
  if (cardData instanceof Failure) return cardData;
  if (cardData === undefined) return new Failure("card_reference_removed");
  return { reference, cardData: { ...cardData, cvv: readCvv(request) } };
}

/** The checksum covers only `amount`, so no other amount may be larger. */
function readAmounts(
  request: ProfileRequest,
  endpoint: Endpoint,
): { readonly amount: Money; readonly otherAmounts: readonly Money[] } | Failure {
  const { amountMin = "0" } = endpoint.settings;
  const asked = parseAmount(request.amount, request.currency);
  if (asked === undefined) return tooManyDigits("amount");
  const isPossible = !isZero(asked) && canSend(endpoint, asked);
  if (!isPossible) return new Failure("amount_out_of_range");
  const otherAmounts: Money[] = [];
  for (const text of request.enumerate_amounts?.split(",") ?? []) {
    const other = parseAmount(text, request.currency);
    if (other === undefined) return tooManyDigits("enumerate_amounts");
    // Screening compares only the first amount with the endpoint's limits.
    const isTooSmall = isZero(other) || other.minor < BigInt(amountMin);
    if (isTooSmall || other.minor > asked.minor) {
      return new Failure("amount_out_of_range", "enumerate_amounts");
    }
    const isKnown = [asked, ...otherAmounts].some((known) => isSameMoney(known, other));
    if (!isKnown) otherAmounts.push(other);
  }
  return { amount: asked, otherAmounts };
}

export function tooManyDigits(name: string): Failure {
  return new Failure("invalid_parameter", `${name}: more fraction digits than the currency has`);
}

/** The gate's settings are the default, and without them a regular charge by the merchant. */
function credentialOf(
  request: Pick<ProfileRequest, "recurrent_initiator" | "recurrent_scenario">,
  { gates }: Endpoint,
) {
  const defaults = gates[0]?.recurrent;
  return {
    initiator: request.recurrent_initiator ?? defaults?.initiator ?? "MERCHANT",
    scenario: request.recurrent_scenario ?? defaults?.scenario ?? "REGULAR",
  } as const;
}

/** A cardholder who initiates a payment may have to authenticate, and needs a return URL. */
export function rebillRules(request: RebillRequest, context: Context): readonly Failure[] {
  const endpoint = endpointFor(context.entryPoint, request.currency.code);
  const needsReturn =
    request.redirect_url === undefined &&
    endpoint !== undefined &&
    endpoint.settings.threeDSecure !== "off" &&
    credentialOf(request, endpoint).initiator === "CARDHOLDER";
  return [
    ...(needsReturn ? [new Failure("missing_parameter", "redirect_url")] : []),
    ...addressFaults(request, context),
  ];
}
