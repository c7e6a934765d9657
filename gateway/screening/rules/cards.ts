/** A rule for too many different cards of one payer, who may be testing stolen cards. */
import * as parameter from "../parameters.ts";
import { defineRule, seenWithin } from "../rule.ts";

const parameters = {
  per: parameter.choice(
    ["email", "ip", "device", "purpose"],
    "whose cards are counted",
    "wessen Karten gezählt werden",
  ),
  count: parameter.whole(
    1,
    50,
    "how many different cards do not fire the rule; one more does",
    "so viele verschiedene Karten lösen die Regel nicht aus, eine mehr schon",
  ),
  window: parameter.duration(
    "how far back cards are counted",
    "wie weit zurück Karten gezählt werden",
  ),
};

export const cards = defineRule({
  kind: "cards",
  documentation: {
    en: "Too many different cards with one email, IP address, device or purpose.",
    de: "Zu viele verschiedene Karten mit einer E-Mail- oder IP-Adresse, einem Gerät oder Zweck.",
  },
  parameters,
  bind: ({ per, count, window }) => ({
    counting: { per, keepMs: window },
    judge(facts) {
      if (facts.tally === undefined) return { missing: per };
      const seen = seenWithin(facts, window);
      if (seen.length < count) return undefined;
      const different = new Set([facts.card, ...seen.map(({ card }) => card)]).size;
      if (different <= count) return undefined;
      return {
        code: "too_many_cards",
        facts: { per, cards: different, limit: count, windowS: window / 1000 },
      };
    },
  }),
});
