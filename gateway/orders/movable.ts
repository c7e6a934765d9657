/**
 * Captures, returns and voids by a person: the typed amount, the highest possible one, and the
 * sentence that refuses a request. The portal's preview and the action agree on all three.
 */
import { type Failure, failures } from "../values/failure.ts";
import { formatAmount, isZero, type Money, parseAmount } from "../values/money.ts";
import { Problem } from "../values/problem.ts";
import type { FollowUpTerms, Order } from "./order.ts";
import { totalsOf } from "./transactions.ts";

/** Returns undefined for the whole amount. */
export function readMovedAmount(
  { purchase }: Order,
  text: string | undefined,
): Money | undefined | Problem {
  if (text === undefined) return undefined;
  const { currency } = purchase.amount;
  const amount = parseAmount(text, currency);
  return amount ?? new Problem(`${text} is no amount in ${currency.code}.`, "invalid_amount");
}

/** Returns the amount that can be captured, cancelled, refunded or voided now. */
export function mostOf(order: Order, operation: FollowUpTerms["operation"]): Money {
  const { held, left } = totalsOf(order);
  const isOfHold = operation === "capture" || (operation === "return" && !isZero(held));
  return isOfHold ? held : left;
}

/** Returns the failure's meaning. A refused amount is followed by the highest possible one. */
export function describeRefusal({ code, detail }: Failure, most: Money): string {
  const { meaning } = failures[code];
  const sentence = meaning.slice(0, 1).toUpperCase() + meaning.slice(1);
  const why = detail === "" ? `${sentence}.` : `${sentence}: ${detail}.`;
  if (code !== "amount_out_of_range") return why;
  return `${why} At most ${formatAmount(most)} ${most.currency.code}.`;
}

/** Compares the order's amount and not that of the return, because many small returns add up. */
export function isLargerThan(units: number, { purchase: { amount } }: Order): boolean {
  return units > 0 && amount.minor > BigInt(units) * 10n ** BigInt(amount.currency.exponent);
}
