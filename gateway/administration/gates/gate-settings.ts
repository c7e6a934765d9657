/** The settings of a gate as operators write them. */
import {
  type Address,
  addressesOf,
  certificateFilesOf,
  type Gate,
  type GateKind,
  type GateSettings,
  gateKinds,
} from "../../acquirers/gates.ts";
import { readCertificateFiles } from "../../certificates/certificate-files.ts";
import { allows, type Config } from "../../config/config.ts";
import type { CredentialDefaults } from "../../orders/order.ts";
import { type Currency, findCurrency, getCurrency } from "../../values/iso-codes.ts";
import { messageOf, Problem } from "../../values/problem.ts";
import { isTimeZone } from "../../values/time.ts";
import { findGateFault } from "../installation/rehearsal.ts";
import {
  amountIn,
  checkLimits,
  type Form,
  fee,
  form,
  type GivenSettings,
  oneOf,
  onlyYes,
  onOff,
  optional,
  path,
  readSettings,
  required,
  type SettingRow,
  setting,
  text,
  whole,
  yesOrNo,
} from "../settings.ts";

type HostAddresses = Pick<GateSettings, "host" | "port" | "otherAddresses">;

const hostForm: Form<HostAddresses> = form("text", "address:port", readAddresses, printAddresses);

/** Most gates have one connection for each address, so a larger number is probably a mistake. */
const connectionsMax = 32;

/** The settings of a gate in the form of the fields: each field has exactly one value. */
type Values = Omit<GateSettings, keyof HostAddresses | "recurrent" | "refunds"> &
  CredentialDefaults & {
    readonly kind: GateKind;
    readonly address: HostAddresses;
    readonly refundAfter?: string;
    readonly partialAs?: "refund";
  };

const holdDaysMax = 999;
const payoutHoursMax = 720;
const returnKind = oneOf("kind", ["reversal", "refund"]);
const partialAs: Form<"refund"> = {
  ...returnKind,
  read(text, option) {
    const chosen = returnKind.read(text, option);
    return chosen === "reversal" ? undefined : chosen;
  },
};
const printable = (shows: string, max: number, characters = "!-~") =>
  required(
    text(shows, new RegExp(`^[${characters}]{1,${max}}$`), `1 to ${max} printable characters`),
  );
const digits = (pattern: RegExp, description: string) =>
  required(text("digits", pattern, description));

const hostSettings: readonly SettingRow<Values>[] = [
  setting("kind", "kind", required(oneOf("kind", gateKinds)), [
    "the host's dialect: sandbox, iso87_binary or iso93_ascii",
    "der Dialekt des Hosts",
  ]),
  setting("host", "address", required(hostForm), [
    "where the host listens; several addresses by commas",
    "Adresse des Hosts; mehrere durch Kommas getrennt",
  ]),
  setting("connections", "connections", optional(whole("n", 1, connectionsMax)), [
    "connections over all addresses together (default one for each)",
    "Verbindungen über alle Adressen zusammen (üblich: eine je Adresse)",
  ]),
  setting("signOn", "signOn", onOff, [
    "whether every connection signs on with 0800 (default on)",
    "ob sich jede Verbindung mit 0800 anmeldet (üblich: an)",
  ]),
  setting("tls", "tls", onOff, [
    "TLS to the host (default in production), or plain TCP",
    "TLS zum Host (üblich in Produktion) oder einfaches TCP",
  ]),
  setting("tlsRoots", "tlsRootsFile", optional(path), [
    "authorities of the host's certificate, in PEM; none: system's",
    "Zertifizierungsstellen des Hosts, als PEM; none: die des Systems",
  ]),
  setting(
    "tlsName",
    "tlsServerName",
    optional(text("name", /^[A-Za-z0-9.-]{1,253}$/, "a host name")),
    [
      "name in the host's certificate when it is not the address",
      "Name im Zertifikat des Hosts, wenn er nicht die Adresse ist",
    ],
  ),
  setting("tlsCertificate", "tlsCertificateFile", optional(path), [
    "the gateway's client certificate, in PEM, or none",
    "das Client-Zertifikat des Gateways, als PEM, oder none",
  ]),
  setting("tlsKey", "tlsKeyFile", optional(path), [
    "the private key of that certificate, or none",
    "der private Schlüssel zu diesem Zertifikat, oder none",
  ]),
];

