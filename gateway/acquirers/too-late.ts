/**
 * Whether the order may be another node's before the bank has answered. What is not sent then
 * cannot cross what that node sends.
 */
import type { Order } from "../orders/order.ts";
import type { Clock } from "../values/time.ts";

export type IsTooLate = (order: Order) => boolean;

export function makeIsTooLate(clock: Clock, answerTimeoutMs: number): IsTooLate {
  return ({ owed }) => clock.now() + answerTimeoutMs >= (owed?.claimableAt ?? 0);
}
