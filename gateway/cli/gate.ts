/** `gw gate`: creates, shows, changes and removes gates, the connections to acquirers. */
import { lookup } from "node:dns/promises";
import { setTimeout as delay } from "node:timers/promises";
import { type Command, Option } from "commander";
import {
  addressesOf,
  type Gate,
  type GateKind,
  type GateSettings,
  gateKinds,
} from "../acquirers/gates.ts";
import { testGate } from "../acquirers/iso8583-host/own-link.ts";
import { allows } from "../config/config.ts";
import type { CredentialDefaults } from "../orders/order.ts";
import { isGateNeeded } from "../storage/administration.ts";
import type { Configuration } from "../storage/configuration.ts";
import { type Currency, getCurrency } from "../values/iso-codes.ts";
import { Problem } from "../values/problem.ts";
import { isTimeZone, systemClock } from "../values/time.ts";
import { addCommands, type Output, type Session } from "./command.ts";
import {
  findTlsFault,
  type HostAddresses,
  printAddresses,
  readAddresses,
  readConnections,
  readPath,
} from "./gate-links.ts";
import { readConfiguration } from "./installation.ts";
import { addMacKeyCommands } from "./mac-key.ts";
import {
  checkLimits,
  findNameFault,
  type GivenOptions,
  orNone,
  printFee,
  printLimit,
  printSwitch,
  readAmountIn,
  readCurrencies,
  readFee,
  readFlag,
  readOneOf,
  readSettings,
  readSwitch,
  readText,
  required,
  type SettingOption,
  setting,
} from "./options.ts";
import { findGateFault } from "./rehearsal.ts";

/** A gate's settings with one value per option. */
type Values = Omit<GateSettings, keyof HostAddresses | "recurrent" | "refunds"> &
  CredentialDefaults & {
    readonly kind: GateKind;
    readonly address: HostAddresses;
    readonly refundAfter?: string;
    readonly partialAs?: "refund";
  };

const printable = (max: number, form = "!-~") =>
  readText(new RegExp(`^[${form}]{1,${max}}$`), `1 to ${max} printable characters`);

