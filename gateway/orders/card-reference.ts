/**
 * A card reference, which a merchant stores instead of the card number of an earlier payment. All
 * ids of one registration lead to the same card.
 */
import { Failure } from "../values/failure.ts";
import type { CardRefId, EndpointId, MerchantId, OrderId } from "../values/ids.ts";
import { isZero } from "../values/money.ts";
import type { Instant } from "../values/time.ts";
import type { CardFacts, Credential, Customer, Order } from "./order.ts";
import { initialOf, totalsOf } from "./transactions.ts";

/** `recurring` is for recurring payment profiles, `destination` for transfers to the card. */
export const referencePurposes = [
  "card",
  "recurring",
  "destination",
  "destination_recurring",
] as const;
export type ReferencePurpose = (typeof referencePurposes)[number];

/** Defaults of later payments with a recurring payment profile. */
export type Profile = {
  readonly currency: string;
  /** A decimal, as the merchant has sent it. */
  readonly amount?: string | undefined;
  readonly description?: string | undefined;
  readonly ipAddress?: string | undefined;
  readonly customer: Customer;
};

export type PackedDigest = { readonly keyId: number; readonly hex: string };

export type CardReference = {
  readonly merchantId: MerchantId;
  readonly id: CardRefId;
  readonly purpose: ReferencePurpose;
  readonly card: CardFacts;
  /** The network's id of the payment that the card was registered with. */
  readonly networkId: string | undefined;
  /** If true, the number is a wallet's device number, which only the merchant can charge. */
  readonly isDevice?: true;
  /** Absent where the merchant has only registered a paid card. */
  readonly profile?: Profile;
  /** The latest requests that have changed it, so that a late repeat changes nothing. */
  readonly updateDigests?: readonly PackedDigest[];
  readonly endpointId: EndpointId;
  /** Zero where the card was registered without a payment. */
  readonly orderId: OrderId;
  /** All ids of a registration have the same version. */
  readonly version: number;
  /** No payment is made with a stopped profile, nor with another id of its card. */
  readonly stoppedAt: Instant | undefined;
  readonly createdAt: Instant;
  readonly removedAt: Instant | undefined;
  readonly removedBy: Remover | undefined;
};

export type Remover = "merchant" | "operator";

export type CardReferences = Readonly<Record<ReferencePurpose, CardRefId>>;

/** Returns undefined if the order's card can be registered. */
export function refuseRegistration(order: Order): Failure | undefined {
  if (initialOf(order).stage !== "approved") {
    return new Failure("not_allowed_now", "the first payment is not approved");
  }
  // Without its cryptogram, a device number can only be charged in continuation of a payment.
  if (isDeviceNumber(order) && initialOf(order).answer?.networkId === undefined) {
    return new Failure("not_allowed_now", "the first payment has no network transaction id");
  }
  if (isRefunded(order)) return new Failure("not_allowed_now", "the first payment was refunded");
  return undefined;
}

/** Returns undefined if the initiator can pay with the reference. */
export function refuseInitiator(
  { isDevice }: Pick<CardReference, "isDevice">,
  initiator: Credential["initiator"],
): Failure | undefined {
  if (isDevice !== true || initiator === "MERCHANT") return undefined;
  const sentence = "a device number has no cryptogram: only the merchant can initiate payments";
  return new Failure("not_allowed_now", sentence);
}

export function isDeviceNumber({ purchase }: Pick<Order, "purchase">): boolean {
  return purchase.wallet?.isDevice === true || purchase.credential?.isDevice === true;
}

/**
 * Returns the hash id once an issuer has approved or authenticated the card: a merchant could
 * otherwise test guesses of a number with it, unnoticed by any issuer (decision 0078). A mere
 * attempt at authentication proves nothing, because networks answer it for any number.
 */
export function shownHashId(order: Order): string | undefined {
  const { stage, authentication } = initialOf(order);
  const { status, eci = "" } = authentication ?? {};
  const isAuthenticated = status === "AUTHENTICATED" && /^0?[25]$/.test(eci);
  return stage === "approved" || isAuthenticated ? order.card.hashId : undefined;
}

/** Whether all was refunded. A partial refund says nothing against the card. */
function isRefunded(order: Order): boolean {
  const { kind } = initialOf(order);
  if (kind === "account-verification" || kind === "payout") return false;
  const { held, left } = totalsOf(order);
  return isZero(held) && isZero(left);
}