/** The lengths are those of the fields of ISO 8583 messages in which these settings are sent. */
const messageSettings: readonly SettingRow<Values>[] = [
  setting("terminal", "terminalId", printable("id", 8), [
    "field 41 of every message",
    "Feld 41 jeder Nachricht",
  ]),
  setting("merchantCode", "merchantCode", printable("code", 15), ["field 42", "Feld 42"]),
  setting("nameAndPlace", "nameAndPlace", printable("text", 40, " -~"), ["field 43", "Feld 43"]),
  setting("category", "categoryCode", digits(/^\d{4}$/, "the four digits of the category"), [
    "field 18, the merchant category",
    "Feld 18, die Branche des Händlers",
  ]),
  setting("country", "countryCode", digits(/^\d{3}$/, "the three digits of the country"), [
    "field 19, the acquirer's country",
    "Feld 19, das Land des Acquirers",
  ]),
  setting("acquirerId", "acquirerId", digits(/^\d{1,11}$/, "1 to 11 digits"), [
    "field 32",
    "Feld 32",
  ]),
  setting("descriptor", "descriptor", printable("text", 25, " -~"), [
    "text on the cardholder's statement",
    "Text auf dem Kontoauszug",
  ]),
  setting("zone", "zone", form("text", "name", readZone), [
    "the terminal's time zone, like Europe/Amsterdam (default UTC)",
    "die Zeitzone des Terminals, wie Europe/Amsterdam (üblich: UTC)",
  ]),
];

const abilitySettings: readonly SettingRow<Values>[] = [
  setting("withoutCvv", "worksWithoutCvv", yesOrNo({ yes: "without-cvv", no: "with-cvv" }), [
    "the acquirer accepts payments without CVV",
    "der Acquirer nimmt Zahlungen ohne CVV an",
  ]),
  setting("partialReversal", "partialReversal", yesOrNo(), [
    "it can reverse a part of a charge (default)",
    "er kann einen Teil einer Belastung stornieren (üblich)",
  ]),
  setting("partialCapture", "partialCapture", yesOrNo(), [
    "it can capture a part of a hold (default)",
    "er kann einen Teil einer Vormerkung einziehen (üblich)",
  ]),
  setting("refundAfter", "refundAfter", form("text", "when", readRefundAfter), [
    "returns are refunds: never (default), always, 24h, or 23:00 daily",
    "Erstattungen gehen als Gutschrift: never (üblich), always, 24h oder täglich ab 23:00",
  ]),
  setting("partialAs", "partialAs", partialAs, [
    "returns of a part: reversal (default) or refund",
    "Erstattungen eines Teils: Storno (üblich) oder Gutschrift",
  ]),
  setting("holdDays", "holdDays", optional(whole("days", 1, holdDaysMax)), [
    "how long a hold lives; a later capture is refused (default 7)",
    "wie lange eine Vormerkung gilt; ein späterer Einzug wird abgelehnt (üblich: 7)",
  ]),
  setting("payouts", "payouts", onOff, [
    "the acquirer takes payouts to cards",
    "der Acquirer nimmt Auszahlungen auf Karten an",
  ]),
  setting("payoutRepeats", "payoutRepeatHours", optional(whole("hours", 1, payoutHoursMax)), [
    "for how many hours the host recognises a repeated payout; none: it does not",
    "wie viele Stunden der Host eine wiederholte Auszahlung erkennt; none: gar nicht",
  ]),
  setting("payoutFields", "payoutFields", optional(form("text", "fields", readPayoutFields)), [
    "fields of a payout that the acquirer demands, by commas",
    "Felder einer Auszahlung, die der Acquirer verlangt, durch Kommas getrennt",
  ]),
  setting("currencies", "currencies", form("text", "codes", readCurrencies), [
    "only these, by commas; all for every currency",
    "nur diese, durch Kommas getrennt; all für alle Währungen",
  ]),
];

