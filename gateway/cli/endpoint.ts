/** `gw endpoint`: an endpoint takes one currency of one merchant, through one gate or several. */
import type { Endpoint, EndpointGate } from "../orders/merchant.ts";
import { sandboxGate } from "../staging/demonstration.ts";
import type { GatePlace } from "../storage/administration.ts";
import { asEndpointId } from "../values/ids.ts";
import { findCurrency, getCurrency } from "../values/iso-codes.ts";
import { formatAmount, Money } from "../values/money.ts";
import { Problem } from "../values/problem.ts";
import { type Configured, inConfigured } from "./configured.ts";
import { type EndpointOptions, readEndpointSettings } from "./endpoint-settings.ts";
import { complain } from "./installation.ts";
import { printFee, readGatePlaces } from "./option-values.ts";
import { print } from "./print.ts";

type Output = { readonly json?: boolean };
type New = EndpointOptions &
  Output & { readonly currency: string; readonly gate?: readonly string[] };
type Changes = EndpointOptions & Output & { readonly enable?: boolean; readonly disable?: boolean };
type Configuration = Configured["configuration"];

export function createEndpoint(login: string, name: string, options: New): Promise<void> {
  return inConfigured(async ({ configuration, administration }) => {
    const merchant = configuration.merchants.find((each) => each.login === login);
    if (merchant === undefined) return complain(new Problem(`There is no merchant ${login}.`));
    const currency = findCurrency(options.currency);
    if (currency === undefined) {
      return complain(new Problem(`${options.currency} is no currency.`));
    }
    const gates = readGates(options.gate ?? [sandboxGate], currency.code, configuration);
    if (gates instanceof Problem) return complain(gates);
    const settings = readEndpointSettings(options, currency);
    if (settings instanceof Problem) return complain(settings);

    const merchantId = merchant.id;
    const made = { merchantId, name, currency: currency.code, gates, settings };
    const id = await administration.createEndpoint(made);
    print({ login, endpoint: id, name, currency: currency.code }, options.json);
  });
}

export function listEndpoints(login: string, { json = false }: Output): Promise<void> {
  return inConfigured(async ({ configuration }) => {
    const { merchants, endpoints } = configuration;
    const merchant = merchants.find((each) => each.login === login);
    if (merchant === undefined) return complain(new Problem(`There is no merchant ${login}.`));
    const own = [...endpoints.values()].filter((each) => each.merchant.id === merchant.id);
    print(json ? own.map(describe) : own.map(describeShortly), json);
  });
}

export function setEndpoint(id: string, { json = false, ...options }: Changes): Promise<void> {
  return inConfigured(async ({ configuration, administration }) => {
    const endpoint = configuration.endpoints.get(asEndpointId(id));
    if (endpoint === undefined) return complainOfUnknown(id);
    const { enable = false, disable = false, ...others } = options;
    if (Object.keys(options).length === 0) {
      return complain(new Problem("Nothing to change: see `gw endpoint set --help`."));
    }
    if (enable && disable) return complain(new Problem("Choose --enable or --disable."));
    const currency = getCurrency(endpoint.currency);
    const settings = readEndpointSettings(others, currency, endpoint.settings);
    if (settings instanceof Problem) return complain(settings);

    const enabled = enable || (endpoint.enabled && !disable);
    await administration.setEndpoint(endpoint.id, { settings, enabled });
    printEndpoint({ ...endpoint, settings, enabled }, json);
  });
}

/** These gates and no others from now on. */
export function setEndpointGates(
  id: string,
  texts: readonly string[],
  { json = false }: Output,
): Promise<void> {
  return inConfigured(async ({ configuration, administration }) => {
    const endpoint = configuration.endpoints.get(asEndpointId(id));
    if (endpoint === undefined) return complainOfUnknown(id);
    const gates = readGates(texts, endpoint.currency, configuration);
    if (gates instanceof Problem) return complain(gates);
    await administration.setEndpointGates(endpoint.id, gates);
    print({ endpoint: id, name: endpoint.name, gates: texts.join(", ") }, json);
  });
}

function readGates(
  texts: readonly string[],
  currency: string,
  { gates }: Configuration,
): readonly GatePlace[] | Problem {
  const places = readGatePlaces(texts, gates.values());
  if (places instanceof Problem) return places;
  const taking = places.filter(({ gateId }) => {
    const currencies = gates.get(gateId)?.settings.currencies;
    return currencies === undefined || currencies.includes(currency);
  });
  return taking.length > 0 ? places : new Problem(`None of these gates takes ${currency}.`);
}

function printEndpoint(endpoint: Endpoint, json: boolean): void {
  if (json) {
    print(describe(endpoint), true);
    return;
  }
  const { settings } = endpoint;
  print({
    ...describeShortly(endpoint),
    descriptor: settings.descriptor ?? "the gate's",
    optional: settings.optionalFields?.join(", ") ?? "none",
    "partial approvals": settings.acceptsPartialApprovals === true ? "on" : "off",
    "oauth only": settings.oauthOnly === true ? "on" : "off",
  });
}

function describe({ id, name, currency, enabled, settings, gates }: Endpoint) {
  const places = gates.map(({ name: gate, rank, weight }) => ({ gate, rank, weight }));
  return { id, name, currency, enabled, settings, gates: places };
}

function describeShortly({ id, name, currency, enabled, settings, gates }: Endpoint) {
  const limit = (minor: string | undefined) =>
    minor === undefined ? "none" : formatAmount(new Money(BigInt(minor), getCurrency(currency)));
  return {
    id,
    name,
    currency,
    state: enabled ? "on" : "off",
    "3ds": settings.threeDSecure,
    min: limit(settings.amountMin),
    max: limit(settings.amountMax),
    fee: settings.fee === undefined ? "none" : printFee(settings.fee),
    gates: gates.map(printPlace).join(", "),
  };
}

function printPlace({ name, rank, weight }: EndpointGate): string {
  return `${name}:${rank}:${weight}`;
}

function complainOfUnknown(id: string): void {
  complain(new Problem(`There is no endpoint ${id}: see \`gw endpoint list\`.`));
}
