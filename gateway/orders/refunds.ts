/**
 * Whether a return travels as a reversal of its charge (0400), which many hosts take only before
 * clearing, or as a refund: a payment to the card with a reference of its own. The gate's operator
 * says from when on.
 */
import { calendarIn, dayNumber, hours, type Instant, later } from "../values/time.ts";
import type { GateFacts, Order, RefundPolicy, Transaction } from "./order.ts";
import { referenceOf } from "./trace.ts";

/** Charges count their attempts from 1, refunds from here: two digits in base 36 end at 1295. */
export const firstRefundAttempt = 1_000;
const refundsMax = 290;

/** `cleared`: when the charge that is returned was approved. `isPart`: less than all of it. */
type Return = {
  readonly policy: RefundPolicy | undefined;
  readonly zone: GateFacts["zone"];
  readonly chargedAt: Instant | undefined;
  readonly at: Instant;
  readonly isPart: boolean;
};

export function travelsAsRefund(transactions: readonly Transaction[], asked: Return): boolean {
  // The host still counts as charged what a refund returned: a reversal would return it again.
  const isRefunded = ({ stage, asRefund }: Transaction) =>
    asRefund === true && stage === "approved";
  if (transactions.some(isRefunded)) return true;
  const { policy, isPart } = asked;
  return policy !== undefined && ((isPart && policy.partial === true) || isCleared(asked, policy));
}

function isCleared({ chargedAt, at, zone = "UTC" }: Return, { after }: RefundPolicy): boolean {
  if (after === undefined) return false;
  if (after === "always" || chargedAt === undefined) return true;
  const [, count] = /^(\d+)h$/.exec(after) ?? [];
  if (count !== undefined) return at >= later(chargedAt, hours(Number(count)));
  return clearingDay(at, after, zone) !== clearingDay(chargedAt, after, zone);
}

/** The day that ends at the cut-off, which is a time on the terminal's clock. */
function clearingDay(instant: Instant, cutOff: string, zone: string): number {
  const local = calendarIn(zone, instant);
  const isOver = `${local.hour}:${local.minute}` >= cutOff;
  return dayNumber(local) + (isOver ? 1 : 0);
}

/** Returns undefined when the order has had too many transactions to name another. */
export function refundReferenceOf(order: Pick<Order, "sequence" | "earlier">): string | undefined {
  const count = order.earlier.length + 1;
  return count > refundsMax ? undefined : referenceOf(order, firstRefundAttempt + count);
}
