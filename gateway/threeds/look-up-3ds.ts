/**
 * The `look_up_3ds` effect: begins an authentication, or decides that none takes place. The
 * function is pure: the card's range was found when the order was accepted, and the rest is handed
 * in.
 */
import type { OrderEvent } from "../orders/events.ts";
import type { Endpoint } from "../orders/merchant.ts";
import type { Order, ThreeDSecure } from "../orders/order.ts";
import type { OrderId } from "../values/ids.ts";
import { withoutAuthentication } from "./authentication-outcome.ts";

type Conditions = {
  readonly endpoint: Pick<Endpoint, "settings">;
  /** Twenty random bytes for the authentication's id. */
  readonly entropy: Uint8Array;
};

export function lookUp3ds(order: Order, { endpoint, entropy }: Conditions): OrderEvent {
  const { enrolment } = order.card;
  if (enrolment === undefined) return withoutAuthentication(order, endpoint.settings.threeDSecure);
  const { directory, version, methodUrl } = enrolment;
  if (version === "1.0.2") {
    const transactionId = Buffer.from(entropy).toString("base64");
    return { kind: "enrolment_due", threeds: { directory, version, transactionId } };
  }
  const threeds: ThreeDSecure = {
    directory,
    version,
    transactionId: transactionIdOf(order.id, entropy),
    ...(methodUrl === undefined ? {} : { methodUrl }),
  };
  const { browser } = order.transaction.threeds ?? {};
  if (browser !== undefined) {
    // The issuer demands a challenge. Its method has run for the earlier id, and not for this one.
    const seen = { ...browser, completion: methodUrl === undefined ? "U" : "N" } as const;
    return { kind: "authentication_due", threeds: { ...threeds, browser: seen } };
  }
  return { kind: methodUrl === undefined ? "authentication_due" : "method_requested", threeds };
}

/**
 * A version 4 UUID, which is what directory servers expect. A result message names nothing else, so
 * the last twelve digits are the order's number; the rest is random, so that only the
 * parties of an authentication know its id.
 */
function transactionIdOf(order: OrderId, entropy: Uint8Array): string {
  const hex = Buffer.from(entropy).toString("hex");
  const variant = (((entropy[8] ?? 0) & 0x3f) | 0x80).toString(16);
  const number = Number(order).toString(16).padStart(12, "0");
  const [start, middle] = [hex.slice(0, 8), hex.slice(8, 12)];
  return `${start}-${middle}-4${hex.slice(13, 16)}-${variant}${hex.slice(18, 20)}-${number}`;
}

/** Orders with a higher one cannot be stored. */
const orderNumberMax = 9_223_372_036_853;

/** The number of the order that the id may belong to; undefined when it is not an id. */
export function orderNumberIn(transactionId: string): number | undefined {
  const [, digits] = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-([0-9a-f]{12})$/i.exec(transactionId) ?? [];
  const number = Number.parseInt(digits ?? "0", 16);
  return digits === undefined || number > orderNumberMax ? undefined : number;
}

/** Directory servers and issuers may change the case of an id's letters. */
export function isSameId(received: string | undefined, known: string | undefined): boolean {
  return known !== undefined && received?.toLowerCase() === known.toLowerCase();
}
