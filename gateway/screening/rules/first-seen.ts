/** A rule for a new card or payer. It knows only payments since the day on which it was enabled. */
import { hours } from "../../values/time.ts";
import * as parameter from "../parameters.ts";
import { defineRule, subjects } from "../rule.ts";

/** A card or payer without a payment for this time counts as new again. */
const rememberMs = hours(24) * 400;

const parameters = {
  per: parameter.choice(
    subjects,
    "what must have been seen before",
    "was schon einmal gesehen worden sein muss",
  ),
  age: parameter.duration(
    "the rule fires until the first payment is so long ago",
    "die Regel greift, bis die erste Zahlung so lange her ist",
  ),
};

export const firstSeen = defineRule({
  kind: "first-seen",
  documentation: {
    en:
      "The first payment with the card, email, IP address, device or purpose is less than a time " +
      "ago. It is remembered for 400 days after the latest payment.",
    de:
      "Die erste Zahlung mit der Karte, der E-Mail- oder IP-Adresse, dem Gerät oder dem Zweck " +
      "ist erst eine bestimmte Zeit her. Das Gateway merkt sie sich bis 400 Tage nach der letzten.",
  },
  parameters,
  bind: ({ per, age }) => ({
    counting: { per, keepMs: rememberMs },
    judge({ at, tally }) {
      if (tally === undefined) return { missing: per };
      const seenForMs = Math.max(0, at - tally.firstAt);
      if (seenForMs >= age) return undefined;
      const facts = { per, seenForS: Math.floor(seenForMs / 1000), ageS: age / 1000 };
      return { code: "first_seen_recently", facts };
    },
  }),
});
