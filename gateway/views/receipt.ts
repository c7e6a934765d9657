/**
 * A receipt: what the cardholder paid, row by row, and what became of it since. It tells no more
 * than a status response does, and of the card only what may stand on paper: the last digits.
 */

import type { FollowUpKind, Order, TransactionKind } from "../orders/order.ts";
import { initialOf, type Totals, totalsOf, transactionsOf } from "../orders/transactions.ts";
import { isZero, type Money } from "../values/money.ts";
import type { Instant } from "../values/time.ts";
import { grantedInstead, makeTold, type Told } from "./status.ts";

export type ReceiptState =
  | "charged"
  | "held"
  | "verified"
  | "returned"
  | "returned_in_part"
  | "cancelled";

export type Receipt = {
  readonly state: ReceiptState;
  readonly merchantName: string;
  readonly kind: TransactionKind;
  /** What was charged, or is or was held; with its currency, as all amounts are. */
  readonly amount: string;
  readonly returned: string;
  readonly left: string;
  readonly rows: readonly ReceiptRow[];
  /** The captures, returns and cancels that were approved, oldest first. */
  readonly since: readonly Movement[];
};

export type ReceiptRow = readonly [name: RowName, value: string];
export type Movement = {
  readonly kind: FollowUpKind;
  readonly amount: string;
  readonly at: string;
};

export type ReceiptOptions = {
  readonly merchantName: string;
  readonly printDate: (instant: Instant) => string;
  readonly printAmount: (money: Money) => string;
};

type Seen = ReceiptOptions & {
  readonly order: Order;
  readonly totals: Totals;
  /** What a status response says of the transaction that began the order. */
  readonly told: Told;
};

// biome-ignore format: a table
const rows = [
  ["merchant",      ({ merchantName }: Seen) => merchantName],
  ["descriptor",    ({ told }: Seen) => told("descriptor")],
  ["terminal",      ({ told }: Seen) => told("terminal-id")],
  ["amount",        ({ order, printAmount }: Seen) => printAmount(order.purchase.amount)],
  ["held",          (seen: Seen) => isZero(seen.totals.held) ? undefined : instead(seen)],
  ["charged",       (seen: Seen) => isZero(seen.totals.charged) ? undefined : instead(seen)],
  ["returned",      ({ totals, printAmount }: Seen) => isZero(totals.returned) ? undefined : printAmount(totals.returned)],
  ["left",          ({ totals, printAmount }: Seen) => isZero(totals.returned) ? undefined : printAmount(totals.left)],
  ["card",          ({ told }: Seen) => maskOf(told("last-four-digits"))],
  ["cardType",      ({ told }: Seen) => told("card-type")],
  ["approvalCode",  ({ told }: Seen) => told("approval-code")],
  ["reference",     ({ told }: Seen) => told("processor-rrn")],
  ["networkId",     ({ told }: Seen) => told("processor-tx-id")],
  ["processedAt",   ({ told }: Seen) => told("gw-processing-date")],
  ["finishedAt",    ({ told }: Seen) => told("transaction-date")],
  ["clientOrderId", ({ order }: Seen) => order.clientOrderId],
  ["orderId",       ({ order }: Seen) => order.id],
  ["receiptId",     ({ told }: Seen) => told("receipt-id")],
] as const;

export type RowName = (typeof rows)[number][0];

/** Of an order whose first transaction is approved. */
export function receiptOf(order: Order, options: ReceiptOptions): Receipt {
  const { merchantName, printDate, printAmount } = options;
  const initial = initialOf(order);
  const totals = totalsOf(order);
  const told = makeTold({ order, transaction: initial }, printDate);
  const seen = { order, totals, told, ...options };
  const state = stateOf(totals);
  return {
    ...{ state, merchantName, kind: initial.kind },
    amount: printAmount(movedOf(totals)),
    returned: printAmount(totals.returned),
    left: printAmount(totals.left),
    rows: rows.flatMap(([name, print]): readonly ReceiptRow[] => {
      const value = print(seen);
      return value === undefined || value === "" ? [] : [[name, value]];
    }),
    since: movementsOf(order, options),
  };
}

function movementsOf(
  order: Order,
  { printDate, printAmount }: ReceiptOptions,
): readonly Movement[] {
  return transactionsOf(order).flatMap(({ kind, stage, amount, finishedAt }) => {
    if (stage !== "approved" || !isFollowUp(kind)) return [];
    const at = finishedAt === undefined ? "" : printDate(finishedAt);
    return [{ kind, amount: printAmount(amount), at }];
  });
}

function isFollowUp(kind: TransactionKind): kind is FollowUpKind {
  return kind === "capture" || kind === "refund" || kind === "cancel";
}

function stateOf({ held, charged, returned, cancelled, left }: Totals): ReceiptState {
  if (!isZero(cancelled)) return "cancelled";
  if (!isZero(held)) return "held";
  if (isZero(charged)) return "verified";
  if (isZero(returned)) return "charged";
  return isZero(left) ? "returned" : "returned_in_part";
}

function movedOf({ held, charged, cancelled }: Totals): Money {
  if (!isZero(cancelled)) return cancelled;
  return isZero(charged) ? held : charged;
}

function instead({ order, totals, printAmount }: Seen): string | undefined {
  const granted = grantedInstead(order.purchase.amount, totals);
  return granted && printAmount(granted);
}

/** The digits of a device's number say nothing to the customer: then there are none. */
function maskOf(lastFour: string | undefined): string | undefined {
  return lastFour === undefined ? undefined : `**** ${lastFour}`;
}
