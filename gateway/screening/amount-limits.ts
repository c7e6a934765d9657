/** The endpoint's smallest and largest amount. */
import type { Rule } from "./screen.ts";

export const amountLimits: Rule = ({ settings: { amountMin, amountMax } }) => {
  if (amountMin === undefined && amountMax === undefined) return undefined;
  const least = amountMin === undefined ? undefined : BigInt(amountMin);
  const most = amountMax === undefined ? undefined : BigInt(amountMax);
  return ({ transaction: { kind, amount } }) => {
    // It moves no money: its zero is no amount that a limit could mean.
    if (kind === "account-verification") return undefined;
    if (least !== undefined && amount.minor < least) {
      return { code: "amount_below_minimum", detail: "" };
    }
    if (most !== undefined && amount.minor > most) {
      return { code: "amount_above_maximum", detail: "" };
    }
    return undefined;
  };
};
