/**
 * `gw endpoint` and `gw group`: an endpoint processes one currency of one merchant, through one
 * gate or several; a group chooses one of its endpoints by the currency of the request.
 */
import { type Command, Option } from "commander";
import type { Gate } from "../acquirers/gates.ts";
import {
  callbackMethods,
  type Endpoint,
  type EndpointSettings,
  type Merchant,
} from "../orders/merchant.ts";
import type { GatePlace } from "../storage/administration.ts";
import type { Configuration } from "../storage/configuration.ts";
import { asEndpointId } from "../values/ids.ts";
import { type Currency, findCurrency, getCurrency } from "../values/iso-codes.ts";
import { Problem } from "../values/problem.ts";
import { addCommands, type Output, type Session } from "./command.ts";
import { readConfiguration } from "./installation.ts";
import { endpointsOf, findMerchant, sandboxGate } from "./merchant-set.ts";
import {
  checkLimits,
  type GivenOptions,
  orNone,
  printFee,
  printLimit,
  readAmountIn,
  readFee,
  readOneOf,
  readSettings,
  readSwitch,
  readText,
  type SettingOption,
  setting,
} from "./options.ts";
import { findNamelessPage, findPlainOrigin, pageTable } from "./page-settings.ts";

/** Finer weights would not change how orders are distributed. */
const weightMax = 1000;
const rankMax = 99;
const policies = ["off", "when_possible", "always"] as const;
const waivable = ["email", "phone", "address1", "city", "zip_code", "country", "state"];
const readDescriptor = readText(/^[ -~]{1,25}$/, "1 to 25 printable characters");

// biome-ignore format: a table
export const endpointTable = (currency?: Currency): readonly SettingOption<EndpointSettings>[] => [
  setting("--3ds <policy>",               "off, when_possible or always",                        "threeDSecure",            readOneOf(policies)),
  setting("--min <amount>",               "smaller amounts are filtered",                        "amountMin",               orNone(readAmountIn(currency))),
  setting("--max <amount>",               "larger amounts are filtered",                         "amountMax",               orNone(readAmountIn(currency))),
  setting("--descriptor <text>",          "text on the cardholder's statement",                  "descriptor",              orNone(readDescriptor)),
  setting("--optional <fields>",          "fields of a sale that are optional, by commas",       "optionalFields",          orNone(readOptionalFields)),
  setting("--fee <fee>",                  "the merchant's fee, like 2.5%+30",                    "fee",                     orNone(readFee)),
  setting("--partial-approvals <on|off>", "accept an approval of less than the amount",          "acceptsPartialApprovals", readSwitch),
  setting("--callbacks <GET|POST|JSON>",  "how callbacks are sent: in the URL, as a form, as JSON", "callbackMethod",       readOneOf(callbackMethods)),
  setting("--chargebacks <on|off>",       "tell of chargebacks in status and callbacks",         "tellsChargebacks",        readSwitch),
  setting("--oauth-only <on|off>",        "accept only v4 requests, which are signed by OAuth",  "oauthOnly",               readSwitch),
  setting("--plain-addresses <on|off>",   "in production, accept http:// return and callback addresses", "plainAddresses",  readSwitch),
  setting("--private-callbacks <on|off>", "callbacks may go to GW_CALLBACK_PRIVATE_NETWORKS and GW_CALLBACK_ALLOWED_NAMES", "privateCallbacks", readSwitch),
  ...pageTable,
];

export function addEndpointCommands(endpoint: Command): void {
  const settings = endpointTable().map(({ option }) => option);
  const currency = new Option("--currency <code>", "three-letter currency code");
  const gate = new Option(
    "--gate <name:rank:weight>",
    "a gate, may be repeated; where there is one gate only, that",
  );
  const create = [
    ...settings,
    currency.makeOptionMandatory(),
    gate.argParser((value, earlier: readonly string[] = []) => [...earlier, value]),
  ];
  const set = [
    ...settings,
    new Option("--enable", "accept requests"),
    new Option("--disable", "refuse requests, as if the endpoint did not exist"),
  ];
  // biome-ignore format: a table
  addCommands(endpoint, [
    ["list <login>",                            "list a merchant's endpoints with their gates",                                      listEndpoints],
    ["create <login> <name>",                   "create an endpoint of a merchant",                                                  createEndpoint, create],
    ["set <endpointid>",                        "change the given settings of an endpoint; `none` removes one",                      setEndpoint, set],
    ["gates <endpointid> <name:rank:weight...>", "replace the gates of an endpoint: lowest rank first, distributed by weight",       setEndpointGates],
  ]);
}

export function addGroupCommands(group: Command): void {
  const set = [
    new Option("--endpoints <ids>", "these endpoints and no others, by commas"),
    new Option("--enable", "accept requests"),
    new Option("--disable", "begin nothing new through the group"),
  ];
  // biome-ignore format: a table
  addCommands(group, [
    ["list <login>",                         "list a merchant's groups",                              listGroups],
    ["create <login> <name> <endpoints...>", "create a group of a merchant's endpoints, one per currency", createGroup],
    ["set <groupid>",                        "change a group",                                        setGroup, set],
  ]);
}

