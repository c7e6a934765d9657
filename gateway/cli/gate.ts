/** `gw gate`: creates, shows, changes and removes gates, the connections to acquirers. */
import { type Command, Option } from "commander";
import { type Gate, type GateKind, type GateSettings, gateKinds } from "../acquirers/gates.ts";
import type { CredentialDefaults } from "../orders/order.ts";
import type { Configuration } from "../storage/configuration.ts";
import { Problem } from "../values/problem.ts";
import { isTimeZone } from "../values/time.ts";
import { addCommands, type Output, type Session } from "./command.ts";
import { readConfiguration } from "./installation.ts";
import {
  checkLimits,
  findNameFault,
  type GivenOptions,
  orNone,
  printFee,
  readCurrencies,
  readFee,
  readFlag,
  readMinorUnits,
  readOneOf,
  readSettings,
  readText,
  required,
  type SettingOption,
  setting,
} from "./options.ts";

/** A gate's settings with one value per option. */
type Values = Omit<GateSettings, "host" | "port" | "recurrent"> &
  CredentialDefaults & {
    readonly kind: GateKind;
    readonly address: Pick<GateSettings, "host" | "port">;
  };

const printable = (max: number, form = "!-~") =>
  readText(new RegExp(`^[${form}]{1,${max}}$`), `1 to ${max} printable characters`);

/** Lengths are those of the message fields. */
// biome-ignore format: a table
const settings: readonly SettingOption<Values>[] = [
  setting("--kind <kind>",                "protocol of the host: sandbox or iso87_binary",                  "kind",            readOneOf(gateKinds), required),
  setting("--host <address:port>",        "where the host listens",                                         "address",         readAddress, required),
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
  setting("--currencies <codes>",         "only these, by commas; all for every currency",                  "currencies",      readCurrencies),
  setting("--min <minor>",                "smaller amounts go through another gate; none for no limit",     "amountMin",       orNone(readMinorUnits)),
  setting("--max <minor>",                "larger amounts go through another gate; none for no limit",      "amountMax",       orNone(readMinorUnits)),
  setting("--fee <fee>",                  "the acquirer's fee, like 2.5%+30; none for no fee",              "fee",             orNone(readFee)),
  setting("--recurrent-initiator <word>", "CARDHOLDER or MERCHANT, unless the payment says it",             "initiator",       orNone(readOneOf(["CARDHOLDER", "MERCHANT"]))),
  setting("--recurrent-scenario <word>",  "REGULAR or IRREGULAR, unless the payment says it",               "scenario",        orNone(readOneOf(["REGULAR", "IRREGULAR"]))),
  setting("--sandbox",                    "it connects to a sandbox bank: production refuses it",           "sandbox",         (text) => readFlag(text) || undefined),
];

const opposites = [
  new Option("--no-partial-reversal", "it cannot reverse a part of a charge"),
  new Option("--no-partial-capture", "it cannot capture a part of a hold"),
  new Option("--no-sandbox", "it does not connect to a sandbox bank"),
];

export function addGateCommands(gate: Command): void {
  const options = [...settings.map(({ option }) => option), ...opposites];
  // biome-ignore format: a table
  addCommands(gate, [
    ["list",          "list all gates",                                          listGates],
    ["show <name>",   "show a gate with its settings and the endpoints using it", showGate],
    ["create <name>", "create a gate",                                           createGate, options],
    ["set <name>",    "change the given settings of a gate",                     setGate, options],
    ["remove <name>", "remove a gate that no endpoint uses",                     removeGate],
  ]);
}

