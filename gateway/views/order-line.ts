/** An order as one line of a list: what its status response says, the most telling fields only. */
import type { Order } from "../orders/order.ts";
import type { Instant } from "../values/time.ts";
import { type Status, statusOf } from "./stages.ts";
import { makeTold } from "./status.ts";

export type OrderLine = {
  readonly orderId: string;
  readonly clientOrderId: string;
  readonly acceptedAt: Instant;
  /** `acceptedAt` in the operator's zone. */
  readonly time: string;
  readonly amount: string;
  readonly cardMask: string;
  readonly status: Status;
  readonly stage: string;
  readonly error: string;
  /** What the bank knows the charge by; empty when none was made. */
  readonly reference: string;
};

export function printOrderLine(order: Order, printDate: (instant: Instant) => string): OrderLine {
  const told = makeTold({ order, transaction: order.transaction }, printDate);
  const get = (name: string) => told(name) ?? "";
  return {
    orderId: order.id,
    clientOrderId: order.clientOrderId,
    acceptedAt: order.acceptedAt,
    time: printDate(order.acceptedAt),
    amount: `${get("amount")} ${get("currency")}`,
    cardMask: maskOf(get("bin"), get("last-four-digits")),
    status: statusOf(order.transaction.stage),
    stage: get("order-stage"),
    error: [get("error-code"), get("error-message")].filter((text) => text !== "").join(" "),
    reference: get("processor-rrn"),
  };
}

/** Of a wallet's card the customer is shown no digits. */
function maskOf(bin: string, lastFour: string): string {
  return lastFour === "" ? "wallet" : `${bin}****${lastFour}`;
}
