/** What `npm start` prints when all is up: addresses, credentials and a sale that can be pasted. */

import type { MerchantSet } from "../cli/merchant-set.ts";
import type { Config } from "../config/config.ts";
import type { BankAddress } from "./demonstration.ts";
import {
  type ExampleSale,
  firstSale,
  writeSaleCommand,
  writeStatusCommand,
} from "./example-sale.ts";

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
  const till = { baseUrl, pathWord: config.pathWord, merchant: set };
  const sale = exampleSale(banner);
  const took = ((Date.now() - startedAt) / 1000).toFixed(1);
  process.stdout.write(`
Tollgate is up after ${took} s.

  Gateway        ${baseUrl}/
  Sandbox bank   ${bank.url}/   (ISO 8583 host at ${bank.host})
  Credentials    ${demoFile}
  Log            ${config.dataDir}/gateway.log
  Processes      ${config.workers} (GW_WORKERS)

  Merchant login ${set.login}
  Control key    ${set.controlKey}
  Endpoints      ${Object.entries(set.endpoints)
    .map(([name, id]) => `${name} ${id}`)
    .join(", ")}, group ${set.group}

Pay ${sale.amount} ${sale.currency} with a test card (paste it as it is):

${writeSaleCommand(till, sale)}

Then ask how it went:

${writeStatusCommand(till, sale)}

Ctrl-C stops everything.
`);
}

/** The order id must be new each time the gateway is started, so that pasting it is a new order. */
function exampleSale({ set, startedAt }: Banner): ExampleSale {
  const clientOrderId = `example-${Math.floor(startedAt / 1000)}`;
  return { ...firstSale, endpoint: set.endpoints["plain"] ?? "", clientOrderId };
}
