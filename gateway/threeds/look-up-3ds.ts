/**
 * Does the `look_up_3ds` effect: is the card enrolled? No directory server is connected, so no card
 * is in any range: the endpoint's policy says whether it may be charged unauthenticated.
 */
import type { OrderEvent } from "../orders/events.ts";
import type { Endpoint } from "../orders/merchant.ts";
import type { Authentication, Order } from "../orders/order.ts";
import type { Network } from "../values/card-number.ts";
import type { EndpointId } from "../values/ids.ts";

export function makeLookUp3ds(getEndpoint: (id: EndpointId) => Endpoint) {
  return (order: Order): OrderEvent => {
    const { threeDSecure } = getEndpoint(order.endpointId).settings;
    const authentication: Authentication = {
      status: "UNSUPPORTED",
      eci: unauthenticatedEci(order.card.network),
    };
    if (threeDSecure === "always") {
      const reason = { code: "authentication_missing", detail: "" } as const;
      return { kind: "authentication_failed", authentication, reason };
    }
    return { kind: "left_unauthenticated", authentication };
  };
}

/** Mastercard and Maestro count from 00, everybody else from 07. */
function unauthenticatedEci(network: Network | undefined): string {
  return network === "MASTERCARD" || network === "MAESTRO" ? "00" : "07";
}
