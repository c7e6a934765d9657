/**
 * A merchant's statement, a line for each day and currency, and its balances, which are what the
 * operator owes it. Both are sums of the movements of its orders' money, in minor units.
 */
import type { MerchantId } from "../values/ids.ts";
import { getCurrency } from "../values/iso-codes.ts";
import { formatSum } from "../values/money.ts";
import { calendar, hours, isDay, later, parseDate } from "../values/time.ts";

const sums = ["gross", "fees", "returns", "chargebacks", "payouts", "net"] as const;
export const statementColumns = ["day", "currency", ...sums] as const;
type Texts<Name extends string> = Readonly<Record<Name, string>>;
export type StatementDay = Texts<"day" | "currency" | (typeof sums)[number]>;
export type Days = Texts<"from" | "until">;
export type MerchantBalance = Texts<"currency" | "net" | "pending" | "settled">;

/** Whose balances are read. Without an endpoint, those of all endpoints together. */
export type BalanceOwner = { readonly merchantId: MerchantId; readonly endpointId?: string };

export function printDay({ day, currency, ...line }: StatementDay): Texts<string> {
  const printed = sums.map((name) => [name, print(BigInt(line[name]), currency)]);
  return { day, currency, ...Object.fromEntries(printed) };
}

/** Nothing is withheld, so that the holds are zero. */
export function printBalance({ currency, net, pending, settled }: MerchantBalance) {
  const amount = BigInt(net) - BigInt(settled);
  return {
    "name": currency,
    "amount": print(amount, currency),
    currency,
    "online-balance-live-amount": print(amount - BigInt(pending), currency),
    "total-short-term-hold-amount": print(0n, currency),
    "total-rolling-reserve-amount": print(0n, currency),
    "amount-buffer-hold": print(BigInt(pending), currency),
  };
}

function print(minor: bigint, currency: string): string {
  return formatSum(minor, getCurrency(currency));
}

const usualDays = 30;

/** Reads the days of a statement. Returns undefined if they are no days, or in the wrong order. */
export function readDays(
  { since, until }: { readonly since?: string | undefined; readonly until?: string | undefined },
  today: string,
): Days | undefined {
  const last = until ?? today;
  const end = isDay(last) ? parseDate(last) : undefined;
  if (end === undefined) return undefined;
  const from = since ?? calendar(later(end, -hours(24 * usualDays))).iso.slice(0, 10);
  return isDay(from) && from <= last ? { from, until: last } : undefined;
}
