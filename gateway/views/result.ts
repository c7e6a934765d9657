/**
 * The result of a transaction, as callbacks report it and as the browser brings it back to the
 * shop. There is one row for each field, in the interface's order. `control` proves that the
 * gateway sent the result.
 */
import { isDeviceNumber } from "../orders/card-reference.ts";
import type { Order, ReturnUrls } from "../orders/order.ts";
import type { FoundOrder } from "../orders/requests.ts";
import { initialOf } from "../orders/transactions.ts";
import type { EndpointId, ReceiptId } from "../values/ids.ts";
import {
  foundStatusOf,
  makeStatusReader,
  type ShownBySettings,
  type Status,
  statusOf,
} from "./status.ts";

/** Returns the checksum of the text followed by the merchant's key: SHA-1 in lower case hex. */
type Sign = (text: string) => string;

export type ResultFields = readonly (readonly [name: string, value: string])[];

type ResultOptions = { readonly sign: Sign; readonly settings?: ShownBySettings };

/** The fields of the status response that the result has, with their names there. */
export const resultRows: readonly (readonly [name: string, inStatus: string])[] = [
  ["type", "transaction-type"],
  ["amount", "amount"],
  ["charged-amount", "charged-amount"],
  ["currency", "currency"],
  ["error_code", "error-code"],
  ["error_message", "error-message"],
  ["descriptor", "descriptor"],
  ["processor-tx-id", "processor-tx-id"],
  ["processor-rrn", "processor-rrn"],
  ["approval-code", "approval-code"],
  ["bin", "bin"],
  ["last-four-digits", "last-four-digits"],
  ["card-type", "card-type"],
  ["card-holder-name", "cardholder-name"],
  ["email", "email"],
  ["phone", "phone"],
  ["gate-partial-reversal", "gate-partial-reversal"],
  ["gate-partial-capture", "gate-partial-capture"],
  ["chargeback-amount", "chargeback-amount"],
  ["chargeback-reason", "chargeback-reason"],
  ["chargeback-stage", "chargeback-stage"],
  ["case-id", "case-id"],
  ["reason-code", "reason-code"],
];

/** Every name that a result may have, even without a value. */
export const resultNames: ReadonlySet<string> = new Set([
  ...["status", "orderid", "client_orderid", "merchant_order"],
  ...resultRows.map(([name]) => name),
  ...["serial-number", "merchantdata", "control"],
]);

export function printResult(found: FoundOrder, options: ResultOptions): ResultFields {
  const { order, transaction, dispute } = found;
  const { sign, settings } = options;
  const read = makeStatusReader(found, { ...(settings && { settings }) });
  const status = foundStatusOf(found);
  const all: readonly (readonly [name: string, value: string | undefined])[] = [
    ["status", status],
    ["orderid", order.id],
    ["client_orderid", order.clientOrderId],
    ["merchant_order", order.clientOrderId],
    ...resultRows.map(([name, inStatus]) => [name, read(inStatus)] as const),
    ["serial-number", (dispute ?? transaction).serialNumber],
    ["merchantdata", read("merchantdata")],
    ["control", sign(status + order.id + order.clientOrderId)],
  ];
  return all.flatMap(([name, value]) => (value ? [[name, value] as const] : []));
}

/** The cardholder's return to the shop, or the result on a page of the gateway. */
export type BrowserReturn = Readonly<ReturnType<typeof browserReturnOf>>;

export type ReceiptAddress = { readonly endpointId: EndpointId; readonly receiptId: ReceiptId };

/** A later follow-up does not change the result of the payment itself. */
export function browserReturnOf(
  order: Order,
  { sign, merchantName }: { readonly sign: Sign; readonly merchantName: string },
) {
  const { card, purchase, clientOrderId, endpointId } = order;
  const transaction = initialOf(order);
  const { kind, receiptId } = transaction;
  const status = statusOf(transaction.stage);
  const read = makeStatusReader({ order, transaction });
  // The digits of a wallet's device number are left out, because they mean nothing to the
  // cardholder.
  const showsCard = !isDeviceNumber(order) && card.lastFour !== "";
  return {
    status,
    kind,
    merchantName,
    clientOrderId,
    /** Undefined if the merchant gave no URL for this result. */
    url: urlFor(status, purchase.urls),
    fields: printResult({ order, transaction }, { sign }),
    /** The charged amount with its currency, or the requested amount if nothing was charged. */
    amount: `${read("charged-amount") ?? read("amount")} ${read("currency")}`,
    cardMask: showsCard ? `${card.bin}****${card.lastFour}` : "",
    receipt: status === "approved" && receiptId ? { endpointId, receiptId } : undefined,
  };
}

/** Whether the payment has its result; a later follow-up may still be processing. */
export function isOver(order: Order): boolean {
  return statusOf(initialOf(order).stage) !== "processing";
}

function urlFor(
  status: Status,
  { redirect, redirectSuccess, redirectFail }: ReturnUrls,
): string | undefined {
  if (status === "approved") return redirectSuccess ?? redirect;
  return status === "declined" || status === "filtered" ? (redirectFail ?? redirect) : redirect;
}
