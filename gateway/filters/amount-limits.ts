/** The endpoint's smallest and largest amount. */
import type { Rule } from "./screen.ts";

export const amountLimits: Rule = ({ transaction }, { settings: { amountMin, amountMax } }) => {
  const { minor } = transaction.amount;
  if (amountMin !== undefined && minor < BigInt(amountMin)) {
    return { code: "amount_below_minimum", detail: "" };
  }
  if (amountMax !== undefined && minor > BigInt(amountMax)) {
    return { code: "amount_above_maximum", detail: "" };
  }
  return undefined;
};
