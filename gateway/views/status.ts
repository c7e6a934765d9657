/**
 * The order (status) response: one row per field of the interface, in its order. A row that has
 * nothing to say for an order answers nothing and is left out.
 */

import type { Answer, Transaction } from "../orders/order.ts";
import type { FoundOrder } from "../orders/requests.ts";
import { initialOf, type Totals, totalsOf } from "../orders/transactions.ts";
import { Failure } from "../values/failure.ts";
import {
  commissionOf,
  type Fee,
  formatAmount,
  isSameMoney,
  isZero,
  type Money,
} from "../values/money.ts";
import type { Instant } from "../values/time.ts";
import { statusOf, wireStageOf, wireTypeOf } from "./stages.ts";

export type StatusOptions = {
  readonly bySerialNumber: string | undefined;
  /** Of a card that the order itself has registered. */
  readonly cardRefId?: string | undefined;
  readonly printDate: (instant: Instant) => string;
};

/** `initial` began the order: a capture or a return shows its card holder's side of it. */
type Seen = FoundOrder & StatusOptions & { readonly initial: Transaction; readonly totals: Totals };
type Print = (seen: Seen) => string | undefined;

// biome-ignore format: a table
const rows: readonly (readonly [name: string, print: Print])[] = [
  ["status",                   ({ transaction }) => statusOf(transaction.stage)],
  ["order-stage",              ({ transaction }) => wireStageOf(transaction.kind, transaction.stage)],
  ["amount",                   ({ order }) => formatAmount(order.purchase.amount)],
  ["initial-amount",           ({ order }) => formatAmount(order.purchase.amount)],
  ["charged-amount",           ({ order, totals }) => chargedAmount(order.purchase.amount, totals)],
  ["total-reversal-amount",    ({ transaction, totals }) => totalReversal(transaction, totals)],
  ["currency",                 ({ order }) => order.purchase.amount.currency.code],
  ["by-request-sn",            ({ bySerialNumber }) => bySerialNumber],
  ["transaction-type",         ({ transaction }) => wireTypeOf(transaction.kind)],

  ["processor-tx-id",          ({ transaction, initial }) => transaction.answer?.networkId ?? initial.answer?.networkId],
  ["processor-rrn",            ({ transaction }) => transaction.identifiers?.reference],
  ["approval-code",            ({ transaction, initial }) => transaction.answer?.approvalCode ?? initial.answer?.approvalCode],
  ["receipt-id",               ({ initial }) => initial.receiptId],
  ["descriptor",               ({ transaction }) => transaction.identifiers?.gate.shownDescriptor],
  ["original-gate-descriptor", ({ transaction }) => transaction.identifiers?.gate.descriptor],
  ["terminal-id",              ({ transaction }) => transaction.identifiers?.gate.terminalId],
  ["gw-processing-date",       ({ transaction, printDate }) => print(transaction.answer?.processedAt, printDate)],
  ["transaction-date",         ({ transaction, printDate }) => print(transaction.finishedAt, printDate)],

  ["name",                     ({ order }) => known(order.card.holderName)],
  ["cardholder-name",          ({ order }) => known(order.card.holderName)],
  ["card-exp-month",           ({ order }) => known(order.card.expiryMonth)],
  ["card-exp-year",            ({ order }) => known(order.card.expiryYear)],
  ["last-four-digits",         ({ order }) => order.purchase.wallet?.isDevice ? undefined : known(order.card.lastFour)],
  ["bin",                      ({ order }) => known(order.card.bin)],
  ["card-type",                ({ order }) => order.card.network],
  ["bank-name",                ({ order }) => known(order.card.bin) && (order.card.issuer?.bankName ?? "UNKNOWN")],
  ["card-hash-id",             ({ order }) => known(order.card.hashId)],
  ["card-ref-id",              ({ cardRefId }) => cardRefId],
  ["card-country-alpha-three-code", ({ order }) => order.card.issuer?.country],

  ["email",                    ({ order }) => order.purchase.customer.email],
  ["first-name",               ({ order }) => order.purchase.customer.firstName],
  ["last-name",                ({ order }) => order.purchase.customer.lastName],
  ["phone",                    ({ order }) => order.purchase.customer.phone],
  ["country",                  ({ order }) => order.purchase.customer.country],
  ["state",                    ({ order }) => order.purchase.customer.state],
  ["city",                     ({ order }) => order.purchase.customer.city],
  ["zip_code",                 ({ order }) => order.purchase.customer.zipCode],
  ["address1",                 ({ order }) => order.purchase.customer.address],

  ["gate-partial-reversal",    ({ transaction }) => ability(transaction.identifiers?.gate.partialReversal)],
  ["gate-partial-capture",     ({ transaction }) => ability(transaction.identifiers?.gate.partialCapture)],
  ["verified-3d-status",       ({ initial }) => initial.authentication?.status],
  ["eci",                      ({ initial }) => initial.authentication?.eci],
  ["ips-src-payment-product-code", ({ order }) => order.card.issuer?.productCode],
  ["ips-src-payment-product-name", ({ order }) => order.card.issuer?.productName],
  ["ips-src-payment-type-code", ({ order }) => order.card.issuer?.typeCode],
  ["ips-src-payment-type-name", ({ order }) => order.card.issuer?.typeName],
  ["merchantdata",             ({ order }) => order.purchase.merchantData],
  ["loyalty-balance",          ({ initial }) => loyaltyOf(initial)?.balance],
  ["loyalty-message",          ({ initial }) => loyaltyOf(initial)?.message],
  ["loyalty-bonus",            ({ initial }) => loyaltyOf(initial)?.bonus],
  ["loyalty-program",          ({ initial }) => loyaltyOf(initial)?.program],
  ["seller-commission",        ({ initial, totals }) => commission(initial.identifiers?.gate.fees?.seller, totals)],
  ["acquirer-commission",      ({ initial, totals }) => commission(initial.identifiers?.gate.fees?.acquirer, totals)],
  ["motivational-message",     ({ transaction }) => failureOf(transaction) && transaction.answer?.explanation],
  ["error-message",            ({ transaction }) => failureOf(transaction)?.message],
  ["error-code",               ({ transaction }) => failureOf(transaction)?.number.toString()],
];

