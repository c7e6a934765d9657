/**
 * The `screen` effect: lets an order through to payment and chooses its gate, or filters it out.
 */
import type { Conditions } from "../orders/advance.ts";
import type { OrderEvent } from "../orders/events.ts";
import type { Endpoint } from "../orders/merchant.ts";
import type { Order, Reason } from "../orders/order.ts";
import { chooseGate } from "../orders/route.ts";

export function screen(order: Order, { endpoint, readyGates }: Conditions): OrderEvent {
  const refusal = order.purchase.wallet?.refusal;
  if (refusal !== undefined) return { kind: "wallet_refused", reason: refusal };
  const reason = findAmountFault(order, endpoint);
  if (reason !== undefined) return { kind: "filtered_out", reason };
  const isReady = readyGates.has.bind(readyGates);
  const gate = chooseGate(order, endpoint.gates, { isReady, passedOver: new Set() });
  if (gate === undefined) {
    return { kind: "gate_unavailable", reason: { code: "no_gate", detail: "" } };
  }
  return { kind: needsAuthentication(order, endpoint) ? "cleared_for_3ds" : "cleared", gate };
}

/**
 * A merchant who charges a registered card has no cardholder present who could authenticate; and
 * where a wallet has authenticated the cardholder already, 3-D Secure is not needed.
 */
function needsAuthentication({ purchase, transaction }: Order, { settings }: Endpoint): boolean {
  if (settings.threeDSecure === "off" || transaction.authentication !== undefined) return false;
  return purchase.credential?.initiator !== "MERCHANT";
}

/** The endpoint's smallest and largest amount. */
function findAmountFault({ transaction }: Order, { settings }: Endpoint): Reason | undefined {
  const { amountMin, amountMax } = settings;
  const { kind, amount } = transaction;
  // An account verification moves no money: its zero is no amount that a limit could mean.
  if (kind === "account-verification") return undefined;
  if (amountMin !== undefined && amount.minor < BigInt(amountMin)) {
    return { code: "amount_below_minimum", detail: "" };
  }
  if (amountMax !== undefined && amount.minor > BigInt(amountMax)) {
    return { code: "amount_above_maximum", detail: "" };
  }
  return undefined;
}
