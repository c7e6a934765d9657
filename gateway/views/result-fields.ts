/**
 * The result of a transaction, as callbacks tell it and as the browser brings it back to the shop:
 * one row per field, in the interface's order. `control` proves that it comes from us.
 */
import type { Order, Transaction } from "../orders/order.ts";
import { makeTold, type Told } from "./status.ts";

/** The checksum of the text with the merchant's key behind it: SHA-1, in lower case hex. */
export type Sign = (text: string) => string;

export type ResultFields = readonly (readonly [name: string, value: string])[];

/** `order.transaction` when no other one is named. */
export type ResultOptions = { readonly sign: Sign; readonly transaction?: Transaction };

/** What a status response says under another name. */
// biome-ignore format: a table
const rows: readonly (readonly [name: string, inStatus: string])[] = [
  ["type",                  "transaction-type"],
  ["amount",                "amount"],
  ["charged-amount",        "charged-amount"],
  ["currency",              "currency"],
  ["error_code",            "error-code"],
  ["error_message",         "error-message"],
  ["descriptor",            "descriptor"],
  ["processor-tx-id",       "processor-tx-id"],
  ["processor-rrn",         "processor-rrn"],
  ["approval-code",         "approval-code"],
  ["bin",                   "bin"],
  ["last-four-digits",      "last-four-digits"],
  ["card-type",             "card-type"],
  ["card-holder-name",      "cardholder-name"],
  ["email",                 "email"],
  ["phone",                 "phone"],
  ["gate-partial-reversal", "gate-partial-reversal"],
  ["gate-partial-capture",  "gate-partial-capture"],
];

export function printResult(order: Order, options: ResultOptions): ResultFields {
  const { sign, transaction = order.transaction } = options;
  const told = toldOf(order, transaction);
  const status = told("status") ?? "";
  const all: readonly (readonly [name: string, value: string | undefined])[] = [
    ["status", status],
    ["orderid", order.id],
    ["client_orderid", order.clientOrderId],
    ["merchant_order", order.clientOrderId],
    ...rows.map(([name, inStatus]) => [name, told(inStatus)] as const),
    ["serial-number", transaction.serialNumber],
    ["merchantdata", order.purchase.merchantData],
    ["control", sign(status + order.id + order.clientOrderId)],
  ];
  return all.flatMap(([name, value]) => (value ? [[name, value] as const] : []));
}

/** No date is among the fields of a result. */
export function toldOf(order: Order, transaction: Transaction): Told {
  return makeTold({ order, transaction }, () => "");
}
