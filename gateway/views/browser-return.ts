/**
 * The end of the cardholder's way: which address of the shop the browser is sent to, what it brings
 * along, and what a page of ours says where the shop has given no address.
 */

import type { Order, ReturnUrls, TransactionKind } from "../orders/order.ts";
import { initialOf } from "../orders/transactions.ts";
import type { EndpointId, ReceiptId } from "../values/ids.ts";
import { printResult, type ResultFields, type Sign, toldOf } from "./result-fields.ts";
import { type Status, statusOf } from "./stages.ts";

export type BrowserReturn = {
  readonly status: Status;
  /** Of the transaction that began the order. */
  readonly kind: TransactionKind;
  /** Nothing: the shop has given no address for this result. */
  readonly url: string | undefined;
  readonly fields: ResultFields;
  readonly merchantName: string;
  readonly clientOrderId: string;
  /** With its currency: what was charged, or what was asked for when nothing was. */
  readonly amount: string;
  readonly cardMask: string;
  /** Of an approved order. */
  readonly receipt: ReceiptAddress | undefined;
};

export type ReceiptAddress = { readonly endpointId: EndpointId; readonly receiptId: ReceiptId };

export type BrowserReturnOptions = { readonly sign: Sign; readonly merchantName: string };

/** A later return or capture changes nothing of how the payment itself ended. */
export function browserReturnOf(
  order: Order,
  { sign, merchantName }: BrowserReturnOptions,
): BrowserReturn {
  const transaction = initialOf(order);
  const status = statusOf(transaction.stage);
  const told = toldOf(order, transaction);
  const amount = told("charged-amount") ?? told("amount");
  return {
    status,
    kind: transaction.kind,
    url: urlFor(status, order.purchase.urls),
    fields: printResult(order, { sign, transaction }),
    merchantName,
    clientOrderId: order.clientOrderId,
    amount: `${amount} ${told("currency")}`,
    cardMask: maskOf(order),
    receipt: status === "approved" ? receiptOf(order) : undefined,
  };
}

function receiptOf(order: Order): ReceiptAddress | undefined {
  const { receiptId } = initialOf(order);
  return receiptId && { endpointId: order.endpointId, receiptId };
}

/** The digits of a device's number say nothing to the customer. */
function maskOf({ card, purchase }: Order): string {
  const isShown = purchase.wallet?.isDevice !== true && card.lastFour !== "";
  return isShown ? `${card.bin}****${card.lastFour}` : "";
}

export function isOver(order: Order): boolean {
  return statusOf(initialOf(order).stage) !== "processing";
}

function urlFor(
  status: Status,
  { redirect, redirectSuccess, redirectFail }: ReturnUrls,
): string | undefined {
  switch (status) {
    case "approved":
      return redirectSuccess ?? redirect;
    case "declined":
    case "filtered":
      return redirectFail ?? redirect;
    case "error":
    case "processing":
      return redirect;
  }
}
