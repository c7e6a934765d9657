/**
 * A sale as a merchant would send it, filled in and signed, and the question how it went. The
 * banner and the page at `/` show both as commands to paste; the page's form sends them.
 */
import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { getCurrency } from "../values/iso-codes.ts";
import { parseAmount } from "../values/money.ts";

export type ExampleMerchant = { readonly login: string; readonly controlKey: string };

export type ExampleSale = {
  readonly endpoint: string;
  readonly clientOrderId: string;
  readonly description: string;
  /** As the merchant writes it; it must be an amount of the currency. */
  readonly amount: string;
  readonly currency: string;
  readonly card: string;
  /** Where the browser is sent at the end; mandatory where 3-D Secure is possible. */
  readonly redirectUrl?: string;
};

export type ExampleFields = readonly (readonly [name: string, value: string])[];

const email = "jane@example.com";

/** The sale that newcomers are shown: it is approved. */
export const firstSale = {
  description: "First order",
  amount: "10.42",
  currency: "USD",
  card: "4000001000000018",
} as const;

export function signSale({ controlKey }: ExampleMerchant, sale: ExampleSale): ExampleFields {
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

export function signStatus(merchant: ExampleMerchant, clientOrderId: string): ExampleFields {
  const { login, controlKey } = merchant;
  return [
    ["login", login],
    ["client_orderid", clientOrderId],
    ["control", hash("sha1", `${login}${clientOrderId}${controlKey}`)],
  ];
}

export type Till = {
  readonly baseUrl: string;
  readonly pathWord: string;
  readonly merchant: ExampleMerchant;
};

export function operationUrl(
  { baseUrl, pathWord }: Pick<Till, "baseUrl" | "pathWord">,
  { operation, endpoint }: { readonly operation: "sale" | "status"; readonly endpoint: string },
): string {
  return `${baseUrl}/${pathWord}/api/v2/${operation}/${endpoint}`;
}

export function writeSaleCommand(till: Till, sale: ExampleSale): string {
  const url = operationUrl(till, { operation: "sale", endpoint: sale.endpoint });
  return writeCommand(url, signSale(till.merchant, sale));
}

export function writeStatusCommand(till: Till, sale: ExampleSale): string {
  const url = operationUrl(till, { operation: "status", endpoint: sale.endpoint });
  return writeCommand(url, signStatus(till.merchant, sale.clientOrderId));
}

function writeCommand(url: string, fields: ExampleFields): string {
  const lines = fields.map(([name, value]) => `  --data-urlencode '${name}=${value}'`);
  return [`curl -s -w '\\n' '${url}'`, ...lines].join(" \\\n");
}