/** Lengths are those of the message fields. */
// biome-ignore format: a table
export const gateTable = (currency?: Currency): readonly SettingOption<Values>[] => [
  setting("--kind <kind>",                "the host's dialect: sandbox, iso87_binary or iso93_ascii",        "kind",            readOneOf(gateKinds), required),
  setting("--host <address:port>",        "where the host listens; several addresses by commas",            "address",         readAddresses, required),
  setting("--connections <n>",            "connections over all addresses together (default one for each)", "connections",     orNone(readConnections)),
  setting("--sign-on <on|off>",           "whether every connection signs on with 0800 (default on)",       "signOn",          readSwitch),
  setting("--tls <on|off>",               "TLS to the host (default in production), or plain TCP",          "tls",             readSwitch),
  setting("--tls-roots <file>",           "authorities of the host's certificate, in PEM; none: system's",  "tlsRootsFile",    orNone(readPath)),
  setting("--tls-name <name>",            "name in the host's certificate when it is not the address",      "tlsServerName",   orNone(readText(/^[A-Za-z0-9.-]{1,253}$/, "a host name"))),
  setting("--tls-certificate <file>",     "the gateway's client certificate, in PEM, or none",              "tlsCertificateFile", orNone(readPath)),
  setting("--tls-key <file>",             "the private key of that certificate, or none",                   "tlsKeyFile",      orNone(readPath)),
  setting("--terminal <id>",              "field 41 of every message",                                      "terminalId",      printable(8), required),
  setting("--merchant-code <code>",       "field 42",                                                       "merchantCode",    printable(15), required),
  setting("--name-and-place <text>",      "field 43",                                                       "nameAndPlace",    printable(40, " -~"), required),
  setting("--category <digits>",          "field 18, the merchant category",                                "categoryCode",    readText(/^\d{4}$/, "the four digits of the category"), required),
  setting("--country <digits>",           "field 19, the acquirer's country",                               "countryCode",     readText(/^\d{3}$/, "the three digits of the country"), required),
  setting("--acquirer-id <digits>",       "field 32",                                                       "acquirerId",      readText(/^\d{1,11}$/, "1 to 11 digits"), required),
  setting("--descriptor <text>",          "text on the cardholder's statement",                             "descriptor",      printable(25, " -~"), required),
  setting("--zone <name>",                "the terminal's time zone, like Europe/Amsterdam (default UTC)",  "zone",            readZone),
  setting("--without-cvv",                "the acquirer accepts payments without CVV",                      "worksWithoutCvv", () => true),
  setting("--with-cvv",                   "it does not (default)",                                          "worksWithoutCvv", () => false),
  setting("--partial-reversal",           "it can reverse a part of a charge (default)",                    "partialReversal", readFlag),
  setting("--partial-capture",            "it can capture a part of a hold (default)",                      "partialCapture",  readFlag),
  setting("--refund-after <when>",        "returns are refunds: never (default), always, 24h, or 23:00 daily", "refundAfter",  readRefundAfter),
  setting("--partial-as <kind>",          "returns of a part: reversal (default) or refund",                "partialAs",       readAs),
  setting("--hold-days <days>",           "how long a hold lives; a later capture is refused (default 7)",  "holdDays",        orNone(readHoldDays)),
  setting("--currencies <codes>",         "only these, by commas; all for every currency",                  "currencies",      readCurrencies),
  setting("--min <amount>",               "smaller amounts go through another gate; none for no limit",     "amountMin",       orNone(readAmountIn(currency))),
  setting("--max <amount>",               "larger amounts go through another gate; none for no limit",      "amountMax",       orNone(readAmountIn(currency))),
  setting("--fee <fee>",                  "the acquirer's fee, like 2.5%+30; none for no fee",              "fee",             orNone(readFee)),
  setting("--recurrent-initiator <word>", "CARDHOLDER or MERCHANT, unless the payment says it",             "initiator",       orNone(readOneOf(["CARDHOLDER", "MERCHANT"]))),
  setting("--recurrent-scenario <word>",  "REGULAR or IRREGULAR, unless the payment says it",               "scenario",        orNone(readOneOf(["REGULAR", "IRREGULAR"]))),
  setting("--sandbox",                    "it connects to a sandbox bank; for staging and rehearsals",           "sandbox",         (text) => readFlag(text) || undefined),
];

const opposites = [
  new Option("--no-partial-reversal", "it cannot reverse a part of a charge"),
  new Option("--no-partial-capture", "it cannot capture a part of a hold"),
  new Option("--no-sandbox", "it does not connect to a sandbox bank"),
];

export function addGateCommands(gate: Command): void {
  const options = [...gateTable().map(({ option }) => option), ...opposites];
  const force = new Option("--force", "give it another host although open orders need this one");
  // biome-ignore format: a table
  addCommands(gate, [
    ["list",          "list all gates",                                          listGates],
    ["show <name>",   "show a gate with its settings and the endpoints using it", showGate],
    ["create <name>", "create a gate",                                           createGate, options],
    ["set <name>",    "change the given settings of a gate",                     setGate, [...options, force]],
    ["test <name>",   "sign on at the host and ask for an echo, over a connection of its own", testOne],
    ["remove <name>", "remove a gate that no endpoint uses",                     removeGate],
  ]);
  addMacKeyCommands(gate);
}

async function listGates(session: Session): Promise<Output> {
  const configuration = await readConfiguration(session);
  return [...configuration.gates.values()].map((gate) => {
    const { id, name, kind, settings: own } = gate;
    const endpoints = endpointsOf(gate, configuration);
    if (session.json) return { ...gate, endpoints };
    return {
      ...{ name, id, kind, host: printAddresses(own), tls: printSwitch(own.tls === true) },
      currencies: own.currencies?.join(",") ?? "all",
      endpoints: endpoints.length,
    };
  });
}

