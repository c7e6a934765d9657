/** A payment may name several amounts, of which the first that the bank takes is charged. */
import { isSameMoney, type Money } from "../values/money.ts";
import type { Order } from "./order.ts";

/** The amount to try after the present one; nothing when that was the last. */
export function nextAmount({ purchase, transaction }: Order): Money | undefined {
  const { amount, otherAmounts = [] } = purchase;
  const amounts = [amount, ...otherAmounts];
  const at = amounts.findIndex((each) => isSameMoney(each, transaction.amount));
  return amounts[at + 1];
}