async function listGates(session: Session): Promise<Output> {
  const configuration = await readConfiguration(session);
  return [...configuration.gates.values()].map((gate) => {
    const { id, name, kind, settings: own } = gate;
    const endpoints = endpointsOf(gate, configuration);
    if (session.json) return { ...gate, endpoints };
    return {
      ...{ name, id, kind, host: `${own.host}:${own.port}` },
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

async function createGate(session: Session, name: string, options: GivenOptions): Promise<Output> {
  const nameFault = findNameFault(name);
  if (nameFault !== undefined) return nameFault;
  const configuration = await readConfiguration(session);
  if (!(findGate(name, configuration) instanceof Problem)) {
    return new Problem(`There is a gate ${name} already: see \`gw gate set\`.`);
  }
  const read = readGate(options);
  if (read instanceof Problem) return read;
  const id = await session.administration.putGate({ name, ...read });
  return describe({ id, name, ...read }, configuration, session.json);
}

async function setGate(session: Session, name: string, options: GivenOptions): Promise<Output> {
  const configuration = await readConfiguration(session);
  const gate = findGate(name, configuration);
  if (gate instanceof Problem) return gate;
  if (Object.keys(options).length === 0) {
    return new Problem("Nothing to change: see `gw gate set --help`.");
  }
  const read = readGate(options, gate);
  if (read instanceof Problem) return read;
  await session.administration.putGate({ name, ...read });
  return describe({ ...gate, ...read }, configuration, session.json);
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
  const removed = await session.administration.removeGate(gate.id);
  if (removed === "removed") return { removed: name };
  return new Problem(`Orders in flight need the gate ${name}: try again when they are final.`);
}

type Read = Pick<Gate, "kind" | "settings">;

/** Only what is given changes; a new gate must be given all that it needs. */
export function readGate(options: GivenOptions, known?: Read): Read | Problem {
  if (options["withoutCvv"] === true && options["withCvv"] === true) {
    return new Problem("Choose one of --with-cvv and --without-cvv.");
  }
  const values = readSettings(settings, options, known ? valuesOf(known) : newGate, "A gate");
  if (values instanceof Problem) return values;
  const { kind, address, initiator, scenario, ...others } = values;
  const recurrent = {
    ...(initiator === undefined ? {} : { initiator }),
    ...(scenario === undefined ? {} : { scenario }),
  };
  const hasDefaults = Object.keys(recurrent).length > 0;
  const checked = checkLimits({ ...others, ...address, ...(hasDefaults ? { recurrent } : {}) });
  return checked instanceof Problem ? checked : { kind, settings: checked };
}

const newGate = { worksWithoutCvv: false, partialReversal: true, partialCapture: true };

function valuesOf({ kind, settings: { host, port, recurrent, ...others } }: Read): Values {
  return { ...others, ...recurrent, kind, address: { host, port } };
}

function readAddress(text: string, option: string): Values["address"] | Problem {
  const [, bracketed, plain, port = ""] = /^(?:\[(.+)\]|([^:\s]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || Number(port) < 1 || Number(port) > 65_535) {
    return new Problem(`${option} is an address and a port, like bank.example:8583, not ${text}.`);
  }
  return { host, port: Number(port) };
}

function readZone(text: string, option: string): string | Problem {
  if (isTimeZone(text)) return text;
  return new Problem(
    `${option} is a time zone of the IANA list, like Europe/Amsterdam, not ${text}.`,
  );
}

function describe(gate: Gate, configuration: Configuration, json: boolean): Output {
  const endpoints = endpointsOf(gate, configuration);
  if (json) return { ...gate, endpoints };
  const { host, port, currencies, fee, recurrent, ...others } = gate.settings;
  return {
    ...{ name: gate.name, id: gate.id, kind: gate.kind, host: `${host}:${port}`, ...others },
    currencies: currencies?.join(", ") ?? "all",
    ...(fee === undefined ? {} : { fee: printFee(fee) }),
    ...(recurrent === undefined ? {} : { recurrent: Object.values(recurrent).join(", ") }),
    endpoints: endpoints.join(", ") || "none",
  };
}

function endpointsOf({ id }: Gate, { endpoints }: Configuration): readonly string[] {
  const using = [...endpoints.values()].filter(({ gates }) => gates.some((each) => each.id === id));
  return using.map((endpoint) => endpoint.id);
}

function findGate(name: string, { gates }: Configuration): Gate | Problem {
  const found = [...gates.values()].find((gate) => gate.name === name);
  return found ?? new Problem(`There is no gate ${name}: see \`gw gate list\`.`);
}
