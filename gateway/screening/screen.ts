/**
 * The `screen` effect: lets an order through to payment and chooses its gate, or filters it out.
 * The rules are a list; the first that objects decides. The checks of an endpoint are kept for as
 * long as its configuration is, because every order passes here.
 */
import type { Conditions } from "../orders/advance.ts";
import type { OrderEvent } from "../orders/events.ts";
import type { Endpoint } from "../orders/merchant.ts";
import type { Order, Reason } from "../orders/order.ts";
import { chooseGate } from "../orders/route.ts";

/** Nothing when the endpoint's settings give the rule nothing to check. */
type Rule = (endpoint: Endpoint) => Check | undefined;
/** Why the order must not go on; nothing when there is no objection. */
type Check = (order: Order) => Reason | undefined;

const rules: readonly Rule[] = [limitAmounts];
const checks = new WeakMap<Endpoint, readonly Check[]>();

export function screen(order: Order, { endpoint, readyGates }: Conditions): OrderEvent {
  const refusal = order.purchase.wallet?.refusal;
  if (refusal !== undefined) return { kind: "wallet_refused", reason: refusal };
  for (const check of checksOf(endpoint)) {
    const reason = check(order);
    if (reason !== undefined) return { kind: "filtered_out", reason };
  }
  const isReady = readyGates.has.bind(readyGates);
  const gate = chooseGate(order, endpoint.gates, { isReady, passedOver: new Set() });
  if (gate === undefined) {
    return { kind: "gate_unavailable", reason: { code: "no_gate", detail: "" } };
  }
  return { kind: needsAuthentication(order, endpoint) ? "cleared_for_3ds" : "cleared", gate };
}

function checksOf(endpoint: Endpoint): readonly Check[] {
  const known = checks.get(endpoint);
  if (known !== undefined) return known;
  const made = rules.map((rule) => rule(endpoint)).filter((check) => check !== undefined);
  checks.set(endpoint, made);
  return made;
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
function limitAmounts({ settings: { amountMin, amountMax } }: Endpoint): Check | undefined {
  if (amountMin === undefined && amountMax === undefined) return undefined;
  const least = amountMin === undefined ? undefined : BigInt(amountMin);
  const most = amountMax === undefined ? undefined : BigInt(amountMax);
  return ({ transaction: { kind, amount } }) => {
    // An account verification moves no money: its zero is no amount that a limit could mean.
    if (kind === "account-verification") return undefined;
    if (least !== undefined && amount.minor < least) {
      return { code: "amount_below_minimum", detail: "" };
    }
    if (most !== undefined && amount.minor > most) {
      return { code: "amount_above_maximum", detail: "" };
    }
    return undefined;
  };
}