type NewEndpoint = GivenOptions & { readonly currency: string; readonly gate?: readonly string[] };

async function createEndpoint(
  session: Session,
  login: string,
  name: string,
  { gate: named, ...options }: NewEndpoint,
): Promise<Output> {
  const configuration = await readConfiguration(session);
  const gate = named ?? usualGates(configuration);
  const merchant = findMerchant(configuration, login);
  if (merchant instanceof Problem) return merchant;
  const currency = findCurrency(options.currency);
  if (currency === undefined) return new Problem(`${options.currency} is no currency.`);
  const { code } = currency;
  const gates = readGatesFor(code, gate, configuration);
  if (gates instanceof Problem) return gates;
  const settings = readEndpointSettings(options, currency, undefined, session.config);
  if (settings instanceof Problem) return settings;

  const made = { merchantId: merchant.id, name, currency: code, gates, settings };
  const id = await session.administration.createEndpoint(made);
  return { login, endpoint: id, name, currency: code };
}

/** The sandbox bank's in staging, and the only one where there is no choice. */
function usualGates({ gates }: Configuration): readonly string[] {
  const names = [...gates.values()].map(({ name }) => name);
  if (names.includes(sandboxGate)) return [sandboxGate];
  return names.length === 1 ? names : [];
}

async function listEndpoints(session: Session, login: string): Promise<Output> {
  const configuration = await readConfiguration(session);
  const merchant = findMerchant(configuration, login);
  if (merchant instanceof Problem) return merchant;
  return endpointsOf(merchant, configuration).map((endpoint) =>
    session.json ? describe(endpoint) : describeShortly(endpoint),
  );
}

type EndpointChange = GivenOptions & { readonly enable?: boolean; readonly disable?: boolean };

async function setEndpoint(session: Session, id: string, options: EndpointChange): Promise<Output> {
  const endpoint = findEndpoint(await readConfiguration(session), id);
  if (endpoint instanceof Problem) return endpoint;
  const { enable = false, disable = false } = options;
  if (Object.keys(options).length === 0) {
    return new Problem("Nothing to change: see `gw endpoint set --help`.");
  }
  if (enable && disable) return new Problem("Choose --enable or --disable.");
  const currency = getCurrency(endpoint.currency);
  const settings = readEndpointSettings(options, currency, endpoint.settings, session.config);
  if (settings instanceof Problem) return settings;

  const enabled = enable || (endpoint.enabled && !disable);
  await session.administration.setEndpoint(endpoint.id, settings, enabled);
  const changed = { ...endpoint, settings, enabled };
  if (session.json) return describe(changed);
  return {
    ...describeShortly(changed),
    descriptor: settings.descriptor ?? "the gate's",
    optional: settings.optionalFields?.join(", ") ?? "none",
    "partial approvals": settings.acceptsPartialApprovals === true ? "on" : "off",
    chargebacks: settings.tellsChargebacks === true ? "on" : "off",
    "oauth only": settings.oauthOnly === true ? "on" : "off",
    "plain addresses": settings.plainAddresses === true ? "on" : "off",
    "private callbacks": settings.privateCallbacks === true ? "on" : "off",
  };
}

async function setEndpointGates(session: Session, id: string, texts: readonly string[]) {
  const configuration = await readConfiguration(session);
  const endpoint = findEndpoint(configuration, id);
  if (endpoint instanceof Problem) return endpoint;
  const gates = readGatesFor(endpoint.currency, texts, configuration);
  if (gates instanceof Problem) return gates;
  await session.administration.setEndpointGates(endpoint.id, gates);
  return { endpoint: id, name: endpoint.name, gates: texts.join(", ") };
}

async function createGroup(session: Session, login: string, name: string, ids: readonly string[]) {
  const configuration = await readConfiguration(session);
  const merchant = findMerchant(configuration, login);
  if (merchant instanceof Problem) return merchant;
  const members = readMembers(merchant, ids, configuration);
  if (members instanceof Problem) return members;
  const id = await session.administration.createGroup(merchant.id, name, members);
  return { login, group: id, name, endpoints: ids.join(", ") };
}

export function readMembers(
  merchant: Merchant,
  ids: readonly string[],
  configuration: Configuration,
) {
  const own = endpointsOf(merchant, configuration);
  const members = ids.flatMap((id) => own.filter((each) => each.id === id));
  if (members.length !== ids.length) {
    return new Problem(`Not all of these are endpoints of ${merchant.login}.`);
  }
  if (new Set(members.map(({ currency }) => currency)).size !== members.length) {
    return new Problem("A group can have one endpoint per currency only.");
  }
  return members.map(({ id }) => id);
}