async function showGate(session: Session, name: string): Promise<Output> {
  const configuration = await readConfiguration(session);
  const gate = findGate(name, configuration);
  return gate instanceof Problem ? gate : describe(gate, configuration, session.json);
}

async function testOne(session: Session, name: string): Promise<Output> {
  const gate = findGate(name, await readConfiguration(session));
  if (gate instanceof Problem) return gate;
  const { signOn = true } = gate.settings;
  const tested = await testGate(gate, systemClock, session.config.answerTimeoutMs);
  if (tested instanceof Problem) return tested;
  const { address: host, echoMs } = tested;
  return { gate: name, host, "sign-on": signOn ? "accepted" : "off", echo: `${echoMs} ms` };
}

async function createGate(session: Session, name: string, options: GivenOptions): Promise<Output> {
  const nameFault = findNameFault(name);
  if (nameFault !== undefined) return nameFault;
  const configuration = await readConfiguration(session);
  if (!(findGate(name, configuration) instanceof Problem)) {
    return new Problem(`There is a gate ${name} already: see \`gw gate set\`.`);
  }
  const read = readGate(options, undefined, session.config);
  if (read instanceof Problem) return read;
  const fault = await findTlsFault(read.settings, options);
  if (fault !== undefined) return fault;
  const unresolved = await findUnresolved(read.settings);
  if (unresolved.length > 0) {
    const names = unresolved.join(", ");
    process.stderr.write(
      `No address was found for ${names}: check --host and this machine's DNS.\n`,
    );
  }
  const id = await session.administration.putGate({ name, ...read });
  return describe({ id, name, ...read }, configuration, session.json);
}

const resolveWithinMs = 3_000;

/** Host names that this machine cannot resolve now: a typing error, or DNS that is down. */
async function findUnresolved(settings: GateSettings): Promise<readonly string[]> {
  const hosts = addressesOf(settings).map(({ host }) => host);
  const resolved = await Promise.all(
    hosts.map((host) => {
      const late = delay(resolveWithinMs, undefined, { ref: false });
      return Promise.race([lookup(host).catch(() => undefined), late]);
    }),
  );
  return hosts.filter((_, index) => resolved[index] === undefined);
}

async function setGate(session: Session, name: string, options: GivenOptions): Promise<Output> {
  const configuration = await readConfiguration(session);
  const gate = findGate(name, configuration);
  if (gate instanceof Problem) return gate;
  if (Object.keys(options).length === 0) {
    return new Problem("Nothing to change: see `gw gate set --help`.");
  }
  const read = readGate(options, gate, session.config);
  if (read instanceof Problem) return read;
  const fault = await findTlsFault(read.settings, options);
  if (fault !== undefined) return fault;
  const changed = await countHostChange(session, gate, read, options);
  if (changed instanceof Problem) return changed;
  await session.administration.putGate({ name, ...changed });
  return describe({ ...gate, ...changed }, configuration, session.json);
}

/**
 * Refuses to give a gate another host while an open order needs the present one, because the new
 * host does not know the order's charge. The settings count such changes: the gateway believes no
 * host that says "not found" about the charges of another.
 */
export async function countHostChange(
  { cells, reason, isTrial }: Pick<Session, "cells" | "reason" | "isTrial">,
  gate: Gate,
  read: Read,
  { force }: GivenOptions,
): Promise<Read | Problem> {
  const { hostChanges = 0 } = gate.settings;
  const withCount = (count: number): Read =>
    count === 0 ? read : { ...read, settings: { ...read.settings, hostChanges: count } };
  if (!isOtherHost(gate, read)) return withCount(hostChanges);
  const queries = cells.names().map((cell) => cells.databasesOf(cell).node.query);
  if (force !== true && (await isGateNeeded(gate.id, queries))) {
    return new Problem(
      `Open orders need the host of the gate ${gate.name} as it is. Create another gate and give ` +
        "it to the endpoints with `gw endpoint gates`, or repeat this with --force and --why: " +
        "doubt about those orders is then settled by hand, with `gw doubt settle`.",
    );
  }
  if (force === true && reason === undefined && !isTrial) {
    return new Problem("--force also needs --why.");
  }
  return withCount(hostChanges + 1);
}

