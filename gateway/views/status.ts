/**
 * The order (status) response: one row per field of the interface, in its order. A row that has
 * nothing to say for an order answers nothing and is left out.
 */
import type { Order, Transaction } from "../orders/order.ts";
import { Failure } from "../values/failure.ts";
import { formatAmount } from "../values/money.ts";
import type { Instant } from "../values/time.ts";
import { statusOf, wireStageOf } from "./stages.ts";

export type StatusOptions = {
  readonly bySerialNumber: string | undefined;
  readonly printDate: (instant: Instant) => string;
};

type Seen = { readonly order: Order; readonly transaction: Transaction } & StatusOptions;
type Print = (seen: Seen) => string | undefined;

// biome-ignore format: a table
const rows: readonly (readonly [name: string, print: Print])[] = [
  ["status",                   ({ transaction }) => statusOf(transaction.stage)],
  ["order-stage",              ({ transaction }) => wireStageOf(transaction.kind, transaction.stage)],
  ["amount",                   ({ order }) => formatAmount(order.purchase.amount)],
  ["initial-amount",           ({ order }) => formatAmount(order.purchase.amount)],
  ["currency",                 ({ order }) => order.purchase.amount.currency.code],
  ["by-request-sn",            ({ bySerialNumber }) => bySerialNumber],
  ["transaction-type",         ({ transaction }) => transaction.kind],

  ["processor-tx-id",          ({ transaction }) => transaction.answer?.networkId],
  ["processor-rrn",            ({ transaction }) => transaction.charge?.reference],
  ["approval-code",            ({ transaction }) => transaction.answer?.approvalCode],
  ["receipt-id",               ({ transaction }) => transaction.receiptId],
  ["descriptor",               ({ transaction }) => transaction.charge?.gate.shownDescriptor],
  ["original-gate-descriptor", ({ transaction }) => transaction.charge?.gate.descriptor],
  ["terminal-id",              ({ transaction }) => transaction.charge?.gate.terminalId],
  ["gw-processing-date",       ({ transaction, printDate }) => print(transaction.answer?.processedAt, printDate)],
  ["transaction-date",         ({ transaction, printDate }) => print(transaction.finishedAt, printDate)],

  ["name",                     ({ order }) => order.card.holderName],
  ["cardholder-name",          ({ order }) => order.card.holderName],
  ["card-exp-month",           ({ order }) => order.card.expiryMonth],
  ["card-exp-year",            ({ order }) => order.card.expiryYear],
  ["last-four-digits",         ({ order }) => order.card.lastFour],
  ["bin",                      ({ order }) => order.card.bin],
  ["card-type",                ({ order }) => order.card.network],
  ["bank-name",                () => "UNKNOWN"],
  ["card-hash-id",             ({ order }) => order.card.hashId],

  ["email",                    ({ order }) => order.purchase.customer.email],
  ["first-name",               ({ order }) => order.purchase.customer.firstName],
  ["last-name",                ({ order }) => order.purchase.customer.lastName],
  ["phone",                    ({ order }) => order.purchase.customer.phone],
  ["country",                  ({ order }) => order.purchase.customer.country],
  ["state",                    ({ order }) => order.purchase.customer.state],
  ["city",                     ({ order }) => order.purchase.customer.city],
  ["zip_code",                 ({ order }) => order.purchase.customer.zipCode],
  ["address1",                 ({ order }) => order.purchase.customer.address],

  ["gate-partial-reversal",    ({ transaction }) => ability(transaction.charge?.gate.partialReversal)],
  ["gate-partial-capture",     ({ transaction }) => ability(transaction.charge?.gate.partialCapture)],
  ["verified-3d-status",       ({ transaction }) => transaction.authentication?.status],
  ["eci",                      ({ transaction }) => transaction.authentication?.eci],
  ["merchantdata",             ({ order }) => order.purchase.merchantData],
  ["error-message",            ({ transaction }) => failureOf(transaction)?.message],
  ["error-code",               ({ transaction }) => failureOf(transaction)?.number.toString()],
];

export function printStatus(
  order: Order,
  options: StatusOptions,
): readonly (readonly [name: string, value: string | undefined])[] {
  const seen = { order, transaction: transactionFor(order, options.bySerialNumber), ...options };
  return rows.map(([name, print]) => [name, print(seen)]);
}

/** The latest transaction, unless a request is named that made another one. */
function transactionFor(order: Order, serialNumber: string | undefined): Transaction {
  const named = order.earlier.find((earlier) => earlier.serialNumber === serialNumber);
  return named ?? order.transaction;
}

/** A reason may be known while the order is still on its way; it is told when that is over. */
function failureOf({ reason, stage }: Transaction): Failure | undefined {
  if (reason === undefined || statusOf(stage) === "processing") return undefined;
  return new Failure(reason.code, reason.detail);
}

function print(
  instant: Instant | undefined,
  printDate: StatusOptions["printDate"],
): string | undefined {
  return instant === undefined ? undefined : printDate(instant);
}

function ability(able: boolean | undefined): string | undefined {
  if (able === undefined) return undefined;
  return able ? "enabled" : "disabled";
}
