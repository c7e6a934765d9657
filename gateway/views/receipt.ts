/**
 * A receipt: the payment row by row, and its follow-ups. It shows nothing that a
 * status response does not, and of the card number only the last four digits.
 */
import type { Order } from "../orders/order.ts";
import { initialOf, type Totals, totalsOf, transactionsOf } from "../orders/transactions.ts";
import { isZero, type Money } from "../values/money.ts";
import type { Instant } from "../values/time.ts";
import { makeStatusReader, partialAmountOf, type StatusReader } from "./status.ts";

export type Receipt = Readonly<ReturnType<typeof receiptOf>>;
export type ReceiptState =
  | "charged"
  | "held"
  | "verified"
  | "returned"
  | "returned_in_part"
  | "cancelled";
export type ReceiptRow = readonly [name: RowName, value: string];
export type Movement = Receipt["since"][number];

export type ReceiptOptions = {
  readonly merchantName: string;
  readonly printDate: (instant: Instant) => string;
  readonly printAmount: (money: Money) => string;
};

type ReceiptFacts = ReceiptOptions & {
  readonly order: Order;
  readonly totals: Totals;
  /** Reads the status response of the transaction that began the order. */
  readonly read: StatusReader;
};

const rows = [
  ["merchant", ({ merchantName }: ReceiptFacts) => merchantName],
  ["descriptor", ({ read }: ReceiptFacts) => read("descriptor")],
  ["terminal", ({ read }: ReceiptFacts) => read("terminal-id")],
  ["amount", ({ order, printAmount }: ReceiptFacts) => printAmount(order.purchase.amount)],
  ["held", (facts: ReceiptFacts) => (isZero(facts.totals.held) ? undefined : partial(facts))],
  ["charged", (facts: ReceiptFacts) => (isZero(facts.totals.charged) ? undefined : partial(facts))],
  [
    "returned",
    ({ totals, printAmount }: ReceiptFacts) =>
      isZero(totals.returned) ? undefined : printAmount(totals.returned),
  ],
  [
    "left",
    ({ totals, printAmount }: ReceiptFacts) =>
      isZero(totals.returned) ? undefined : printAmount(totals.left),
  ],
  ["card", ({ read }: ReceiptFacts) => maskOf(read("last-four-digits"))],
  ["cardType", ({ read }: ReceiptFacts) => read("card-type")],
  ["approvalCode", ({ read }: ReceiptFacts) => read("approval-code")],
  ["reference", ({ read }: ReceiptFacts) => read("processor-rrn")],
  ["networkId", ({ read }: ReceiptFacts) => read("processor-tx-id")],
  ["processedAt", ({ read }: ReceiptFacts) => read("gw-processing-date")],
  ["finishedAt", ({ read }: ReceiptFacts) => read("transaction-date")],
  ["clientOrderId", ({ order }: ReceiptFacts) => order.clientOrderId],
  ["orderId", ({ order }: ReceiptFacts) => order.id],
  ["receiptId", ({ read }: ReceiptFacts) => read("receipt-id")],
] as const;

export type RowName = (typeof rows)[number][0];

/** Returns the receipt of an order whose first transaction is approved. */
export function receiptOf(order: Order, options: ReceiptOptions) {
  const { merchantName, printDate, printAmount } = options;
  const initial = initialOf(order);
  const totals = totalsOf(order);
  const read = makeStatusReader({ order, transaction: initial }, { printDate });
  const facts = { order, totals, read, ...options };
  return {
    state: stateOf(totals),
    merchantName,
    kind: initial.kind,
    /** The charged, held or cancelled amount. Like all amounts it has its currency. */
    amount: printAmount(shownAmountOf(totals)),
    returned: printAmount(totals.returned),
    left: printAmount(totals.left),
    rows: rows.flatMap(([name, print]): readonly ReceiptRow[] => {
      const value = print(facts);
      return value === undefined || value === "" ? [] : [[name, value]];
    }),
    /** The approved follow-ups, the oldest first. */
    since: transactionsOf(order)
      .filter((each) => each !== initial && each.stage === "approved")
      .map(({ kind, amount, finishedAt }) => {
        const at = finishedAt === undefined ? "" : printDate(finishedAt);
        return { kind, amount: printAmount(amount), at };
      }),
  };
}

function stateOf({ held, charged, returned, cancelled, left }: Totals): ReceiptState {
  if (!isZero(cancelled)) return "cancelled";
  if (!isZero(held)) return "held";
  if (isZero(charged)) return "verified";
  if (isZero(returned)) return "charged";
  return isZero(left) ? "returned" : "returned_in_part";
}

function shownAmountOf({ held, charged, cancelled }: Totals): Money {
  if (!isZero(cancelled)) return cancelled;
  return isZero(charged) ? held : charged;
}

function partial({ order, totals, printAmount }: ReceiptFacts): string | undefined {
  const amount = partialAmountOf(order.purchase.amount, totals);
  return amount && printAmount(amount);
}

/**
 * Returns the masked card number. A wallet's device number has no digits, because the cardholder
 * does not know it.
 */
function maskOf(lastFour: string | undefined): string | undefined {
  return lastFour && `**** ${lastFour}`;
}
