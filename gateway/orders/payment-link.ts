/**
 * A payment link (decision 0056): an amount at an endpoint that cardholders with the URL can pay
 * once, a number of times, or any number of times. It is no order: each payment begins one.
 */
import type { EndpointId, LinkId, MerchantId } from "../values/ids.ts";
import type { Money } from "../values/money.ts";
import type { Instant } from "../values/time.ts";

export type PaymentLink = {
  readonly id: LinkId;
  readonly merchantId: MerchantId;
  readonly endpointId: EndpointId;
  readonly amount: Money;
  readonly description: string;
  /** Where the cardholder's browser goes afterwards; to the gateway's own page when absent. */
  readonly returnUrl?: string | undefined;
  readonly callbackUrl?: string | undefined;
  readonly createdAt: Instant;
  readonly createdBy: string;
  readonly expiresAt?: Instant | undefined;
  readonly closedAt?: Instant | undefined;
  /** Absent: any number. */
  readonly usesMax?: number | undefined;
  /** The pages whose orders count; those that ended unpaid leave when another page needs a use. */
  readonly uses: readonly string[];
};

export type LinkKey = Pick<PaymentLink, "merchantId" | "id">;

/** More than these are as good as any number. */
export const linkUsesMax = 100;

/** Why no payment begins with the link any more, apart from its uses. */
export function findEnd(link: PaymentLink, now: Instant): "closed" | "expired" | undefined {
  if (link.closedAt !== undefined) return "closed";
  return link.expiresAt !== undefined && link.expiresAt <= now ? "expired" : undefined;
}

/** Unique among the merchant's orders. A page of the link that is posted twice begins one order. */
export function clientOrderIdOf({ id }: Pick<PaymentLink, "id">, page: string): string {
  return `link-${id}-${page}`;
}