async function listGroups(session: Session, login: string): Promise<Output> {
  const configuration = await readConfiguration(session);
  const merchant = findMerchant(configuration, login);
  if (merchant instanceof Problem) return merchant;
  const own = configuration.groups.filter((group) => group.merchant.id === merchant.id);
  return own.map(({ id, name, enabled, endpoints }) => ({
    ...{ id, name, state: enabled ? "on" : "off" },
    endpoints: endpoints.map((endpoint) => endpoint.id).join(", "),
  }));
}

type GroupChange = EndpointChange & { readonly endpoints?: string };

async function setGroup(session: Session, id: string, options: GroupChange): Promise<Output> {
  const configuration = await readConfiguration(session);
  const group = configuration.groups.find((each) => each.id === id);
  if (group === undefined) return new Problem(`There is no group ${id}: see \`gw group list\`.`);
  const { enable = false, disable = false, endpoints } = options;
  if (Object.keys(options).length === 0) {
    return new Problem("Nothing to change: see `gw group set --help`.");
  }
  if (enable && disable) return new Problem("Choose --enable or --disable.");
  const ids = endpoints?.split(",").map((each) => each.trim()) ?? group.endpoints.map((e) => e.id);
  const members = readMembers(group.merchant, ids, configuration);
  if (members instanceof Problem) return members;
  const enabled = enable || (group.enabled && !disable);
  await session.administration.setGroup(group.id, members, enabled);
  return { group: id, name: group.name, state: enabled ? "on" : "off", endpoints: ids.join(", ") };
}

export function findEndpoint({ endpoints }: Configuration, id: string): Endpoint | Problem {
  const found = endpoints.get(asEndpointId(id));
  return found ?? new Problem(`There is no endpoint ${id}: see \`gw endpoint list\`.`);
}

/** Only what is given changes. */
export function readEndpointSettings(
  options: GivenOptions,
  currency: Currency,
  known: EndpointSettings = { threeDSecure: "off" },
  { environment }: Pick<Session["config"], "environment"> = { environment: "staging" },
): EndpointSettings | Problem {
  const settings = readSettings(endpointTable(currency), options, known);
  if (settings instanceof Problem) return settings;
  const areGiven = environment === "production" && options["embedOrigins"] !== undefined;
  const fault = areGiven ? findPlainOrigin(settings) : undefined;
  return fault ?? findNamelessPage(settings, options) ?? checkLimits(settings);
}

function readOptionalFields(text: string): readonly string[] | Problem {
  const fields = text.split(",").map((field) => field.trim());
  if (fields.every((field) => waivable.includes(field))) return fields;
  return new Problem(`Only these fields can be made optional: ${waivable.join(", ")}.`);
}

export function readGatesFor(currency: string, texts: readonly string[], { gates }: Configuration) {
  const places = readGatePlaces(texts, gates.values());
  if (places instanceof Problem) return places;
  const accepting = places.filter(
    ({ gateId }) => gates.get(gateId)?.settings.currencies?.includes(currency) ?? true,
  );
  return accepting.length > 0 ? places : new Problem(`None of these gates accepts ${currency}.`);
}

/** Each `name`, `name:rank` or `name:rank:weight`; rank and weight default to 1. */
export function readGatePlaces(
  texts: readonly string[],
  gates: Iterable<Gate>,
): readonly GatePlace[] | Problem {
  const byName = new Map([...gates].map((gate) => [gate.name, gate.id]));
  const places: GatePlace[] = [];
  for (const text of texts) {
    const [name = "", rank = "1", weight = "1", ...more] = text.split(":");
    const gateId = byName.get(name);
    if (gateId === undefined) return new Problem(`There is no gate ${name}: see \`gw gate list\`.`);
    if (more.length > 0 || !isWithin(rank, rankMax) || !isWithin(weight, weightMax)) {
      return new Problem(
        `${text} is no place for a gate: write name:rank:weight, the rank from 1 to ${rankMax} ` +
          `and the weight from 1 to ${weightMax}.`,
      );
    }
    if (places.some((place) => place.gateId === gateId)) {
      return new Problem(`The gate ${name} is named twice.`);
    }
    places.push({ gateId, rank: Number(rank), weight: Number(weight) });
  }
  return places.length === 0
    ? new Problem("An endpoint needs at least one gate: name it with --gate.")
    : places;
}

function isWithin(text: string, most: number): boolean {
  return /^[1-9]\d{0,5}$/.test(text) && Number(text) <= most;
}

function describe({ id, name, currency, enabled, settings, gates }: Endpoint) {
  const places = gates.map(({ name: gate, rank, weight }) => ({ gate, rank, weight }));
  return { id, name, currency, enabled, settings, gates: places };
}

function describeShortly({ id, name, currency, enabled, settings, gates }: Endpoint) {
  return {
    ...{ id, name, currency, state: enabled ? "on" : "off", "3ds": settings.threeDSecure },
    min: printLimit(settings.amountMin, currency),
    max: printLimit(settings.amountMax, currency),
    fee: settings.fee === undefined ? "none" : printFee(settings.fee),
    gates: gates.map((gate) => `${gate.name}:${gate.rank}:${gate.weight}`).join(", "),
  };
}
