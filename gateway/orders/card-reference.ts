/**
 * A reference to the card of an earlier payment: what a merchant keeps instead of the number. The
 * several ids of one registration lead to the same card.
 */
import { Failure } from "../values/failure.ts";
import type { CardRefId, EndpointId, MerchantId, OrderId } from "../values/ids.ts";
import { isZero } from "../values/money.ts";
import type { Instant } from "../values/time.ts";
import type { CardFacts, Credential, Order } from "./order.ts";
import { initialOf, totalsOf } from "./transactions.ts";

/** `destination`: for transfers to the card; `recurring`: for other interfaces. */
export const referencePurposes = [
  "card",
  "recurring",
  "destination",
  "destination_recurring",
] as const;
type ReferencePurpose = (typeof referencePurposes)[number];

export type CardReference = {
  readonly merchantId: MerchantId;
  readonly id: CardRefId;
  readonly purpose: ReferencePurpose;
  readonly card: CardFacts;
  /** The network's id of the payment that the card was registered with. */
  readonly networkId: string | undefined;
  /** A wallet's device number: for payments that the merchant initiates. */
  readonly isDevice?: true;
  readonly endpointId: EndpointId;
  readonly orderId: OrderId;
  readonly createdAt: Instant;
  readonly removedAt: Instant | undefined;
  readonly removedBy: Remover | undefined;
};

export type Remover = "merchant" | "operator";

/** The ids of one registration. */
export type CardReferences = Readonly<Record<ReferencePurpose, CardRefId>>;

/** Why the card of an order cannot be registered; nothing when it can. */
export function refuseRegistration(order: Order): Failure | undefined {
  if (initialOf(order).stage !== "approved") {
    return new Failure("not_allowed_now", "the first payment is not approved");
  }
  // Without its cryptogram a device number is charged as a continuation of its first payment.
  if (isDeviceNumber(order) && initialOf(order).answer?.networkId === undefined) {
    return new Failure("not_allowed_now", "the first payment has no network transaction id");
  }
  if (isRefunded(order)) return new Failure("not_allowed_now", "the first payment was refunded");
  return undefined;
}

/** Why a reference cannot be paid with by this initiator; nothing when it can. */
export function refuseInitiator(
  { isDevice }: Pick<CardReference, "isDevice">,
  initiator: Credential["initiator"],
): Failure | undefined {
  if (isDevice !== true || initiator === "MERCHANT") return undefined;
  const sentence = "a device number has no cryptogram: only the merchant can initiate payments";
  return new Failure("not_allowed_now", sentence);
}

/** Whether the number is a wallet's device number, of a wallet payment or of a registered one. */
export function isDeviceNumber({ purchase }: Pick<Order, "purchase">): boolean {
  return purchase.wallet?.isDevice === true || purchase.credential?.isDevice === true;
}

/**
 * The hash id, once an issuer has approved or authenticated the card. Before that it would let a
 * merchant test guesses of a number without any issuer noticing (decision 0078). An attempt at
 * authentication proves nothing: networks answer it for issuers, for any number of a range.
 */
export function shownHashId(order: Order): string | undefined {
  const { stage, authentication } = initialOf(order);
  const { status, eci = "" } = authentication ?? {};
  const isAuthenticated = status === "AUTHENTICATED" && /^0?[25]$/.test(eci);
  return stage === "approved" || isAuthenticated ? order.card.hashId : undefined;
}

/** In full: a partial refund says nothing against the card. */
function isRefunded(order: Order): boolean {
  if (initialOf(order).kind === "account-verification") return false;
  const { held, left } = totalsOf(order);
  return isZero(held) && isZero(left);
}