/** An address that stays shows that the host does. */
function isOtherHost(known: Read, next: Read): boolean {
  const addresses = addressesOf(known.settings).map(({ host, port }) => `${host}:${port}`);
  const stays = addressesOf(next.settings).some(({ host, port }) =>
    addresses.includes(`${host}:${port}`),
  );
  const isSame = (["merchantCode", "acquirerId"] as const).every(
    (name) => known.settings[name] === next.settings[name],
  );
  return known.kind !== next.kind || !stays || !isSame;
}

async function removeGate(session: Session, name: string): Promise<Output> {
  const configuration = await readConfiguration(session);
  const gate = findGate(name, configuration);
  if (gate instanceof Problem) return gate;
  const endpoints = endpointsOf(gate, configuration);
  if (endpoints.length > 0) {
    return new Problem(
      `The gate ${name} is used by the endpoints ${endpoints.join(", ")}: ` +
        "give them others first, with `gw endpoint gates`.",
    );
  }
  const removed = await session.administration.removeGate(
    gate.id,
    session.cells.names().map((name) => session.cells.databasesOf(name).node.query),
  );
  if (removed === "removed") return { removed: name };
  return new Problem(`Orders in flight need the gate ${name}: try again when they are final.`);
}

type Read = Pick<Gate, "kind" | "settings">;
type Allowed = Pick<Session["config"], "environment" | "allow" | "rehearsal">;

/**
 * Only what is given changes; a new gate must be given all that it needs. In production a new gate
 * is over TLS: with a plain one, no node starts again unless the operator allows plain gates.
 */
export function readGate(
  options: GivenOptions,
  known?: Read,
  config: Allowed = { environment: "staging", allow: "", rehearsal: false },
): Read | Problem {
  const isProduction = config.environment === "production";
  if (isProduction && options["tls"] === "off" && !allows(config, "plain-gates")) {
    return new Problem("In production gates use TLS: add plain-gates to GW_ALLOW for plain TCP.");
  }
  if (options["withoutCvv"] === true && options["withCvv"] === true) {
    return new Problem("Choose one of --with-cvv and --without-cvv.");
  }
  const currency = findLimitCurrency(options, known);
  if (currency instanceof Problem) return currency;
  const values = readSettings(
    ...([gateTable(currency), options] as const),
    known ? gateValuesOf(known) : { ...newGate, ...(isProduction && { tls: true }) },
    "A gate",
  );
  if (values instanceof Problem) return values;
  const { kind, address, initiator, scenario, refundAfter, partialAs, ...others } = values;
  const refunds = {
    ...(refundAfter === undefined ? {} : { after: refundAfter }),
    ...(partialAs === undefined ? {} : { partial: true as const }),
  };
  const recurrent = {
    ...(initiator === undefined ? {} : { initiator }),
    ...(scenario === undefined ? {} : { scenario }),
  };
  const checked = checkLimits({
    ...{ ...others, ...address },
    ...(Object.keys(recurrent).length > 0 && { recurrent }),
    ...(Object.keys(refunds).length > 0 && { refunds }),
  });
  if (checked instanceof Problem) return checked;
  const read = { kind, settings: checked };
  return findGateFault(config, "The gate", read) ?? read;
}

