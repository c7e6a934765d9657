/**
 * ISO 4217. The exponents come from the published list, never from `Intl`, whose locale tables
 * differ from the standard for more than a dozen currencies.
 */
import { data as currencies } from "currency-codes";

export type Currency = {
  readonly code: string;
  readonly numeric: string;
  /** How many fraction digits the currency has. */
  readonly exponent: number;
};

const byCode: ReadonlyMap<string, Currency> = new Map(
  currencies.map(({ code, number, digits }) => [code, { code, numeric: number, exponent: digits }]),
);

export function findCurrency(code: string): Currency | undefined {
  return byCode.get(code);
}

export function getCurrency(code: string): Currency {
  const currency = byCode.get(code);
  if (currency === undefined) throw new Error(`no such currency: ${code}`);
  return currency;
}
