/**
 * The `screen` effect: refuses an order that violates the endpoint's limits or a blocking rule, or
 * clears it for payment and chooses its gate. The portal uses the same function to show the gates
 * of a sale.
 */
import type { Conditions } from "../orders/advance.ts";
import type { OrderEvent } from "../orders/events.ts";
import type { Endpoint, Routed } from "../orders/merchant.ts";
import type { Finding, Order, Reason } from "../orders/order.ts";
import { noCard } from "../orders/payment-page.ts";
import { chooseGate, type GateConditions, reasonWithoutGate } from "../orders/route.ts";
import { asOrderId, type GateId } from "../values/ids.ts";
import { getCurrency } from "../values/iso-codes.ts";
import { parseAmount } from "../values/money.ts";
import { Problem } from "../values/problem.ts";
import type { Instant } from "../values/time.ts";

/** The parts of an order on which the endpoint's limits and the choice of a gate depend. */
type Screenable = Routed & {
  readonly purchase: Pick<
    Order["purchase"],
    "wallet" | "credential" | "isUnattended" | "channel" | "scaExemption"
  >;
};

export function screen(
  order: Screenable,
  { endpoint, readyGates, shares, findings }: Omit<Conditions, "entropy">,
): OrderEvent {
  const refusal = order.purchase.wallet?.refusal;
  if (refusal !== undefined) return { kind: "wallet_refused", reason: refusal };
  const found =
    findings === undefined
      ? nothingFound
      : settle(findings, { isAuthenticable: isAuthenticable(order) });
  const reason = findAmountFault(order, endpoint) ?? found.reason;
  if (reason !== undefined) return { kind: "filtered_out", reason, ...found.kept };
  const isAuthenticating =
    found.isForced || (isAuthenticable(order) && mustAuthenticate(order, endpoint));
  const isReady = readyGates.has.bind(readyGates);
  const passedOver = noGates;
  const gate = chooseGate(order, endpoint, { isReady, passedOver, shares, isAuthenticating });
  if (gate === undefined) {
    const refused = reasonWithoutGate(order, endpoint, isAuthenticating);
    return { kind: "gate_unavailable", reason: refused };
  }
  if (found.isForced) return { kind: "cleared_for_3ds", gate, ...found.kept, isForced: true };
  const is3ds = isAuthenticating && !isExempt(order, endpoint, gate.id);
  return { kind: is3ds ? "cleared_for_3ds" : "cleared", gate, ...found.kept };
}

const noGates: ReadonlySet<GateId> = new Set();

/** A payout is not authenticated, because the cardholder receives the money. */
function isAuthenticable(order: Screenable): boolean {
  return order.transaction.kind !== "payout" && canAuthenticate(order);
}

/**
 * The setting "always" demands 3-D Secure even if the merchant sends a cryptogram that it has
 * decrypted from a wallet, because the gateway has not verified that cryptogram.
 */
function mustAuthenticate({ purchase }: Screenable, { settings }: Endpoint): boolean {
  const { threeDSecure } = settings;
  return (
    threeDSecure === "always" || (threeDSecure !== "off" && purchase.wallet?.isDevice !== true)
  );
}

/** If the gate's messages carry the exemption, the issuer is asked for the money at once. */
function isExempt({ purchase }: Screenable, { settings, gates }: Endpoint, gate: GateId): boolean {
  const { scaExemption } = purchase;
  if (scaExemption === undefined || settings.threeDSecure === "always") return false;
  return gates.find(({ id }) => id === gate)?.exemptions?.includes(scaExemption) === true;
}

type Settled = {
  readonly reason?: Reason;
  readonly isForced: boolean;
  readonly kept: { readonly findings?: readonly Finding[] };
};

const nothingFound: Settled = { isForced: false, kept: {} };

/**
 * Combines the findings. If one rule allows the payment, all others only mark it. A rule that
 * forces 3-D Secure also only marks the payment if 3-D Secure is impossible.
 */