/** The limits of a gate are amounts in its currencies, which have the same number of decimals. */
function findLimitCurrency(options: GivenOptions, known?: Read): Currency | undefined | Problem {
  const {
    currencies: given,
    min = known?.settings.amountMin,
    max = known?.settings.amountMax,
  } = options;
  const codes = given === undefined ? known?.settings.currencies : readCurrencies(String(given));
  if (codes instanceof Problem) return codes;
  const [first, ...others] = (codes ?? []).map(getCurrency);
  const isLimited = [min, max].some((limit) => limit !== undefined && limit !== "none");
  const isClear = first && others.every(({ exponent }) => exponent === first.exponent);
  if (!isLimited || isClear) return first;
  return new Problem(
    "A gate with --min or --max needs --currencies, with the same number of decimals for each.",
  );
}

const newGate = { worksWithoutCvv: false, partialReversal: true, partialCapture: true };

export function gateValuesOf({ kind, settings: { host, port, ...settings } }: Read): Values {
  const { otherAddresses, recurrent, refunds, ...others } = settings;
  const returns = {
    ...(refunds?.after !== undefined && { refundAfter: refunds.after }),
    ...(refunds?.partial === true && { partialAs: "refund" as const }),
  };
  const address = { host, port, ...(otherAddresses && { otherAddresses }) };
  return { ...others, ...recurrent, ...returns, kind, address };
}

function readZone(text: string, option: string): string | Problem {
  if (isTimeZone(text)) return text;
  return new Problem(
    `${option} is a time zone of the IANA list, like Europe/Amsterdam, not ${text}.`,
  );
}

function readRefundAfter(text: string, option: string): string | undefined | Problem {
  if (text === "never") return undefined;
  if (/^(always|\d{1,4}h|([01]\d|2[0-3]):[0-5]\d)$/.test(text)) return text;
  return new Problem(`${option} is never, always, hours like 24h, or a daily cut-off like 23:00.`);
}

function readAs(text: string, option: string): "refund" | undefined | Problem {
  const message = readOneOf(["reversal", "refund"])(text, option);
  return message === "reversal" ? undefined : message;
}

function readHoldDays(text: string, option: string): number | Problem {
  if (/^[1-9]\d{0,2}$/.test(text)) return Number(text);
  return new Problem(`${option} is a number of days, 1 to 999.`);
}

function describe(gate: Gate, configuration: Configuration, json: boolean): Output {
  const endpoints = endpointsOf(gate, configuration);
  if (json) return { ...gate, endpoints };
  const { host: _, port: __, otherAddresses: ___, tls, signOn, ...settings } = gate.settings;
  const { currencies, fee, recurrent, refunds, amountMin, amountMax, ...others } = settings;
  const [currency] = currencies ?? [];
  const { name, id, kind } = gate;
  return {
    ...{ name, id, kind, host: printAddresses(gate.settings) },
    ...{ tls: printSwitch(tls === true), "sign-on": printSwitch(signOn !== false), ...others },
    ...{
      refundAfter: refunds?.after ?? "never",
      partialAs: refunds?.partial ? "refund" : "reversal",
    },
    currencies: currencies?.join(", ") ?? "all",
    ...(currency && { min: printLimit(amountMin, currency), max: printLimit(amountMax, currency) }),
    ...(fee === undefined ? {} : { fee: printFee(fee) }),
    ...(recurrent === undefined ? {} : { recurrent: Object.values(recurrent).join(", ") }),
    endpoints: endpoints.join(", ") || "none",
  };
}

function endpointsOf({ id }: Gate, { endpoints }: Configuration): readonly string[] {
  const using = [...endpoints.values()].filter(({ gates }) => gates.some((each) => each.id === id));
  return using.map((endpoint) => endpoint.id);
}

export function findGate(name: string, { gates }: Configuration): Gate | Problem {
  const found = [...gates.values()].find((gate) => gate.name === name);
  return found ?? new Problem(`There is no gate ${name}: see \`gw gate list\`.`);
}
