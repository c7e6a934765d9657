/**
 * After a standby took over that lacks commits, the host's books and the gateway's differ. The
 * gateway's own reconciliation with the host's settlement file must name every difference.
 */
import type { Order } from "../../gateway/orders/order.ts";
import { initialOf, totalsOf } from "../../gateway/orders/transactions.ts";
import type { SettlementLine } from "../../gateway/reconciliation/acquirer-file.ts";
import { makeReconciliation } from "../../gateway/reconciliation/reconcile.ts";
import { getCurrency } from "../../gateway/values/iso-codes.ts";
import { Money } from "../../gateway/values/money.ts";
import { asInstant } from "../../gateway/values/time.ts";
import { gates } from "./configuration.ts";
import type { Booking } from "./host.ts";
import { startOfTime } from "./platform.ts";

const dayMs = 86_400_000;
const period = {
  from: asInstant(startOfTime - dayMs),
  until: asInstant(startOfTime + 7 * dayMs),
  windowMs: 0,
};

/** Finds references whose sums differ and that no difference of the reconciliation names. */
export async function findUnnamed(
  orders: readonly Order[],
  books: readonly Booking[],
): Promise<readonly string[]> {
  const named = new Set<string>();
  for (const gate of gates) {
    const reconciliation = makeReconciliation({
      gateId: gate.id,
      period,
      neighbours: [],
      findOrder: async (reference) => orders.find((order) => referenceOf(order) === reference),
    });
    for (const order of orders) reconciliation.expect(order);
    const own = books.filter(({ port }) => port === gate.settings.port);
    for (const line of own.flatMap(linesOf)) reconciliation.take(line);
    const { differences } = await reconciliation.finish();
    for (const { reference } of differences) named.add(reference);
  }
  const sums = new Map<string, bigint>();
  const add = (reference: string, minor: bigint) =>
    sums.set(reference, (sums.get(reference) ?? 0n) + minor);
  for (const order of orders) add(referenceOf(order), totalsOf(order).standing.minor);
  for (const { reference, isReversed, captured, returned } of books) {
    if (!isReversed && captured > 0) add(reference, BigInt(returned - captured));
  }
  return [...sums].flatMap(([reference, sum]) =>
    sum === 0n || named.has(reference) ? [] : [reference],
  );
}

function referenceOf(order: Order): string {
  return initialOf(order).identifiers?.reference ?? "";
}

/** Returns the lines of a settlement file. A charge that was reversed, or only held, has none. */
function linesOf({
  reference,
  kind,
  amount,
  captured,
  returned,
  isReversed,
}: Booking): SettlementLine[] {
  const line = { line: 1, reference };
  if (kind === "payout") return [{ ...line, kind, money: moneyOf(amount) }];
  if (isReversed || captured === 0) return [];
  const charge = { ...line, kind: kind === "sale" ? "sale" : "capture", money: moneyOf(captured) };
  const given = { ...line, kind: "reversal", money: moneyOf(returned) };
  return (returned === 0 ? [charge] : [charge, given]) as SettlementLine[];
}

function moneyOf(minor: number): Money {
  return new Money(BigInt(minor), getCurrency("USD"));
}
