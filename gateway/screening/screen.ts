/**
 * Does the `screen` effect: lets an order through to payment and chooses its gate, or filters it
 * out. The rules are a list; the first that objects decides. What a rule makes of an endpoint is
 * kept for as long as the endpoint's configuration is: every order passes here.
 */
import type { OrderEvent } from "../orders/events.ts";
import type { Endpoint } from "../orders/merchant.ts";
import type { Order, Reason } from "../orders/order.ts";
import { chooseGate, type GateConditions } from "../orders/route.ts";
import type { EndpointId } from "../values/ids.ts";
import { amountLimits } from "./amount-limits.ts";

/** Nothing when the endpoint's settings give the rule nothing to check. */
export type Rule = (endpoint: Endpoint) => Check | undefined;
/** Why the order must not go on; nothing when there is no objection. */
export type Check = (order: Order) => Reason | undefined;
export type GetEndpoint = (id: EndpointId) => Endpoint;

const rules: readonly Rule[] = [amountLimits];

export function makeScreen(
  getEndpoint: GetEndpoint,
  isReady: GateConditions["isReady"],
): (order: Order) => OrderEvent {
  const checks = new WeakMap<Endpoint, readonly Check[]>();
  const conditions = { isReady, passedOver: new Set<never>() };
  return (order) => {
    const endpoint = getEndpoint(order.endpointId);
    const refusal = order.purchase.wallet?.refusal;
    if (refusal !== undefined) return { kind: "wallet_refused", reason: refusal };
    for (const check of checksOf(endpoint)) {
      const reason = check(order);
      if (reason !== undefined) return { kind: "filtered_out", reason };
    }
    const gate = chooseGate(order, endpoint.gates, conditions);
    if (gate === undefined) {
      return { kind: "gate_unavailable", reason: { code: "no_gate", detail: "" } };
    }
    return { kind: needsAuthentication(order, endpoint) ? "cleared_for_3ds" : "cleared", gate };
  };

  function checksOf(endpoint: Endpoint): readonly Check[] {
    const known = checks.get(endpoint);
    if (known !== undefined) return known;
    const made = rules.map((rule) => rule(endpoint)).filter((check) => check !== undefined);
    checks.set(endpoint, made);
    return made;
  }
}

/**
 * A merchant who charges a registered card has no cardholder at hand who could authenticate; and
 * where a wallet has proved him already, nobody needs to.
 */
function needsAuthentication({ purchase, transaction }: Order, { settings }: Endpoint): boolean {
  if (settings.threeDSecure === "off" || transaction.authentication !== undefined) return false;
  return purchase.credential?.initiator !== "MERCHANT";
}
