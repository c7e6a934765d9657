/**
 * Rules for a payment after many declined ones, in a row or by their share: someone may be trying
 * out stolen card numbers or security codes.
 */
import * as parameter from "../parameters.ts";
import { defineRule, type PaymentFacts, seenWithin } from "../rule.ts";

// biome-ignore format: a table
const parameters = {
  per:    parameter.choice(["card", "bin", "email", "ip", "device"], "whose payments are looked at", "wessen Zahlungen angesehen werden"),
  count:  parameter.whole(1, 50, "how many declines in a row fire the rule at the next payment; with `share`, of how many payments at least", "nach so vielen Ablehnungen hintereinander greift die Regel bei der nächsten Zahlung; mit `share`: unter mindestens so vielen Zahlungen"),
  window: parameter.duration("how far back payments are looked at", "wie weit zurück Zahlungen angesehen werden"),
  share:  parameter.optional(parameter.whole(1, 100, "the percentage of declines that fires the rule, in a row or not", "ab diesem Anteil an Ablehnungen in Prozent greift die Regel, auch wenn sie nicht aufeinander folgen")),
};

export const declines = defineRule({
  kind: "declines",
  documentation: {
    en:
      "The latest payments of a card, BIN, email, IP address or device were declined, one after " +
      "the other or a share of them. Payments that are open, were filtered or ended with an " +
      "error are left out.",
    de:
      "Die letzten Zahlungen einer Karte, einer BIN, einer E-Mail- oder IP-Adresse oder eines " +
      "Geräts wurden abgelehnt, eine nach der anderen oder ein Anteil von ihnen. Offene und " +
      "gefilterte Zahlungen und solche, die mit einem Fehler endeten, zählen nicht.",
  },
  parameters,
  bind({ per, count, window, share }) {
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
        const all = latest.filter((each) => each === "declined").length;
        const isShare = latest.length >= count && 100 * all >= (share ?? 0) * latest.length;
        if (share === undefined ? inARow < count : !isShare) return undefined;
        const declined = share === undefined ? inARow : all;
        return {
          code: "too_many_declines",
          facts: { per, declines: declined, limit: count, windowS: window / 1000 },
        };
      },
    };
  },
});
