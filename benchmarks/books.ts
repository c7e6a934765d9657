/**
 * Checks that the money adds up after the load: every acknowledged order exists once and is final,
 * and the gateway's approved orders equal the bank's bookings, reference by reference and to the
 * cent.
 */
import type { Client } from "pg";
import { isOfGateway } from "../gateway/storage/orders/generated-orders.ts";
import type { OrderName } from "./requests.ts";

export type OrderRow = OrderName & {
  readonly stage: string;
  readonly isFinal: boolean;
  readonly reference: string | null;
  readonly amount: number;
  readonly currency: string;
};

export type LedgerEntry = {
  readonly reference: string;
  readonly kind: "sale" | "authorisation" | "capture" | "reversal";
  readonly amount: number;
  readonly currency: string;
};

export type Books = {
  readonly acknowledged: number;
  readonly orders: number;
  readonly approved: number;
  readonly ledgerEntries: number;
  /** Acknowledged orders that are not in the database or not final. */
  readonly lost: readonly string[];
  /** Client order ids with two orders, or with two sales or captures at the bank. */
  readonly doubled: readonly string[];
  /** References on which gateway and bank differ, with the difference. */
  readonly differing: readonly string[];
};

export function auditBooks(
  acknowledged: readonly OrderName[],
  orders: readonly OrderRow[],
  entries: readonly LedgerEntry[],
): Books {
  const approved = orders.filter(({ stage }) => stage === "approved");
  return {
    acknowledged: acknowledged.length,
    orders: orders.length,
    approved: approved.length,
    ledgerEntries: entries.length,
    lost: findLost(acknowledged, orders),
    doubled: findDoubled(orders, entries),
    differing: findDiffering(approved, entries),
  };
}

export function areClean({ lost, doubled, differing }: Books): boolean {
  return lost.length + doubled.length + differing.length === 0;
}

function findLost(acknowledged: readonly OrderName[], orders: readonly OrderRow[]): string[] {
  const byId = new Map(orders.map((order) => [order.orderId, order]));
  return acknowledged.flatMap(({ clientOrderId, orderId }) => {
    const order = byId.get(orderId);
    if (order === undefined) return [`${clientOrderId}: not in the database`];
    if (order.clientOrderId !== clientOrderId) return [`${clientOrderId}: another's order`];
    return order.isFinal ? [] : [`${clientOrderId}: still ${order.stage}`];
  });
}

function findDoubled(orders: readonly OrderRow[], entries: readonly LedgerEntry[]): string[] {
  const nameOf = new Map(orders.map((order) => [order.reference, order.clientOrderId]));
  const sales = entries.filter(({ kind }) => kind === "sale" || kind === "capture");
  const salesOf = Map.groupBy(sales, ({ reference }) => nameOf.get(reference) ?? reference);
  const ordersOf = Map.groupBy(orders, ({ clientOrderId }) => clientOrderId);
  const several = (groups: ReadonlyMap<string, readonly unknown[]>, what: string) =>
    [...groups].flatMap(([name, all]) =>
      all.length > 1 ? [`${name}: ${all.length} ${what}`] : [],
    );
  return [...several(ordersOf, "orders"), ...several(salesOf, "sales at the bank")];
}

/** A charge that was reversed in full is on neither side. */
function findDiffering(approved: readonly OrderRow[], entries: readonly LedgerEntry[]): string[] {
  const standing = new Map<string, number>();
  // A capture replaces the hold.
  const captures = entries.filter(({ kind }) => kind === "capture");
  const captured = new Set(captures.map(({ reference }) => reference));
  for (const { reference, kind, amount, currency } of entries) {
    if (kind === "authorisation" && captured.has(reference)) continue;
    const key = `${reference} ${currency}`;
    const signed = kind === "reversal" ? -amount : amount;
    standing.set(key, (standing.get(key) ?? 0) + signed);
  }
  const differing: string[] = [];
  for (const { reference, currency, amount } of approved) {
    const key = `${reference} ${currency}`;
    const booked = standing.get(key) ?? 0;
    if (booked !== amount) differing.push(`${key}: gateway ${amount}, bank ${booked}`);
    standing.delete(key);
  }
  for (const [key, booked] of standing) {
    if (booked !== 0) differing.push(`${key}: gateway 0, bank ${booked}`);
  }
  return differing;
}

/** Sums the refunds of an order: those before its latest transaction, and that one. */
const refunded = `
  select coalesce(sum((made #>> '{amount,0}')::numeric), 0)
  from jsonb_array_elements(coalesce((progress->'earlier')::jsonb, '[]')
    || jsonb_build_array((progress->'transaction')::jsonb)) as made
  where made->>'kind' = 'refund' and made->>'stage' = 'approved'`;

/** Reads the gateway's orders, each with its remaining amount. */
export async function readOrders(database: Client): Promise<readonly OrderRow[]> {
  const { rows } = await database.query(
    `
    select client_orderid, id, stage, finished_at is not null and owes is null as is_final,
      amount - (${refunded}) as amount, currency,
      progress->'transaction'->'identifiers'->>'reference' as reference
    from orders where ${isOfGateway}`,
  );
  return rows.map((row) => ({
    clientOrderId: String(row.client_orderid),
    orderId: String(row.id),
    stage: String(row.stage),
    isFinal: row.is_final === true,
    reference: row.reference,
    amount: Number(row.amount),
    currency: String(row.currency),
  }));
}

export async function readLedger(bankUrl: string): Promise<readonly LedgerEntry[]> {
  const answer = await fetch(`${bankUrl}/ledger`);
  // This is the bank's documented interface. The audit fails on any other answer.
  const { entries } = (await answer.json()) as { entries: readonly LedgerEntry[] };
  return entries;
}
