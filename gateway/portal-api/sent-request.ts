/**
 * The merchant's request by the names of the merchant interface, with a masked card, and the same
 * request as a command for a shell. The command contains placeholders for the card, the CVV and the
 * control checksum, so only a person who has these values can use it.
 */
import type { Order } from "../orders/order.ts";
import { initialOf } from "../orders/transactions.ts";
import { formatAmount } from "../values/money.ts";
import { wireTypeOf } from "../views/status.ts";

type Field = { readonly name: string; readonly value: string };

function fieldsOf({
  clientOrderId,
  purchase,
}: Order): readonly (readonly [string, string | undefined])[] {
  const { customer, urls, amount, browser } = purchase;
  return [
    ["client_orderid", clientOrderId],
    ["order_desc", purchase.description],
    ["amount", formatAmount(amount)],
    ["currency", amount.currency.code],
    ["ipaddress", purchase.ipAddress],
    ["first_name", customer.firstName],
    ["last_name", customer.lastName],
    ["email", customer.email],
    ["phone", customer.phone],
    ["cell_phone", customer.cellPhone],
    ["birthday", customer.birthday],
    ["address1", customer.address],
    ["city", customer.city],
    ["state", customer.state],
    ["zip_code", customer.zipCode],
    ["country", customer.country],
    ["site_url", purchase.siteUrl],
    ["purpose", purchase.purpose],
    ["comment", purchase.comment],
    ["merchant_data", purchase.merchantData],
    ["redirect_url", urls.redirect],
    ["redirect_success_url", urls.redirectSuccess],
    ["redirect_fail_url", urls.redirectFail],
    ["server_callback_url", urls.serverCallback],
    ["notify_url", urls.notify],
    ...Object.entries(browser ?? {}),
  ];
}

export function sentFieldsOf(order: Order): readonly Field[] {
  const { bin, lastFour, holderName, expiryMonth, expiryYear } = order.card;
  const card = [
    ["credit_card_number", lastFour === "" ? "" : `${bin}****${lastFour}`],
    ["card_printed_name", holderName],
    ["expire_month", expiryMonth],
    ["expire_year", expiryYear],
  ] as const;
  return [...fieldsOf(order), ...card].flatMap(([name, value]) => (value ? [{ name, value }] : []));
}

/**
 * Returns the command. `address` is where merchants send requests, like
 * `https://pay.example/gw/api/v2`.
 */
export function curlOf(order: Order, address: string): string {
  const { holderName, expiryMonth, expiryYear } = order.card;
  const fields = [
    ...fieldsOf(order),
    ...([
      ["credit_card_number", "CARD_NUMBER"],
      ["card_printed_name", holderName],
    ] as const),
    ...([
      ["expire_month", expiryMonth],
      ["expire_year", expiryYear],
      ["cvv2", "CVV"],
      ["control", "CONTROL"],
    ] as const),
  ];
  const given = fields.flatMap(([name, value]) => (value ? [`${name}=${value}`] : []));
  const data = given.map((pair) => `  --data-urlencode ${quote(pair)}`);
  const url = `${address}/${wireTypeOf(initialOf(order).kind)}/${order.endpointId}`;
  return [`curl -s ${quote(url)}`, ...data].join(" \\\n");
}

/**
 * Quotes a text so that the shell interprets nothing in it. Control characters never reach a
 * terminal.
 */
function quote(text: string): string {
  return `'${text.replaceAll(/\p{Cc}/gu, " ").replaceAll("'", "'\\''")}'`;
}
