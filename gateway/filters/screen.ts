/**
 * Does the `screen` effect: lets an order through to payment, or filters it out. The rules are a
 * list; the first that objects decides.
 */
import type { EventOf, OrderEvent } from "../orders/events.ts";
import type { Endpoint } from "../orders/merchant.ts";
import type { Order, Reason } from "../orders/order.ts";
import type { EndpointId } from "../values/ids.ts";
import { amountLimits } from "./amount-limits.ts";

/** Why the order must not go on; nothing when the rule has no objection. */
export type Rule = (order: Order, endpoint: Endpoint) => Reason | undefined;
export type GetEndpoint = (id: EndpointId) => Endpoint;

const rules: readonly Rule[] = [amountLimits];

export function makeScreen(getEndpoint: GetEndpoint): (order: Order) => OrderEvent {
  return (order) => {
    const endpoint = getEndpoint(order.endpointId);
    for (const rule of rules) {
      const reason = rule(order, endpoint);
      if (reason !== undefined) return { kind: "filtered_out", reason };
    }
    return cleared(endpoint);
  };
}

function cleared({ gate, settings }: Endpoint): EventOf<"cleared" | "cleared_for_3ds"> {
  const { worksWithoutCvv: _, ...facts } = gate;
  return { kind: settings.threeDSecure === "off" ? "cleared" : "cleared_for_3ds", gate: facts };
}