export function settle(
  findings: readonly Finding[],
  { isAuthenticable = false, isAllowed: isAllowedBefore = false },
): Settled {
  if (findings.length === 0) return nothingFound;
  const isAllowed =
    isAllowedBefore || findings.some((each) => "action" in each && each.action === "allow");
  const settled = findings.map((each): Finding => {
    if ("missing" in each || each.action === "allow" || each.action === "mark") return each;
    const isIdle = isAllowed || (each.action === "force_3ds" && !isAuthenticable);
    return isIdle ? { ...each, action: "mark" } : each;
  });
  const acting = settled.flatMap((each) => ("action" in each ? [each] : []));
  const block = acting.find(({ action }) => action === "block");
  return {
    ...(block && { reason: { code: block.code, detail: "" } }),
    isForced: acting.some(({ action }) => action === "force_3ds"),
    kept: { findings: settled },
  };
}

/**
 * Whether 3-D Secure is possible and useful: not without the cardholder, and not after the gateway
 * has verified a wallet's cryptogram. A cryptogram that the merchant has decrypted is not verified.
 */
export function canAuthenticate({ purchase }: Pick<Screenable, "purchase">): boolean {
  const { wallet, credential, isUnattended, channel } = purchase;
  if (channel === "MOTO") return false;
  if (wallet?.isDevice === true && wallet.type.endsWith("_encrypted")) return false;
  return credential?.initiator !== "MERCHANT" && isUnattended !== true;
}

function findAmountFault({ transaction }: Screenable, { settings }: Endpoint): Reason | undefined {
  const { amountMin, amountMax } = settings;
  const { kind, amount } = transaction;
  // Account verifications move no money and payouts have other limits, so these do not apply.
  if (kind === "account-verification" || kind === "payout") return undefined;
  if (amountMin !== undefined && amount.minor < BigInt(amountMin)) {
    return { code: "amount_below_minimum", detail: "" };
  }
  if (amountMax !== undefined && amount.minor > BigInt(amountMax)) {
    return { code: "amount_above_maximum", detail: "" };
  }
  return undefined;
}

type RouteShare = {
  /** The event that `screen` would return. */
  readonly outcome: "cleared" | "cleared_for_3ds" | "filtered_out" | "gate_unavailable";
  /** Why the gate was chosen or the order refused. */
  readonly why: string;
  readonly gate?: string;
  /** The share of all sales with this outcome, from 0 to 1. */
  readonly share: number;
};

const drawn = 1_000;

/**
 * Simulates many sales. Returns their outcomes, and the share of the sales with each outcome. The
 * sales have no card, so a routing rule with a condition on the card does not decide them.
 */
export function findRouteShares(
  endpoint: Endpoint,
  text: string,
  { isReady, shares, at }: Pick<GateConditions, "isReady" | "shares"> & { readonly at: Instant },
): readonly RouteShare[] | Problem {
  const amount = parseAmount(text, getCurrency(endpoint.currency));
  if (amount === undefined) return new Problem(`${text} is no amount in ${endpoint.currency}.`);
  const ready = endpoint.gates.map(({ id }) => id).filter((id) => isReady(id));
  const conditions = { endpoint, readyGates: new Set(ready), shares };
  const counts = new Map<string, number>();
  for (let number = 0; number < drawn; number += 1) {
    const transaction = { kind: "sale", amount, authentication: undefined } as const;
    const id = asOrderId(String(10 ** 9 + number));
    const order = { id, acceptedAt: at, purchase: {}, card: noCard, transaction };
    const event = screen(order, conditions);
    const gate = "gate" in event ? event.gate : undefined;
    const name = endpoint.gates.find(({ id }) => id === gate?.id)?.name;
    const why = gate?.choice ?? ("reason" in event ? event.reason.code : "");
    const key = JSON.stringify({ outcome: event.kind, why, ...(name && { gate: name }) });
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [...counts].map(([key, count]) => ({ ...JSON.parse(key), share: count / drawn }));
}
