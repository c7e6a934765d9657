/** What `npm start` prints when all is up: addresses, credentials and a sale that can be pasted. */
import { hash } from "node:crypto";
import type { Config } from "../config.ts";
import type { BankAddress } from "./demonstration.ts";
import type { MerchantSet } from "./merchant-set.ts";

export type Banner = {
  readonly baseUrl: string;
  readonly set: MerchantSet;
  readonly bank: BankAddress;
  readonly demoFile: string;
  readonly config: Config;
  readonly startedAt: number;
};

export function printBanner(banner: Banner): void {
  const { baseUrl, set, bank, demoFile, config, startedAt } = banner;
  const took = ((Date.now() - startedAt) / 1000).toFixed(1);
  process.stdout.write(`
Tollgate is up after ${took} s.

  Gateway        ${baseUrl}/
  Sandbox bank   ${bank.url}/   (ISO 8583 host at ${bank.host})
  Credentials    ${demoFile}
  Log            ${config.dataDir}/gateway.log${config.workers > 1 ? `\n  Processes      ${config.workers}` : ""}

  Merchant login ${set.login}
  Control key    ${set.controlKey}
  Endpoints      ${Object.entries(set.endpoints)
    .map(([name, id]) => `${name} ${id}`)
    .join(", ")}, group ${set.group}

Pay 10.42 USD with a test card (paste it as it is):

${saleCommand(banner)}

Then ask how it went:

${statusCommand(banner)}

Ctrl-C stops everything.
`);
}

/** The order id must be new each time the gateway is started, so that pasting it is a new order. */
function exampleOrder({ startedAt }: Banner): string {
  return `example-${Math.floor(startedAt / 1000)}`;
}

function saleCommand(banner: Banner): string {
  const { baseUrl, set, config } = banner;
  const endpoint = set.endpoints["plain"] ?? "";
  const order = exampleOrder(banner);
  const email = "jane@example.com";
  const control = hash("sha1", `${endpoint}${order}1042${email}${set.controlKey}`);
  const fields = [
    ["client_orderid", order],
    ["order_desc", "First order"],
    ["amount", "10.42"],
    ["currency", "USD"],
    ["email", email],
    ["ipaddress", "203.0.113.7"],
    ["address1", "1 Main Street"],
    ["city", "Springfield"],
    ["state", "IL"],
    ["zip_code", "62701"],
    ["country", "US"],
    ["phone", "+1 555 0100"],
    ["credit_card_number", "4000001000000018"],
    ["card_printed_name", "JANE DOE"],
    ["expire_month", "12"],
    ["expire_year", "2030"],
    ["cvv2", "123"],
    ["control", control],
  ];
  return curl(`${baseUrl}/${config.pathWord}/api/v2/sale/${endpoint}`, fields);
}

function statusCommand(banner: Banner): string {
  const { baseUrl, set, config } = banner;
  const endpoint = set.endpoints["plain"] ?? "";
  const order = exampleOrder(banner);
  const control = hash("sha1", `${set.login}${order}${set.controlKey}`);
  const fields = [
    ["login", set.login],
    ["client_orderid", order],
    ["control", control],
  ];
  return curl(`${baseUrl}/${config.pathWord}/api/v2/status/${endpoint}`, fields);
}

function curl(url: string, fields: readonly (readonly string[])[]): string {
  const lines = fields.map(([name, value]) => `  --data-urlencode '${name}=${value}'`);
  return [`curl -s '${url}'`, ...lines].join(" \\\n");
}
