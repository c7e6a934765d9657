/**
 * Which gates a sale would take now, and how gates of one rank share them: the function that routes
 * orders is asked for many that do not exist.
 */
import type { Endpoint } from "../orders/merchant.ts";
import { asOrderId, type GateId } from "../values/ids.ts";
import { getCurrency } from "../values/iso-codes.ts";
import { parseAmount } from "../values/money.ts";
import { Problem } from "../values/problem.ts";
import { screen } from "./screen.ts";

export type RouteShare = {
  /** The event of the order. */
  readonly outcome: "cleared" | "cleared_for_3ds" | "filtered_out" | "gate_unavailable";
  /** Why this gate, or why none. */
  readonly why: string;
  readonly gate?: string;
  /** The part of all sales that took this way. */
  readonly share: number;
};

const drawn = 1_000;

export function findRouteShares(
  endpoint: Endpoint,
  text: string,
  isReady: (gate: GateId) => boolean,
): readonly RouteShare[] | Problem {
  const amount = parseAmount(text, getCurrency(endpoint.currency));
  if (amount === undefined) return new Problem(`${text} is no amount in ${endpoint.currency}.`);
  const ready = endpoint.gates.map(({ id }) => id).filter(isReady);
  const conditions = { endpoint, readyGates: new Set(ready) };
  const counts = new Map<string, number>();
  for (let at = 0; at < drawn; at += 1) {
    const transaction = { kind: "sale", amount } as const;
    const order = { id: asOrderId(String(10 ** 9 + at)), purchase: {}, transaction };
    const event = screen(order, conditions);
    const gate = "gate" in event ? event.gate : undefined;
    const name = endpoint.gates.find(({ id }) => id === gate?.id)?.name;
    const why = gate?.choice ?? ("reason" in event ? event.reason.code : "");
    const key = JSON.stringify({ outcome: event.kind, why, ...(name && { gate: name }) });
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [...counts].map(([key, count]) => ({ ...JSON.parse(key), share: count / drawn }));
}
