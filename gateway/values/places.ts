/** Countries (ISO 3166-1) and, for the three countries that need one, the codes of their states. */
import countries from "i18n-iso-countries/codes.json" with { type: "json" };

const countryCodes: ReadonlySet<string> = new Set(countries.flatMap(([alpha2]) => alpha2 ?? []));

// biome-ignore format: a table
const states: Readonly<Record<string, string>> = {
  US: "AL AK AZ AR CA CO CT DE DC FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK OR PA RI SC SD TN TX UT VT VA WA WV WI WY AS GU MP PR VI UM AA AE AP",
  CA: "AB BC MB NB NL NS NT NU ON PE QC SK YT",
  AU: "ACT NSW NT QLD SA TAS VIC WA",
};

const statesByCountry: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(states).map(([country, codes]) => [country, new Set(codes.split(" "))]),
);

const numericCodes: ReadonlyMap<string, string> = new Map(
  countries.flatMap(([alpha2, , numeric]) => (alpha2 && numeric ? [[alpha2, numeric]] : [])),
);

/** ISO 3166-1 numeric, three digits, for an alpha-2 code. */
export function numericCountry(code: string): string | undefined {
  return numericCodes.get(code);
}

export function isCountry(code: string): boolean {
  return countryCodes.has(code);
}

/** The state codes of a country that needs a state; nothing for all other countries. */
export function statesOf(country: string): ReadonlySet<string> | undefined {
  return statesByCountry.get(country);
}
