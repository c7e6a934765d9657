/**
 * The day's totals of a gate as a host compares them: per currency, sales and captures, their
 * reversals, and refunds. They come from the same expectations as the comparison with the
 * settlement file: holds and chargebacks do not count, and neither does a charge that was reversed
 * because its answer was lost.
 */
import type { DayTotals, SettlementKind, Sums } from "../orders/settlement-items.ts";
import type { GateId } from "../values/ids.ts";
import { getCurrency } from "../values/iso-codes.ts";
import { makeReconciliation, type Period, type Total } from "./reconcile.ts";

/** Exactly the day: sums have no line that could be looked for in a neighbouring one. */
export function makeDayTotals(gateId: GateId, { from, until }: Omit<Period, "windowMs">) {
  const period = { from, until, windowMs: 0 };
  const findOrder = async () => undefined;
  const { expect, totals } = makeReconciliation({ gateId, period, neighbours: [], findOrder });
  return { expect, totals: (others?: readonly string[]) => dayTotalsOf(totals(), others) };
}

/** `others` are currencies that the host is asked about even when nothing moved in them. */
export function dayTotalsOf(
  totals: readonly Total[],
  others: readonly string[] = [],
): readonly DayTotals[] {
  const codes = new Set([...totals.map(({ currency }) => currency), ...others]);
  return [...codes].sort().map((code) => {
    const of = (...kinds: readonly SettlementKind[]) =>
      sum(totals.filter(({ currency, kind }) => currency === code && kinds.includes(kind)));
    return {
      currency: getCurrency(code),
      credits: of("refund"),
      debits: of("sale", "capture"),
      debitReversals: of("reversal"),
    };
  });
}

function sum(totals: readonly Total[]): Sums {
  return totals.reduce<Sums>(
    ({ count, minor }, { here }) => ({ count: count + here.count, minor: minor + here.minor }),
    { count: 0, minor: 0n },
  );
}
