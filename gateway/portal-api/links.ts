/** Payment links for the portal: a list in pages, and one link with its URL and QR code. */
import { findEnd, type PaymentLink } from "../orders/payment-page.ts";
import type { RoutedLinks } from "../storage/orders/payment-links.ts";
import { renderQrSvg } from "../values/qr-code.ts";
import { hasRight } from "../values/roles.ts";
import type { Instant } from "../values/time.ts";
import type { Handlers } from "./api.ts";
import type { LinkView } from "./configuration-routes.ts";
import { type Configured, loginOf, merchantFor } from "./reads.ts";
import { notFound } from "./route.ts";
import { readCursor, viewMoney } from "./shapes.ts";

export type LinkHandlerOptions = {
  readonly links: Pick<RoutedLinks, "list" | "findById">;
  readonly linkUrlOf: (link: PaymentLink) => string;
  readonly configured: () => Configured;
};

export function linkHandlers({ links, linkUrlOf, configured }: LinkHandlerOptions) {
  return {
    async "GET /links"({ merchant, after, limit = 50 }, caller) {
      const merchantId = merchantFor(caller, configured(), merchant);
      if (merchantId === null) return { links: [] };
      const found = await links.list({ merchantId, limit, after: readCursor(after) });
      const last = found.length === limit ? found.at(-1) : undefined;
      const next = last && { next: `${last.createdAt}-${last.id}` };
      return { links: found.map((each) => viewLink(each, configured(), caller.now)), ...next };
    },

    async "GET /links/:link"({ link: id }, { merchantId, now, account }) {
      const link = await links.findById(id);
      if (link === undefined || (merchantId ?? link.merchantId) !== link.merchantId) {
        return notFound;
      }
      // A person with the URL can charge cards without their holders.
      if (link.channel === "MOTO" && !hasRight(account.role, "enter_orders")) return notFound;
      const url = linkUrlOf(link);
      const { returnUrl, callbackUrl } = link;
      return {
        line: viewLink(link, configured(), now),
        url,
        svg: renderQrSvg(url),
        ...(returnUrl && { returnUrl }),
        ...(callbackUrl && { callbackUrl }),
      };
    },
  } satisfies Partial<Handlers>;
}

function viewLink(link: PaymentLink, configured: Configured, now: Instant): LinkView {
  const { id, merchantId, endpointId, amount, description, createdAt, createdBy } = link;
  const { expiresAt, usesMax, uses } = link;
  const isUsed = usesMax !== undefined && uses.length >= usesMax;
  return {
    link: id,
    endpoint: endpointId,
    amount: viewMoney(amount),
    description,
    merchant: loginOf(configured, merchantId),
    createdAt,
    createdBy,
    uses: uses.length,
    ...(expiresAt !== undefined && { expiresAt }),
    ...(usesMax !== undefined && { usesMax }),
    state: findEnd(link, now) ?? (isUsed ? "used" : "open"),
  };
}
