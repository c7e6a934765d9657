/** Declines in a row, as when stolen card numbers or security codes are tried out. */
import * as parameter from "../parameters.ts";
import { defineRule, type PaymentFacts, seenWithin } from "../rule.ts";

// biome-ignore format: a table
const parameters = {
  per:    parameter.choice(["card", "email", "ip", "device"], "whose payments are looked at"),
  count:  parameter.whole(1, 50, "how many declines in a row fire the rule at the next payment"),
  window: parameter.duration("how far back payments are looked at"),
};

export const declines = defineRule({
  kind: "declines",
  documentation:
    "The latest payments of a card, email, IP address or device were declined, one after the " +
    "other. Payments that are open, were filtered or ended with an error are left out.",
  parameters,
  bind({ per, count, window }) {
    const isEnough = (facts: PaymentFacts) => seenWithin(facts, window).length >= count;
    return {
      counting: { per, keepMs: window },
      asks: (facts) => (isEnough(facts) ? seenWithin(facts, window) : []),
      judge(facts) {
        if (facts.tally === undefined) return { missing: per };
        if (!isEnough(facts)) return undefined;
        const results = seenWithin(facts, window).map(facts.resultOf);
        const latest = results.filter((each) => each === "approved" || each === "declined");
        const firstApproved = latest.indexOf("approved");
        const inARow = firstApproved === -1 ? latest.length : firstApproved;
        if (inARow < count) return undefined;
        return {
          code: "too_many_declines",
          facts: { per, declines: inARow, limit: count, windowS: window / 1000 },
        };
      },
    };
  },
});
