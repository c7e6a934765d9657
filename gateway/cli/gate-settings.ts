/** The options of `gw gate create` and `gw gate set`, read into a gate's settings. */
import { type Gate, type GateKind, type GateSettings, gateKinds } from "../acquirers/gates.ts";
import type { CredentialDefaults, Initiator, Scenario } from "../orders/order.ts";
import { Problem } from "../values/problem.ts";
import {
  applyChange,
  type Change,
  changeOf,
  checkLimits,
  mergeChanges,
  orNone,
  readCurrencies,
  readFee,
  readMinorUnits,
  readOneOf,
  readText,
} from "./option-values.ts";

export type GateOptions = {
  readonly kind?: string;
  readonly host?: string;
  readonly terminal?: string;
  readonly merchantCode?: string;
  readonly nameAndPlace?: string;
  readonly category?: string;
  readonly country?: string;
  readonly acquirerId?: string;
  readonly descriptor?: string;
  readonly withoutCvv?: boolean;
  readonly withCvv?: boolean;
  readonly partialReversal?: boolean;
  readonly partialCapture?: boolean;
  readonly currencies?: string;
  readonly min?: string;
  readonly max?: string;
  readonly fee?: string;
  readonly recurrentInitiator?: string;
  readonly recurrentScenario?: string;
  readonly sandbox?: boolean;
};

type Read = Pick<Gate, "kind" | "settings">;
type ExistingOrder = { readonly kind?: GateKind; readonly settings: Partial<GateSettings> };
type GateChange = Change<GateSettings>;

const newGate: ExistingOrder = {
  settings: { worksWithoutCvv: false, partialReversal: true, partialCapture: true },
};

const initiators: readonly Initiator[] = ["CARDHOLDER", "MERCHANT"];
const scenarios: readonly Scenario[] = ["REGULAR", "IRREGULAR"];

/** Only what is given changes; a gate that is not known yet must be given all that it needs. */
export function readGate(options: GateOptions, known: ExistingOrder = newGate): Read | Problem {
  const change = readChange(options, known.settings);
  if (change instanceof Problem) return change;
  const settings = applyChange(known.settings, change);
  const named = options.kind ?? known.kind;
  const missing = [...(named === undefined ? ["--kind"] : []), ...missingOf(settings)];
  if (named === undefined || !isComplete(settings)) {
    return new Problem(`A gate also needs ${missing.join(", ")}.`);
  }
  const kind = readOneOf("--kind", gateKinds)(named);
  const checked = checkLimits(settings);
  if (kind instanceof Problem) return kind;
  return checked instanceof Problem ? checked : { kind, settings: checked };
}

// biome-ignore format: a table
const required: readonly (readonly [option: string, setting: keyof GateSettings])[] = [
  ["--host",           "host"],
  ["--terminal",       "terminalId"],
  ["--merchant-code",  "merchantCode"],
  ["--name-and-place", "nameAndPlace"],
  ["--category",       "categoryCode"],
  ["--country",        "countryCode"],
  ["--acquirer-id",    "acquirerId"],
  ["--descriptor",     "descriptor"],
];

function missingOf(settings: Partial<GateSettings>): readonly string[] {
  return required.filter(([, name]) => settings[name] === undefined).map(([option]) => option);
}

function isComplete(settings: Partial<GateSettings>): settings is GateSettings {
  return missingOf(settings).length === 0;
}

/** Lengths are those of the messages' fields. */
// biome-ignore format: a table
const texts = {
  terminal:     readText("--terminal",       /^[!-~]{1,8}$/,  "1 to 8 printable characters"),
  merchantCode: readText("--merchant-code",  /^[!-~]{1,15}$/, "1 to 15 printable characters"),
  nameAndPlace: readText("--name-and-place", /^[ -~]{1,40}$/, "1 to 40 printable characters"),
  category:     readText("--category",       /^\d{4}$/,       "the four digits of the category"),
  country:      readText("--country",        /^\d{3}$/,       "the three digits of the country"),
  acquirerId:   readText("--acquirer-id",    /^\d{1,11}$/,    "1 to 11 digits"),
  descriptor:   readText("--descriptor",     /^[ -~]{1,25}$/, "1 to 25 printable characters"),
};

function readChange(options: GateOptions, known: Partial<GateSettings>): GateChange | Problem {
  return mergeChanges<GateSettings>([
    readHost(options.host),
    changeOf("terminalId", options.terminal, texts.terminal),
    changeOf("merchantCode", options.merchantCode, texts.merchantCode),
    changeOf("nameAndPlace", options.nameAndPlace, texts.nameAndPlace),
    changeOf("categoryCode", options.category, texts.category),
    changeOf("countryCode", options.country, texts.country),
    changeOf("acquirerId", options.acquirerId, texts.acquirerId),
    changeOf("descriptor", options.descriptor, texts.descriptor),
    readAbilities(options),
    changeOf("currencies", options.currencies, readCurrencies),
    changeOf("amountMin", options.min, orNone(readMinorUnits)),
    changeOf("amountMax", options.max, orNone(readMinorUnits)),
    changeOf("fee", options.fee, orNone(readFee)),
    readRecurrent(options, known.recurrent),
  ]);
}

function readHost(text: string | undefined): GateChange | Problem {
  if (text === undefined) return {};
  const [, bracketed, plain, port = ""] = /^(?:\[(.+)\]|([^:\s]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || Number(port) < 1 || Number(port) > 65_535) {
    return new Problem(`--host is an address and a port, like bank.example:8583, not ${text}.`);
  }
  return { host, port: Number(port) };
}

function readAbilities(options: GateOptions): GateChange | Problem {
  const { withoutCvv, withCvv, partialReversal, partialCapture, sandbox } = options;
  if (withoutCvv === true && withCvv === true) {
    return new Problem("Choose one of --with-cvv and --without-cvv.");
  }
  return {
    ...(withoutCvv === true ? { worksWithoutCvv: true } : {}),
    ...(withCvv === true ? { worksWithoutCvv: false } : {}),
    ...(partialReversal === undefined ? {} : { partialReversal }),
    ...(partialCapture === undefined ? {} : { partialCapture }),
    ...(sandbox === undefined ? {} : { sandbox: sandbox ? true : undefined }),
  };
}

function readRecurrent(
  { recurrentInitiator, recurrentScenario }: GateOptions,
  known: CredentialDefaults = {},
): GateChange | Problem {
  const change = mergeChanges<CredentialDefaults>([
    changeOf(
      "initiator",
      recurrentInitiator,
      orNone(readOneOf("--recurrent-initiator", initiators)),
    ),
    changeOf("scenario", recurrentScenario, orNone(readOneOf("--recurrent-scenario", scenarios))),
  ]);
  if (change instanceof Problem) return change;
  const recurrent = applyChange(known, change);
  return { recurrent: Object.keys(recurrent).length === 0 ? undefined : recurrent };
}
