/**
 * A rule for amounts outside a range. The minimum and maximum of an endpoint are settings, not
 * rules.
 */
import type { Currency } from "../../values/iso-codes.ts";
import { formatAmount, type Money, parseAmount } from "../../values/money.ts";
import { Problem } from "../../values/problem.ts";
import * as parameter from "../parameters.ts";
import { defineRule, type Fired, type PaymentFacts } from "../rule.ts";

const parameters = {
  currency: parameter.currency(
    "payments in other currencies are left alone",
    "Zahlungen in anderen Währungen bleiben unberührt",
  ),
  min: parameter.optional(
    parameter.amount(
      "the smallest amount that does not fire the rule",
      "der kleinste Betrag, der die Regel nicht auslöst",
    ),
  ),
  max: parameter.optional(
    parameter.amount(
      "the largest amount that does not fire the rule",
      "der größte Betrag, der die Regel nicht auslöst",
    ),
  ),
};

export const amount = defineRule({
  kind: "amount",
  documentation: {
    en: "The amount is smaller or larger than a limit. An account verification has none.",
    de: "Der Betrag ist kleiner oder größer als eine Grenze. Eine Kartenprüfung hat keinen.",
  },
  parameters,
  bind({ currency, min, max }) {
    if (min === undefined && max === undefined) return new Problem("min or max is missing.");
    const smallest = limitOf(min, currency);
    if (smallest instanceof Problem) return smallest;
    const largest = limitOf(max, currency);
    if (largest instanceof Problem) return largest;
    return { judge: (facts) => judge(facts, smallest, largest, currency) };
  },
});

function judge(
  { order: { transaction } }: PaymentFacts,
  min: Money | undefined,
  max: Money | undefined,
  { code: currency }: Currency,
): Fired | undefined {
  const { kind, amount: asked } = transaction;
  if (kind === "account-verification" || asked.currency.code !== currency) return undefined;
  const fired = (code: Fired["code"], limit: Money): Fired => ({
    code,
    facts: { amount: formatAmount(asked), limit: formatAmount(limit), currency },
  });
  if (min !== undefined && asked.minor < min.minor) return fired("amount_below_minimum", min);
  if (max !== undefined && asked.minor > max.minor) return fired("amount_above_maximum", max);
  return undefined;
}

/** Returns a problem if the limit has more decimals than the currency. */
export function limitOf(text: string | undefined, currency: Currency): Money | undefined | Problem {
  if (text === undefined) return undefined;
  return parseAmount(text, currency) ?? new Problem(`${text} is no amount in ${currency.code}.`);
}
