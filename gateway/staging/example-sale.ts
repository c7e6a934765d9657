/**
 * A sale as a merchant would send it, filled in and signed, and the request for its status. The
 * banner shows both as commands to paste; the portal's sandbox sends them.
 */
import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { getCurrency } from "../values/iso-codes.ts";
import { parseAmount } from "../values/money.ts";

/** The URL for the merchant's requests. */
export type Shop = {
  readonly baseUrl: string;
  readonly pathWord: string;
  readonly merchant: { readonly login: string; readonly controlKey: string };
};

type ExampleSale = {
  readonly endpoint: string;
  readonly clientOrderId: string;
  readonly description: string;
  /** The amount as the merchant writes it. It must be an amount of the currency. */
  readonly amount: string;
  readonly currency: string;
  readonly card: string;
  /**
   * The URL to which the browser is sent at the end, which is mandatory if 3-D Secure is possible.
   */
  readonly redirectUrl?: string;
};

type ExampleFields = readonly (readonly [name: string, value: string])[];

const email = "jane@example.com";

/** The first sale that a newcomer sees. It is approved. */
export const firstSale = {
  description: "First order",
  amount: "10.42",
  currency: "USD",
  card: "4000001000000018",
} as const;

/** The URL to which the cardholder's browser returns: the order in the portal. */
export function portalUrlOf(baseUrl: string, clientOrderId: string): string {
  return `${baseUrl}/portal/orders?search=${encodeURIComponent(clientOrderId)}`;
}

/** Makes the sale with 3-D Secure, in which the browser passes a challenge. */
export function makeSecureSale(baseUrl: string, endpoint: string, clientOrderId: string) {
  const redirectUrl = portalUrlOf(baseUrl, clientOrderId);
  return { ...firstSale, card: "4000002000000024", endpoint, clientOrderId, redirectUrl };
}

function signSale({ controlKey }: Shop["merchant"], sale: ExampleSale): ExampleFields {
  const { endpoint, clientOrderId, description, amount, currency, card, redirectUrl } = sale;
  const money = parseAmount(amount, getCurrency(currency));
  assert.ok(money !== undefined, "not an amount of the currency");
  const control = hash("sha1", `${endpoint}${clientOrderId}${money.minor}${email}${controlKey}`);
  return [
    ["client_orderid", clientOrderId],
    ["order_desc", description],
    ["amount", amount],
    ["currency", currency],
    ["email", email],
    ["ipaddress", "203.0.113.7"],
    ["address1", "1 Main Street"],
    ["city", "Springfield"],
    ["state", "IL"],
    ["zip_code", "62701"],
    ["country", "US"],
    ["phone", "+1 555 0100"],
    ["credit_card_number", card],
    ["card_printed_name", "JANE DOE"],
    ["expire_month", "12"],
    ["expire_year", "2030"],
    ["cvv2", "123"],
    ...(redirectUrl === undefined ? [] : [["redirect_url", redirectUrl] as const]),
    ["control", control],
  ];
}

export type ExampleRequest = { readonly url: string; readonly fields: ExampleFields };

export function makeRequests(
  shop: Shop,
  sale: ExampleSale,
): Record<"sale" | "status", ExampleRequest> {
  const { baseUrl, pathWord, merchant } = shop;
  const { login, controlKey } = merchant;
  const { clientOrderId } = sale;
  const urlOf = (operation: string) =>
    `${baseUrl}/${pathWord}/api/v2/${operation}/${sale.endpoint}`;
  const status: ExampleFields = [
    ["login", login],
    ["client_orderid", clientOrderId],
    ["control", hash("sha1", `${login}${clientOrderId}${controlKey}`)],
  ];
  return {
    sale: { url: urlOf("sale"), fields: signSale(merchant, sale) },
    status: { url: urlOf("status"), fields: status },
  };
}

const cardFields = [
  "credit_card_number",
  "card_printed_name",
  "expire_month",
  "expire_year",
  "cvv2",
];

/** Replaces the card of the sale by a token of walletb. */
export function withWallet({ url, fields }: ExampleRequest, token: string): ExampleRequest {
  const rest = fields.filter(([name]) => !cardFields.includes(name));
  const data = Buffer.from(token).toString("base64");
  const paid = [
    ["payment_data", data],
    ["payment_data_type", "walletb_encrypted"],
  ] as const;
  return { url, fields: [...rest, ...paid] };
}

/**
 * Makes the status request. With JSON as `accept`, values are shown as they are, so that a link can
 * be copied.
 */
export function writeCommand({ url, fields }: ExampleRequest, accept?: string): string {
  const header = accept === undefined ? [] : [`  -H 'Accept: ${accept}'`];
  const lines = fields.map(([name, value]) => `  --data-urlencode '${name}=${value}'`);
  return [`curl -s -w '\\n' '${url}'`, ...header, ...lines].join(" \\\n");
}
