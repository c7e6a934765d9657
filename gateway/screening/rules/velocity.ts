/** Rules for too many payments, or too much money, in a sliding window. */
import { formatAmount, Money } from "../../values/money.ts";
import { Problem } from "../../values/problem.ts";
import * as parameter from "../parameters.ts";
import {
  countMax,
  defineRule,
  type PaymentFacts,
  type PaymentResult,
  type Seen,
  seenWithin,
  subjects,
} from "../rule.ts";
import { limitOf } from "./amount.ts";

// biome-ignore format: a table
const parameters = {
  per:      parameter.choice(subjects, "what payments are counted by", "wonach Zahlungen gezählt werden"),
  count:    parameter.optional(parameter.whole(1, countMax, "how many payments do not fire the rule; one more does", "so viele Zahlungen lösen die Regel nicht aus, eine mehr schon")),
  sum:      parameter.optional(parameter.amount("the largest sum that does not fire the rule; it needs `currency`", "die größte Summe, die die Regel nicht auslöst; sie braucht `currency`")),
  currency: parameter.optional(parameter.currency("the sum is of payments in this currency", "die Summe von Zahlungen in dieser Währung")),
  window:   parameter.duration("how far back payments are counted", "wie weit zurück Zahlungen gezählt werden"),
  of:       parameter.optional(parameter.choice(["attempted", "approved"], "all payments (default), or those that are approved or still open", "alle Zahlungen (üblich) oder nur genehmigte und noch offene")),
};

export const velocity = defineRule({
  kind: "velocity",
  documentation: {
    en: "Too many payments, or too large a sum, by card, email, IP address, device or purpose.",
    de:
      "Zu viele Zahlungen oder eine zu große Summe je Karte, E-Mail- oder IP-Adresse, Gerät " +
      "oder Zweck.",
  },
  parameters,
  bind({ per, window, count, sum, currency, of = "attempted" }) {
    if (count === undefined && sum === undefined) return new Problem("count or sum is missing.");
    if ((sum === undefined) !== (currency === undefined)) {
      return new Problem("sum and currency are given together.");
    }
    const sumMax = currency && limitOf(sum, currency);
    if (sumMax instanceof Problem) return sumMax;
    const limits = { count, sum: sumMax };
    const fire = (facts: PaymentFacts, counted: readonly Seen[]) => {
      const exceeded = findExceeded(facts, counted, limits) ?? findCut(facts, window);
      if (exceeded === undefined) return undefined;
      return {
        code: "velocity_exceeded",
        facts: { per, of, windowS: window / 1000, ...exceeded },
      } as const;
    };
    const isApproved =
      ({ resultOf }: PaymentFacts) =>
      (seen: Seen) =>
        counts.has(resultOf(seen));
    const asks = (facts: PaymentFacts) => {
      const seen = seenWithin(facts, window);
      return fire(facts, seen) === undefined ? [] : seen;
    };
    return {
      counting: { per, keepMs: window },
      ...(of === "approved" && { asks }),
      judge: (facts) => {
        if (facts.tally === undefined) return { missing: per };
        const seen = seenWithin(facts, window);
        const fired = fire(facts, seen);
        if (fired === undefined || of === "attempted") return fired;
        return fire(facts, seen.filter(isApproved(facts)));
      },
    };
  },
});

/** A payment that is still open counts towards the limit, because it may yet be approved. */
const counts: ReadonlySet<PaymentResult> = new Set(["approved", "open"]);

/**
 * If the counter has dropped payments of the window, the limit counts as reached, because a payer
 * could otherwise hide approved payments behind many declined ones.
 */
function findCut(facts: PaymentFacts, window: number) {
  const { tally } = facts;
  const isCut = tally?.isFull === true && seenWithin(facts, window).length === tally.before.length;
  return isCut ? { atLeast: tally.before.length + 1 } : undefined;
}

type Limits = { readonly count: number | undefined; readonly sum: Money | undefined };

/** The judged payment itself counts towards the limits. */
function findExceeded(facts: PaymentFacts, counted: readonly Seen[], { count, sum }: Limits) {
  const total = counted.length + 1;
  if (count !== undefined && total > count) return { count: total, limit: count };
  if (sum === undefined) return undefined;
  const { amount } = facts.order.transaction;
  const { code } = sum.currency;
  const own = amount.currency.code === code ? amount.minor : 0n;
  const minor = counted.reduce(
    (all, seen) => all + (seen.currency === code ? seen.minor : 0n),
    own,
  );
  const limit = { limit: formatAmount(sum), currency: code };
  return minor > sum.minor
    ? { sum: formatAmount(new Money(minor, sum.currency)), ...limit }
    : undefined;
}
