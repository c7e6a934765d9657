/** What recurrent payments do: find the card, list the amounts, and begin the order. */
import type { CardReference } from "../orders/card-reference.ts";
import type { Endpoint } from "../orders/merchant.ts";
import type { Credential, Initiator, Scenario } from "../orders/order.ts";
import type { Currency } from "../values/currency.ts";
import { Failure } from "../values/failure.ts";
import { asCardRefId } from "../values/ids.ts";
import { isSameMoney, isZero, type Money, parseAmount } from "../values/money.ts";
import { Secret } from "../values/secret.ts";
import { acknowledge } from "./acknowledge.ts";
import { type Context, endpointFor, type Reply } from "./operation.ts";
import { readPurchase, samenessOf } from "./purchase.ts";

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
  const amounts = readAmounts(request);
  if (amounts instanceof Failure) return amounts;
  const reference = await services.cards.find(entryPoint, asCardRefId(request.cardrefid));
  if (reference instanceof Failure) return reference;
  const credential = credentialOf(request, endpoint, reference);
  if (needsRedirect(request, endpoint, credential)) {
    return new Failure("missing_parameter", "redirect_url");
  }
  const held = await services.cards.findHeld(reference);
  if (held === undefined) return new Failure("card_reference_removed");

  const { amount, otherAmounts } = amounts;
  const cvv = request.cvv2 === undefined ? undefined : new Secret(request.cvv2);
  const purchase = { ...readPurchase(request, amount), credential };
  const accepted = await services.orders.accept({
    kind,
    merchantId: endpoint.merchant.id,
    endpointId: endpoint.id,
    clientOrderId: request.client_orderid,
    serialNumber,
    purchase: otherAmounts.length === 0 ? purchase : { ...purchase, otherAmounts },
    card: { kind: "registered", facts: reference.card },
    inHand: { ...held, cvv },
    sameness: samenessOf(`rebill/${kind}/${endpoint.id}`, context),
  });
  if (accepted instanceof Failure) return accepted;
  return { ...acknowledge(accepted), stored: !accepted.repeated };
}

/** The checksum covers the amount alone, so none of the others may be larger. */
function readAmounts(
  request: RebillRequest,
): { readonly amount: Money; readonly otherAmounts: readonly Money[] } | Failure {
  const amount = parseAmount(request.amount, request.currency);
  if (amount === undefined || isZero(amount)) return new Failure("amount_out_of_range");
  const otherAmounts: Money[] = [];
  for (const text of request.enumerate_amounts?.split(",") ?? []) {
    const other = parseAmount(text, request.currency);
    if (other === undefined) {
      return new Failure("invalid_parameter", "enumerate_amounts: an amount of another currency");
    }
    if (isZero(other) || other.minor > amount.minor) {
      return new Failure("amount_out_of_range", "enumerate_amounts");
    }
    const isKnown = [amount, ...otherAmounts].some((known) => isSameMoney(known, other));
    if (!isKnown) otherAmounts.push(other);
  }
  return { amount, otherAmounts };
}

/** The request's word, else the gate's, else a merchant who charges regularly. */
function credentialOf(
  request: RebillRequest,
  { gates }: Endpoint,
  { networkId }: CardReference,
): Credential {
  const usual = gates[0]?.recurrent;
  return {
    initiator: request.recurrent_initiator ?? usual?.initiator ?? "MERCHANT",
    scenario: request.recurrent_scenario ?? usual?.scenario ?? "REGULAR",
    networkId,
  };
}

/** A cardholder who is present may be asked to authenticate, and must come back from that. */
function needsRedirect(
  { redirect_url }: RebillRequest,
  { settings }: Endpoint,
  { initiator }: Credential,
): boolean {
  const isSecure = settings.threeDSecure !== "off" && initiator === "CARDHOLDER";
  return isSecure && redirect_url === undefined;
}