const otherSettings: readonly SettingRow<Values>[] = [
  setting("fee", "fee", optional(fee), [
    "the acquirer's fee, like 2.5%+30; none for no fee",
    "die Gebühr des Acquirers, wie 2.5%+30; none: keine",
  ]),
  setting("health", "health", onOff, [
    "whether the gate gets fewer orders while it is not healthy (default on)",
    "ob das Gate weniger Zahlungen bekommt, solange es nicht gesund ist (üblich: an)",
  ]),
  setting("healthWindow", "healthWindowS", optional(whole("seconds", 1, 3600)), [
    "its health is judged by the charges of so many seconds (default 60)",
    "die Gesundheit wird an den Belastungen so vieler Sekunden gemessen (üblich: 60)",
  ]),
  setting("healthMin", "healthMin", optional(whole("n", 1)), [
    "and by at least so many charges (default 20)",
    "und an mindestens so vielen Belastungen (üblich: 20)",
  ]),
  setting("healthFailures", "healthFailures", optional(whole("percent", 1, 100)), [
    "unhealthy with so many unanswered or refused by the host, in per cent (default 20)",
    "ungesund, wenn so viele unbeantwortet oder vom Host abgewiesen sind, in Prozent (üblich: 20)",
  ]),
  setting("healthDrop", "healthDrop", optional(whole("percent", 1, 100)), [
    "unhealthy if the approval rate falls by so much of the usual, in per cent (default 50)",
    "ungesund, wenn die Genehmigungsquote um so viel unter die übliche fällt (üblich: 50 Prozent)",
  ]),
  setting("healthSlow", "healthSlow", optional(whole("times", 2, 100)), [
    "unhealthy if answers take so many times as long as usual (default 5)",
    "ungesund, wenn Antworten so viele Male so lange dauern wie üblich (üblich: 5)",
  ]),
  setting("healthProbe", "healthProbe", optional(whole("percent", 1, 50)), [
    "the share of its orders that it gets while it is unhealthy, in per cent (default 2)",
    "der Anteil seiner Zahlungen, den es bekommt, solange es ungesund ist (üblich: 2 Prozent)",
  ]),
  setting("recurrentInitiator", "initiator", optional(oneOf("word", ["CARDHOLDER", "MERCHANT"])), [
    "CARDHOLDER or MERCHANT, unless the payment says it",
    "CARDHOLDER oder MERCHANT, wenn die Zahlung es nicht angibt",
  ]),
  setting("recurrentScenario", "scenario", optional(oneOf("word", ["REGULAR", "IRREGULAR"])), [
    "REGULAR or IRREGULAR, unless the payment says it",
    "REGULAR oder IRREGULAR, wenn die Zahlung es nicht angibt",
  ]),
  setting("sandbox", "sandbox", onlyYes, [
    "it connects to the sandbox; for staging and rehearsals",
    "es verbindet mit der Sandbox; für Staging und den Probebetrieb",
  ]),
];

/** The amounts of a gate's limits have the decimals of `currency`, one of its currencies. */
export const gateTable = (currency?: Currency): readonly SettingRow<Values>[] => [
  ...hostSettings,
  ...messageSettings,
  ...abilitySettings,
  setting("min", "amountMin", optional(amountIn(currency)), [
    "smaller amounts go through another gate; none for no limit",
    "kleinere Beträge gehen über ein anderes Gate; none: keine Grenze",
  ]),
  setting("max", "amountMax", optional(amountIn(currency)), [
    "larger amounts go through another gate; none for no limit",
    "größere Beträge gehen über ein anderes Gate; none: keine Grenze",
  ]),
  ...otherSettings,
];

export type ReadGate = Pick<Gate, "kind" | "settings">;
type Allowed = Pick<Config, "environment" | "allow" | "rehearsal">;

/**
 * Settings that are not given keep their values. In production, a new gate uses TLS by default, and
 * a gate without TLS is refused, unless the operator allows such gates.
 */
export function readGate(
  given: GivenSettings,
  known?: ReadGate,
  config: Allowed = { environment: "staging", allow: "", rehearsal: false },
): ReadGate | Problem {
  const isProduction = config.environment === "production";
  if (isProduction && given["tls"] === "off" && !allows(config, "plain-gates")) {
    return new Problem("In production gates use TLS: add plain-gates to GW_ALLOW for plain TCP.");
  }
  const currency = findLimitCurrency(given, known);
  if (currency instanceof Problem) return currency;
  const values = readSettings(
    ...([gateTable(currency), given] as const),
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
    ...others,
    ...address,
    ...(Object.keys(recurrent).length > 0 && { recurrent }),
    ...(Object.keys(refunds).length > 0 && { refunds }),
  });
  if (checked instanceof Problem) return checked;
  const read = { kind, settings: checked };
  return findGateFault(config, "The gate", read) ?? read;
}

