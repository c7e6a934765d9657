/** Rules that compare the countries of card issuer, payer and IP address. */
import { findAlpha2 } from "../../values/iso-codes.ts";
import * as parameter from "../parameters.ts";
import { defineRule, type Judgement, type PaymentFacts } from "../rule.ts";

const pairs = {
  "issuer-payer": ["issuer", "payer"],
  "issuer-ip": ["issuer", "ip"],
  "payer-ip": ["payer", "ip"],
} as const;

type Pair = (typeof pairs)[keyof typeof pairs];
const names = Object.keys(pairs) as readonly (keyof typeof pairs)[];

const parameters = {
  compare: parameter.choice(
    names,
    "the card's issuer, the payer as the merchant says, and the IP address",
    "Herausgeber der Karte, Zahler laut Händler und IP-Adresse",
  ),
  alike: parameter.optional(
    parameter.countries(
      "countries that count as one, like DE,AT,CH",
      "Länder, die als eines gelten, wie DE,AT,CH",
    ),
  ),
};

export const countries = defineRule({
  kind: "countries",
  documentation: {
    en:
      "Two countries differ. Without data for either (BIN table, IP country file) it does not " +
      "fire.",
    de:
      "Zwei Länder sind verschieden. Ohne Daten für beide (BIN-Tabelle, Datei der IP-Länder) " +
      "greift die Regel nicht.",
  },
  parameters,
  bind({ compare, alike = new Set<string>() }) {
    const pair = pairs[compare];
    return { needs: pair, judge: (facts) => judge(facts, pair, alike) };
  },
});

function judge(facts: PaymentFacts, pair: Pair, alike: ReadonlySet<string>): Judgement {
  const [one, other] = [countryOf(pair[0], facts), countryOf(pair[1], facts)];
  if (one === undefined || other === undefined) {
    return { missing: `${one === undefined ? pair[0] : pair[1]} country` };
  }
  if (one === other || (alike.has(one) && alike.has(other))) return undefined;
  return { code: "country_mismatch", facts: { [pair[0]]: one, [pair[1]]: other } };
}

function countryOf(of: Pair[number], { order, findIpCountry }: PaymentFacts): string | undefined {
  switch (of) {
    case "issuer":
      return findAlpha2(order.card.issuer?.country ?? "");
    case "payer":
      return findAlpha2(order.purchase.customer.country?.trim().toUpperCase() ?? "");
    case "ip":
      return findIpCountry(order.purchase.ipAddress);
  }
}
