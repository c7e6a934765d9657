/** `gw endpoint create`: an endpoint takes one currency of one merchant through one gate. */
import type { EndpointSettings } from "../orders/merchant.ts";
import { makeAdministration } from "../storage/administration.ts";
import { loadConfiguration } from "../storage/configuration.ts";
import { StartProblem } from "../storage/embedded.ts";
import { type Currency, findCurrency } from "../values/currency.ts";
import { parseAmount } from "../values/money.ts";
import { openVault } from "./demonstration.ts";
import { complain, inHouse } from "./house.ts";
import { print } from "./print.ts";

type Options = {
  readonly currency: string;
  readonly gate: string;
  readonly "3ds": string;
  readonly min?: string;
  readonly max?: string;
  readonly descriptor?: string;
  readonly optional?: string;
  readonly json?: boolean;
};

const policies = ["off", "when_possible", "always"] as const;
const waivable = ["email", "phone", "address1", "city", "zip_code", "country"];

export function createEndpoint(login: string, name: string, options: Options): Promise<void> {
  return inHouse(async ({ database, ...house }) => {
    const { openSecret } = await openVault({ database, ...house });
    const { merchants, gates } = await loadConfiguration(database.query, openSecret);
    const merchant = merchants.find((each) => each.login === login);
    const gate = [...gates.values()].find((each) => each.name === options.gate);
    const settings = readSettings(options);
    if (merchant === undefined) return complain(new StartProblem(`There is no merchant ${login}.`));
    if (gate === undefined) return complain(new StartProblem(`There is no gate ${options.gate}.`));
    if (settings instanceof StartProblem) return complain(settings);

    const id = await makeAdministration(database.query).createEndpoint({
      merchantId: merchant.id,
      name,
      currency: options.currency,
      gateId: gate.id,
      settings,
    });
    print({ login, endpoint: id, name, currency: options.currency }, options.json);
  });
}

function readSettings(options: Options): EndpointSettings | StartProblem {
  const currency = findCurrency(options.currency);
  if (currency === undefined) return new StartProblem(`${options.currency} is no currency.`);
  const threeDSecure = policies.find((policy) => policy === options["3ds"]);
  if (threeDSecure === undefined) {
    return new StartProblem(`The 3-D Secure policy must be one of ${policies.join(", ")}.`);
  }
  const amountMin = readLimit(options.min, currency);
  const amountMax = readLimit(options.max, currency);
  if (amountMin instanceof StartProblem) return amountMin;
  if (amountMax instanceof StartProblem) return amountMax;
  const optionalFields = options.optional?.split(",").map((field) => field.trim());
  if (optionalFields?.some((field) => !waivable.includes(field)) === true) {
    return new StartProblem(`Only these fields can be made optional: ${waivable.join(", ")}.`);
  }
  return {
    threeDSecure,
    ...(amountMin === undefined ? {} : { amountMin }),
    ...(amountMax === undefined ? {} : { amountMax }),
    ...(options.descriptor === undefined ? {} : { descriptor: options.descriptor }),
    ...(optionalFields === undefined ? {} : { optionalFields }),
  };
}

function readLimit(
  text: string | undefined,
  currency: Currency,
): string | undefined | StartProblem {
  if (text === undefined) return undefined;
  const money = parseAmount(text, currency);
  if (money === undefined) return new StartProblem(`${text} is no amount in ${currency.code}.`);
  return String(money.minor);
}
