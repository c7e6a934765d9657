/**
 * A rule for a second purchase of the same card and amount under another order id, for which the
 * cardholder would probably pay twice.
 */
import { formatAmount } from "../../values/money.ts";
import { hours } from "../../values/time.ts";
import * as parameter from "../parameters.ts";
import { defineRule, type PaymentFacts, type Seen, seenWithin } from "../rule.ts";

const parameters = {
  window: parameter.duration(
    "how far back the same purchase is looked for",
    "wie weit zurück derselbe Kauf gesucht wird",
    hours(24),
  ),
  at: parameter.optional(
    parameter.choice(
      ["endpoint", "merchant"],
      "where it was made: at the same endpoint (default), or at any of the merchant's",
      "wo er getätigt wurde: am selben Endpunkt (üblich) oder an irgendeinem des Händlers",
    ),
  ),
};

export const duplicate = defineRule({
  kind: "duplicate",
  documentation: {
    en:
      "The same card has paid the same amount minutes ago, or is about to. A payment that was " +
      "declined, filtered or ended with an error may be tried again.",
    de:
      "Dieselbe Karte hat vor Minuten denselben Betrag bezahlt oder bezahlt ihn gerade. Eine " +
      "Zahlung, die abgelehnt oder gefiltert wurde oder mit einem Fehler endete, darf " +
      "wiederholt werden.",
  },
  parameters,
  bind({ window, at = "endpoint" }) {
    const findSame = (facts: PaymentFacts): readonly Seen[] => {
      const { kind, amount } = facts.order.transaction;
      if (kind === "account-verification") return [];
      return seenWithin(facts, window).filter(
        ({ minor, currency }) => minor === amount.minor && currency === amount.currency.code,
      );
    };
    return {
      counting: { per: "card", at, keepMs: window },
      asks: findSame,
      judge(facts) {
        if (facts.tally === undefined) return { missing: "card" };
        const earlier = findSame(facts).find((seen) => {
          const result = facts.resultOf(seen);
          return result === "approved" || result === "open";
        });
        if (earlier === undefined) return undefined;
        const { amount } = facts.order.transaction;
        return {
          code: "duplicate_purchase",
          facts: {
            amount: formatAmount(amount),
            currency: amount.currency.code,
            earlierOrder: earlier.orderId,
            windowS: window / 1000,
          },
        };
      },
    };
  },
});
