/**
 * Currencies (ISO 4217), countries (ISO 3166-1) and the states of countries that need one. The
 * currencies' exponents come from the published list, never from `Intl`, whose locale tables differ
 * from the standard for more than a dozen currencies.
 */
import { data as currencies } from "currency-codes";
import countries from "i18n-iso-countries/codes.json" with { type: "json" };

export type Currency = {
  readonly code: string;
  readonly numeric: string;
  /** The number of fraction digits. */
  readonly exponent: number;
};

const currencyByCode: ReadonlyMap<string, Currency> = new Map(
  currencies.map(({ code, number, digits }) => [code, { code, numeric: number, exponent: digits }]),
);

export function findCurrency(code: string): Currency | undefined {
  return currencyByCode.get(code);
}

const currencyByNumber: ReadonlyMap<string, Currency> = new Map(
  [...currencyByCode.values()].map((currency) => [currency.numeric, currency]),
);

export function findCurrencyByNumber(numeric: string): Currency | undefined {
  return currencyByNumber.get(numeric);
}

export function getCurrency(code: string): Currency {
  const currency = currencyByCode.get(code);
  if (currency === undefined) throw new Error(`no such currency: ${code}`);
  return currency;
}

const countryNumbers: ReadonlyMap<string, string> = new Map(
  countries.flatMap(([alpha2, , numeric]) => (alpha2 && numeric ? [[alpha2, numeric]] : [])),
);

export const countryCodes: readonly string[] = [...countryNumbers.keys()];

const alpha2ByCode: ReadonlyMap<string, string> = new Map(
  countries.flatMap(([alpha2 = "", alpha3 = ""]) => [
    [alpha2, alpha2],
    [alpha3, alpha2],
  ]),
);

export function findAlpha2(code: string): string | undefined {
  return alpha2ByCode.get(code);
}

export function isCountry(alpha2: string): boolean {
  return countryNumbers.has(alpha2);
}

export function numericCountry(alpha2: string): string | undefined {
  return countryNumbers.get(alpha2);
}

// biome-ignore format: a table
const states: Readonly<Record<string, string>> = {
  US: "AL AK AZ AR CA CO CT DE DC FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK OR PA RI SC SD TN TX UT VT VA WA WV WI WY AS GU MP PR VI UM AA AE AP",
  CA: "AB BC MB NB NL NS NT NU ON PE QC SK YT",
  AU: "ACT NSW NT QLD SA TAS VIC WA",
};

export const statesByCountry: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(states).map(([country, codes]) => [country, new Set(codes.split(" "))]),
);

/** Returns undefined for a country that needs no state. */
export function statesOf(country: string): ReadonlySet<string> | undefined {
  return statesByCountry.get(country);
}