/** Returns the currency of a gate's limits. Its currencies have the same number of decimals. */
function findLimitCurrency(given: GivenSettings, known?: ReadGate): Currency | undefined | Problem {
  const { currencies, min = known?.settings.amountMin, max = known?.settings.amountMax } = given;
  const codes =
    currencies === undefined ? known?.settings.currencies : readCurrencies(String(currencies));
  if (codes instanceof Problem) return codes;
  const [first, ...others] = (codes ?? []).map(getCurrency);
  const isLimited = [min, max].some((limit) => limit !== undefined && limit !== "none");
  const isClear = first && others.every(({ exponent }) => exponent === first.exponent);
  if (!isLimited || isClear) return first;
  return new Problem(
    "A gate with min or max needs currencies, with the same number of decimals for each.",
  );
}

const newGate = { worksWithoutCvv: false, partialReversal: true, partialCapture: true };

export function gateValuesOf({ kind, settings: { host, port, ...settings } }: ReadGate): Values {
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

/** Reads a list of currencies. The word `all` gives undefined. */
export function readCurrencies(text: string): readonly string[] | undefined | Problem {
  if (text === "all") return undefined;
  const codes = text.split(",").map((code) => code.trim());
  const unknown = codes.find((code) => findCurrency(code) === undefined);
  if (unknown === undefined) return [...new Set(codes)];
  return new Problem(`${unknown} is no currency: write codes like USD,EUR, or all.`);
}

const payoutFields = [
  ...["first_name", "last_name", "email", "phone", "address1", "city", "zip_code", "country"],
  ...["state", "birthday", "ipaddress", "purpose"],
  ...["expire_month", "expire_year", "card_printed_name"],
];

function readPayoutFields(given: string): readonly string[] | Problem {
  const fields = given.split(",").map((field) => field.trim());
  if (fields.every((field) => payoutFields.includes(field))) return fields;
  return new Problem(`A payout can demand these fields: ${payoutFields.join(", ")}.`);
}

/** A longer list is probably a mistake, and each address costs a DNS lookup. */
const addressesMax = 16;

function readAddresses(text: string, name: string): HostAddresses | Problem {
  const read: Address[] = [];
  const texts = text.split(",");
  if (texts.length > addressesMax) {
    return new Problem(`${name} has at most ${addressesMax} addresses.`);
  }
  for (const each of texts) {
    const address = readAddress(each.trim(), name);
    if (address instanceof Problem) return address;
    read.push(address);
  }
  const [first, ...otherAddresses] = read;
  if (first === undefined) return new Problem(`${name} is an address and a port.`);
  return otherAddresses.length === 0 ? first : { ...first, otherAddresses };
}

function readAddress(text: string, name: string): Address | Problem {
  const [, bracketed, plain, port = ""] = /^(?:\[(.+)\]|([^:\s]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || Number(port) < 1 || Number(port) > 65_535) {
    return new Problem(`${name} is an address and a port, like host.example:8583, not ${text}.`);
  }
  return { host, port: Number(port) };
}

export function printAddresses(settings: HostAddresses): string {
  const print = (host: string, port: number) =>
    host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
  return addressesOf(settings)
    .map(({ host, port }) => print(host, port))
    .join(",");
}

const tlsOptions = ["tlsRoots", "tlsName", "tlsCertificate", "tlsKey"];

/** Returns undefined if the certificate files on this machine show no fault. */
export async function findTlsFault(
  settings: GateSettings,
  given: GivenSettings,
): Promise<Problem | undefined> {
  const useless = tlsOptions.some((name) => given[name] !== undefined && given[name] !== "none");
  if (settings.tls !== true) {
    return useless ? new Problem("The settings of TLS are of no use unless tls is on.") : undefined;
  }
  if ((settings.tlsCertificateFile === undefined) !== (settings.tlsKeyFile === undefined)) {
    return new Problem("tls-certificate and tls-key belong together.");
  }
  const texts = await readCertificateFiles(certificateFilesOf(settings)).catch(messageOf);
  return typeof texts === "string" ? new Problem(`${texts}.`) : undefined;
}