export function printStatus(
  found: FoundOrder,
  options: StatusOptions,
): readonly (readonly [name: string, value: string | undefined])[] {
  const seen = seenOf(found, options);
  return rows.map(([name, print]) => [name, print(seen)]);
}

/** What the response says in one of its fields. */
export type Told = (field: string) => string | undefined;

/** For those who tell some of it elsewhere: only what is asked for is printed. */
export function makeTold(found: FoundOrder, printDate: StatusOptions["printDate"]): Told {
  const seen = seenOf(found, { bySerialNumber: undefined, printDate });
  return (field) => printers.get(field)?.(seen);
}

const printers = new Map(rows);

function seenOf(found: FoundOrder, options: StatusOptions): Seen {
  return { ...found, initial: initialOf(found.order), totals: totalsOf(found.order), ...options };
}

function chargedAmount(asked: Money, totals: Totals): string | undefined {
  const granted = grantedInstead(asked, totals);
  return granted && formatAmount(granted);
}

/** Only when it is less than was asked for; what is held so far will be charged. */
export function grantedInstead(asked: Money, { charged, held }: Totals): Money | undefined {
  const granted = isZero(charged) ? held : charged;
  return isZero(granted) || isSameMoney(asked, granted) ? undefined : granted;
}

/** All that was given back until now, not by this transaction alone. */
function totalReversal({ kind }: Transaction, totals: Totals): string | undefined {
  if (kind === "cancel") return formatAmount(totals.cancelled);
  return kind === "refund" ? formatAmount(totals.returned) : undefined;
}

function commission(fee: Fee | undefined, { charged }: Totals): string | undefined {
  if (fee === undefined || isZero(charged)) return undefined;
  return formatAmount(commissionOf(fee, charged));
}

function loyaltyOf({ answer }: Transaction): Answer["loyalty"] {
  return answer?.loyalty;
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

/** Of an order whose wallet data was refused there is no card. */
function known(text: string): string | undefined {
  return text === "" ? undefined : text;
}

function ability(able: boolean | undefined): string | undefined {
  if (able === undefined) return undefined;
  return able ? "enabled" : "disabled";
}
