/** What payments are counted by, as a text that is the same for the same card, payer or device. */
import ipaddr from "ipaddr.js";
import type { Order, Purchase } from "../orders/order.ts";
import { foldEmail } from "../values/email.ts";
import type { Subject } from "./rule.ts";

/** Case does not matter. */
export function foldPurpose(text: string): string {
  return text.normalize("NFC").trim().toLowerCase();
}

/** Returns undefined where the payment does not have the subject. `card` is a digest. */
export function subjectOf(
  subject: Subject,
  { purchase, card: { bin } }: Pick<Order, "purchase" | "card">,
  card: string | undefined,
): string | undefined {
  switch (subject) {
    case "card":
      return card;
    case "bin":
      return orNothing(bin);
    case "email":
      return orNothing(purchase.customer.email && foldEmail(purchase.customer.email));
    case "ip":
      return orNothing(networkOf(purchase.ipAddress));
    case "device":
      return deviceOf(purchase);
    case "purpose":
      return orNothing(purchase.purpose && foldPurpose(purchase.purpose));
  }
}

/**
 * An IPv4 address, or the first 64 bits of an IPv6 address: a subscriber has at least so many, and
 * may change the rest at will.
 */
export function networkOf(text: string): string {
  if (!text.includes(":")) return text;
  const address = ipaddr.process(text);
  if (!(address instanceof ipaddr.IPv6)) return address.toString();
  const head = address.parts.slice(0, 4).map((part) => part.toString(16));
  return `${head.join(":")}::/64`;
}

/** The browser as the merchant saw it. Many browsers are alike: the address tells them apart. */
function deviceOf({ browser, ipAddress }: Purchase): string | undefined {
  if (browser === undefined) return undefined;
  const properties = Object.entries(browser).sort(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify([networkOf(ipAddress), properties]);
}

function orNothing(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}
