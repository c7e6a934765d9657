/**
 * Computes which gates past orders of an endpoint would have had by its routing rules or by others,
 * compares them with those that they had, and changes nothing. Every gate counts as ready and
 * healthy.
 */
import type { Endpoint } from "../../orders/merchant.ts";
import type { Order } from "../../orders/order.ts";
import { chooseGate } from "../../orders/route.ts";
import { findRoute } from "../../orders/routing-rules.ts";
import { initialOf } from "../../orders/transactions.ts";
import type { Configuration } from "../../storage/configuration/configuration.ts";
import type { GateId } from "../../values/ids.ts";
import { Problem } from "../../values/problem.ts";
import { type Given, list } from "../field.ts";
import { periodFields, readPeriod, walkOrders } from "../orders/past-orders.ts";
import { Report, type Session } from "../session.ts";

export const tryFields = {
  rule: list("text", "rule", [
    "in place of the endpoint's rules, like 'network=VISA;amount=100..;to=second'",
    "statt der Regeln des Endpunkts, wie 'network=VISA;amount=100..;to=zweites'",
  ]),
  ...periodFields,
};

type Options = Omit<Given<typeof tryFields>, "rule">;

export async function tryRoutes(
  session: Session & { readonly configuration: Configuration },
  endpoint: Endpoint,
  given: Options,
): Promise<Report | Problem> {
  const period = await readPeriod(session, given);
  if (period instanceof Problem) return period;
  const { gates } = session.configuration;
  const nameOf = (id: GateId) => gates.get(id)?.name ?? `gate ${id}`;
  const rows = new Map<string, Row>();
  const progress = session.progress("orders judged");
  let judged = 0;
  for await (const order of walkOrders(session, endpoint.merchant.cell, period)) {
    progress(++judged);
    const routed = order.endpointId === endpoint.id ? asRouted(order) : undefined;
    if (routed === undefined) continue;
    const wanted = chooseGate(routed, endpoint, { isReady: () => true, passedOver: new Set() });
    const rule = String(findRoute(endpoint, routed)?.number ?? "");
    const gate = wanted === undefined ? "none" : nameOf(wanted.id);
    const had = initialOf(order).identifiers?.gate.id;
    const key = `${rule} ${gate}`;
    const row = rows.get(key) ?? { rule, gate, orders: 0, approved: 0, moved: 0, from: {} };
    rows.set(key, row);
    row.orders += 1;
    if (initialOf(order).stage === "approved") row.approved += 1;
    if (had === wanted?.id) continue;
    row.moved += 1;
    const from = had === undefined ? "none" : nameOf(had);
    row.from[from] = (row.from[from] ?? 0) + 1;
  }
  return print([...rows.values()]);
}

type Row = {
  /** Empty for orders that no rule decides. */
  readonly rule: string;
  readonly gate: string;
  orders: number;
  approved: number;
  moved: number;
  readonly from: Record<string, number>;
};

/** Returns the order as it was when its gate was chosen; undefined if it never came so far. */
function asRouted(order: Order): Order | undefined {
  const initial = initialOf(order);
  const hadGate = initial.identifiers !== undefined || initial.reason?.code === "no_gate";
  if (!hadGate) return undefined;
  const isVerified = initial.kind === "account-verification";
  const amount = isVerified ? initial.amount : order.purchase.amount;
  return { ...order, transaction: { ...initial, amount } };
}

function print(found: readonly Row[]): Report {
  const sorted = found.toSorted(
    (one, other) =>
      (Number(one.rule) || Number.POSITIVE_INFINITY) -
        (Number(other.rule) || Number.POSITIVE_INFINITY) || other.orders - one.orders,
  );
  const values = sorted.map(({ from, ...row }) => ({
    ...row,
    from: Object.entries(from)
      .map(([gate, count]) => `${gate} ${count}`)
      .join(", "),
  }));
  return new Report(values, values.length > 0 ? values : "There are no such orders.");
}
