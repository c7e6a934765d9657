/**
 * A reference to the card of an earlier payment: what a merchant keeps instead of the number. The
 * several ids of one registration lead to the same card.
 */
import { Failure } from "../values/failure.ts";
import type { CardRefId, EndpointId, MerchantId, OrderId } from "../values/ids.ts";
import { isZero } from "../values/money.ts";
import type { Instant } from "../values/time.ts";
import type { CardFacts, Order } from "./order.ts";
import { initialOf, totalsOf } from "./transactions.ts";

/** `destination`: for transfers to the card; `recurring`: for other interfaces. */
export const referencePurposes = [
  "card",
  "recurring",
  "destination",
  "destination_recurring",
] as const;
export type ReferencePurpose = (typeof referencePurposes)[number];

export type CardReference = {
  readonly merchantId: MerchantId;
  readonly id: CardRefId;
  readonly purpose: ReferencePurpose;
  readonly card: CardFacts;
  /** The network's id of the payment that the card was registered with. */
  readonly networkId: string | undefined;
  readonly endpointId: EndpointId;
  readonly orderId: OrderId;
  readonly createdAt: Instant;
  readonly removedAt: Instant | undefined;
};

/** The ids of one registration. */
export type CardReferences = Readonly<Record<ReferencePurpose, CardRefId>>;

/** Why the card of an order cannot be registered; nothing when it can. */
export function refuseRegistration(order: Order): Failure | undefined {
  if (initialOf(order).stage !== "approved") {
    return new Failure("not_allowed_now", "the first payment is not approved");
  }
  if (order.purchase.wallet !== undefined) {
    return new Failure("not_allowed_now", "the first payment was made with a wallet");
  }
  if (isRefunded(order)) return new Failure("not_allowed_now", "the first payment was refunded");
  return undefined;
}

/** In full: a partial refund says nothing against the card. */
function isRefunded(order: Order): boolean {
  if (initialOf(order).kind === "account-verification") return false;
  const { held, left } = totalsOf(order);
  return isZero(held) && isZero(left);
}
