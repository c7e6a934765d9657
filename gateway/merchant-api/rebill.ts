/** What recurrent payments do: find the card, list the amounts, and begin the order. */
import type { CardReference } from "../orders/card-reference.ts";
import type { CardData } from "../orders/events.ts";
import type { Endpoint } from "../orders/merchant.ts";
import type { Initiator, Scenario } from "../orders/order.ts";
import { Failure } from "../values/failure.ts";
import { asCardRefId } from "../values/ids.ts";
import type { Currency } from "../values/iso-codes.ts";
import { isSameMoney, isZero, type Money, parseAmount } from "../values/money.ts";
import { Secret } from "../values/secret.ts";
import { acknowledge } from "./acknowledge.ts";
import { type Context, endpointFor, type Reply } from "./operation.ts";
import { callbackFaults, readPurchase, requestFingerprintOf } from "./purchase.ts";

type RebillRequest = {
  readonly client_orderid: string;
  readonly cardrefid: string;
  readonly order_desc: string;
  readonly ipaddress: string;
  readonly amount: string;
  readonly enumerate_amounts: string | undefined;
  readonly currency: Currency;
  readonly cvv2: string | undefined;
  readonly redirect_url: string | undefined;
  readonly recurrent_scenario: Scenario | undefined;
  readonly recurrent_initiator: Initiator | undefined;
  readonly [other: string]: unknown;
};

export async function rebill(
  kind: "sale" | "preauth",
  request: RebillRequest,
  context: Context,
): Promise<Reply | Failure> {
  const { entryPoint, serialNumber, services } = context;
  const endpoint = endpointFor(entryPoint, request.currency.code);
  if (endpoint === undefined) return new Failure("currency_not_supported");
  const amounts = readAmounts(request, endpoint);
  if (amounts instanceof Failure) return amounts;
  const { merchant } = endpoint;
  const asked = {
    merchantId: merchant.id,
    clientOrderId: request.client_orderid,
    requestFingerprint: requestFingerprintOf(`rebill/${kind}/${endpoint.id}`, context),
  };
  const paying = await findCard(request, context);
  if (paying instanceof Failure) {
    // What began before the card was gone is acknowledged as ever.
    const repeat = await services.orders.findRepeat(asked);
    if (repeat instanceof Failure) return repeat;
    return repeat === undefined ? paying : acknowledge(repeat);
  }

  const { amount, otherAmounts } = amounts;
  const { reference, cardData } = paying;
  const credential = { ...credentialOf(request, endpoint), networkId: reference.networkId };
  const purchase = { ...readPurchase(request, amount), credential };
  const accepted = await services.orders.accept({
    ...asked,
    kind,
    endpointId: endpoint.id,
    serialNumber,
    purchase: otherAmounts.length === 0 ? purchase : { ...purchase, otherAmounts },
    card: { kind: "registered", facts: reference.card },
    cardData,
  });
  if (accepted instanceof Failure) return accepted;
  return { ...acknowledge(accepted), stored: !accepted.repeated };
}

type Paying = { readonly reference: CardReference; readonly cardData: CardData };

async function findCard(
  { cardrefid, cvv2 }: RebillRequest,
  { entryPoint, services: { cards } }: Context,
): Promise<Paying | Failure> {
  const reference = await cards.find(entryPoint, asCardRefId(cardrefid));
  if (reference instanceof Failure) return reference;
  const held = await cards.findCardData(reference);
  if (held instanceof Failure) return held;
  if (held === undefined) return new Failure("card_reference_removed");
  const cvv = cvv2 === undefined ? undefined : new Secret(cvv2);
  return { reference, cardData: { ...held, cvv } };
}

/** The checksum covers the amount alone, so none of the others may be larger. */
function readAmounts(
  request: RebillRequest,
  { settings: { amountMin = "0" } }: Endpoint,
): { readonly amount: Money; readonly otherAmounts: readonly Money[] } | Failure {
  const amount = parseAmount(request.amount, request.currency);
  if (amount === undefined || isZero(amount)) return new Failure("amount_out_of_range");
  const otherAmounts: Money[] = [];
  for (const text of request.enumerate_amounts?.split(",") ?? []) {
    const other = parseAmount(text, request.currency);
    if (other === undefined) {
      const sentence = "more fraction digits than the currency has";
      return new Failure("invalid_parameter", `enumerate_amounts: ${sentence}`);
    }
    // The endpoint's limits are checked for the amount, and must hold for what comes instead.
    const isTooSmall = isZero(other) || other.minor < BigInt(amountMin);
    if (isTooSmall || other.minor > amount.minor) {
      return new Failure("amount_out_of_range", "enumerate_amounts");
    }
    const isKnown = [amount, ...otherAmounts].some((known) => isSameMoney(known, other));
    if (!isKnown) otherAmounts.push(other);
  }
  return { amount, otherAmounts };
}

/** The request's word, else the gate's, else a merchant who charges regularly. */
function credentialOf(
  request: Pick<RebillRequest, "recurrent_initiator" | "recurrent_scenario">,
  { gates }: Endpoint,
) {
  const usual = gates[0]?.recurrent;
  return {
    initiator: request.recurrent_initiator ?? usual?.initiator ?? "MERCHANT",
    scenario: request.recurrent_scenario ?? usual?.scenario ?? "REGULAR",
  } as const;
}

export function rebillRules(request: RebillRequest, context: Context): readonly Failure[] {
  return [...returnFaults(request, context), ...callbackFaults(request, context)];
}

/** A cardholder who is present may be asked to authenticate, and must come back from that. */
function returnFaults(request: RebillRequest, { entryPoint }: Context): readonly Failure[] {
  const endpoint = endpointFor(entryPoint, request.currency.code);
  if (endpoint === undefined || request.redirect_url !== undefined) return [];
  const { initiator } = credentialOf(request, endpoint);
  const isSecure = endpoint.settings.threeDSecure !== "off" && initiator === "CARDHOLDER";
  return isSecure ? [new Failure("missing_parameter", "redirect_url")] : [];
}
