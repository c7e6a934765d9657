/** The settings of an endpoint and its gates as operators write them. */
import type { Gate } from "../../acquirers/gates.ts";
import type { Config } from "../../config/config.ts";
import {
  callbackMethods,
  type Endpoint,
  type EndpointSettings,
  profileRules,
} from "../../orders/merchant.ts";
import type { RankedGate } from "../../storage/configuration/administration.ts";
import type { Configuration } from "../../storage/configuration/configuration.ts";
import type { Currency } from "../../values/iso-codes.ts";
import { Problem } from "../../values/problem.ts";
import { printSwitch } from "../readers.ts";
import {
  amountIn,
  checkLimits,
  type Form,
  fee,
  form,
  type GivenSettings,
  oneOf,
  onOff,
  optional,
  readSettings,
  type SettingRow,
  setting,
  text,
  whole,
} from "../settings.ts";
import { findNamelessPage, findPlainOrigin, pageTable } from "./page-settings.ts";

/** Finer weights would not change how orders are distributed. */
const weightMax = 1000;
const rankMax = 99;
const policies = ["off", "when_possible", "always"] as const;
const waivable = ["email", "phone", "address1", "city", "zip_code", "country", "state"];
const descriptor = text("text", /^[ -~]{1,25}$/, "1 to 25 printable characters");

const tellsChargebacks: Form<boolean | "transactions"> = {
  ...oneOf("on|off|transactions", ["on", "off", "transactions"]),
  read: (given, name) => (given === "transactions" ? given : onOff.read(given, name)),
  print: (value) => (typeof value === "boolean" ? printSwitch(value) : value),
};

const otherSettings: readonly SettingRow<EndpointSettings>[] = [
  setting("descriptor", "descriptor", optional(descriptor), [
    "text on the cardholder's statement",
    "Text auf dem Kontoauszug",
  ]),
  setting("optional", "optionalFields", optional(form("text", "fields", readOptionalFields)), [
    "fields of a sale that are optional, by commas",
    "optionale Felder einer Zahlung, durch Kommas getrennt",
  ]),
  setting("fee", "fee", optional(fee), [
    "the merchant's fee, like 2.5%+30",
    "die Gebühr des Händlers, wie 2.5%+30",
  ]),
  setting("partialApprovals", "acceptsPartialApprovals", onOff, [
    "accept an approval of less than the amount",
    "eine Genehmigung über weniger als den Betrag annehmen",
  ]),
  setting("callbacks", "callbackMethod", oneOf(callbackMethods.join("|"), callbackMethods), [
    "how callbacks are sent: in the URL, as a form, as JSON",
    "wie Callbacks gesendet werden: in der Adresse, als Formular, als JSON",
  ]),
  setting("chargebacks", "tellsChargebacks", tellsChargebacks, [
    "report chargebacks in status and callbacks: on, or as transactions of the order",
    "Rückbelastungen in Status und Callbacks melden: on, oder als Transaktionen der Zahlung",
  ]),
  setting("voidAs", "voidAs", oneOf("void|reversal", ["void", "reversal"]), [
    "the type of a void in status and callbacks, for older client libraries: reversal",
    "die Art einer Rücknahme in Status und Callbacks, für ältere Programme: reversal",
  ]),
  setting("profiles", "profiles", oneOf(profileRules.join("|"), profileRules), [
    "register cards for recurring payments without a payment; verified: ask the issuer first",
    "Karten ohne Zahlung für wiederkehrende Zahlungen registrieren; verified: Aussteller fragen",
  ]),
  setting("moto", "moto", onOff, [
    "accept orders by mail or telephone, without 3-D Secure",
    "Bestellungen per Post oder Telefon annehmen, ohne 3-D Secure",
  ]),
  setting("exemptions", "exemptions", onOff, [
    "accept the merchant's exemptions from authentication",
    "Ausnahmen des Händlers von der Authentifizierung annehmen",
  ]),
  setting("oauthOnly", "oauthOnly", onOff, [
    "accept only v4 requests, which are signed by OAuth",
    "nur Anfragen der Version 4 annehmen, die mit OAuth signiert sind",
  ]),
  setting("plainAddresses", "plainAddresses", onOff, [
    "in production, accept http:// return and callback addresses",
    "in Produktion http://-Adressen für Rückkehr und Callbacks annehmen",
  ]),
  setting("privateCallbacks", "privateCallbacks", onOff, [
    "callbacks may go to GW_CALLBACK_PRIVATE_NETWORKS and GW_CALLBACK_ALLOWED_NAMES",
    "Callbacks dürfen an GW_CALLBACK_PRIVATE_NETWORKS und GW_CALLBACK_ALLOWED_NAMES gehen",
  ]),
  ...pageTable,
  setting("hostedFields", "hostedFields", onOff, [
    "the sites of embed-origins may put single card fields into their own pages",
    "die Websites aus embed-origins dürfen einzelne Kartenfelder in ihre Seiten einbetten",
  ]),
];

/** Amounts are in the endpoint's currency. */
export const endpointTable = (currency?: Currency): readonly SettingRow<EndpointSettings>[] => [
  setting("3ds", "threeDSecure", oneOf("policy", policies), [
    "off, when_possible or always",
    "aus, wenn möglich oder immer",
  ]),
  setting("min", "amountMin", optional(amountIn(currency)), [
    "smaller amounts are filtered",
    "kleinere Beträge werden gefiltert",
  ]),
  setting("max", "amountMax", optional(amountIn(currency)), [
    "larger amounts are filtered",
    "größere Beträge werden gefiltert",
  ]),
  setting("payouts", "payouts", onOff, [
    "accept payouts to cards, through gates that send them",
    "Auszahlungen auf Karten annehmen, über Gates, die sie senden",
  ]),
  setting("payoutMin", "payoutMin", optional(amountIn(currency)), [
    "smaller payouts are refused",
    "kleinere Auszahlungen werden abgewiesen",
  ]),
  setting("payoutMax", "payoutMax", optional(amountIn(currency)), [
    "larger payouts are refused",
    "größere Auszahlungen werden abgewiesen",
  ]),
  setting("payoutDayMax", "payoutDayMax", optional(amountIn(currency)), [
    "payouts beyond this sum of a day are refused",
    "Auszahlungen über diese Summe eines Tages hinaus werden abgewiesen",
  ]),
  setting("payoutCardMax", "payoutCardMax", optional(whole("n", 1)), [
    "further payouts of a day to the same card are refused",
    "weitere Auszahlungen eines Tages auf dieselbe Karte werden abgewiesen",
  ]),
  ...otherSettings,
];

/** Settings that are not given keep their values. */
export function readEndpointSettings(
  given: GivenSettings,
  currency: Currency,
  known: EndpointSettings = { threeDSecure: "off" },
  { environment }: Pick<Config, "environment"> = { environment: "staging" },
): EndpointSettings | Problem {
  const settings = readSettings(endpointTable(currency), given, known);
  if (settings instanceof Problem) return settings;
  const areGiven = environment === "production" && given["embedOrigins"] !== undefined;
  const fault = areGiven ? findPlainOrigin(settings) : undefined;
  return fault ?? findNamelessPage(settings, given) ?? checkLimits(settings);
}

function readOptionalFields(given: string): readonly string[] | Problem {
  const fields = given.split(",").map((field) => field.trim());
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

/** A gate is written `name`, `name:rank` or `name:rank:weight`. Rank and weight default to 1. */
export function readGatePlaces(
  texts: readonly string[],
  gates: Iterable<Gate>,
): readonly RankedGate[] | Problem {
  const byName = new Map([...gates].map((gate) => [gate.name, gate.id]));
  const places: RankedGate[] = [];
  for (const each of texts) {
    const [name = "", rank = "1", weight = "1", ...more] = each.split(":");
    const gateId = byName.get(name);
    if (gateId === undefined) return new Problem(`There is no gate ${name}.`);
    if (more.length > 0 || !isWithin(rank, rankMax) || !isWithin(weight, weightMax)) {
      return new Problem(
        `${each} is no place for a gate: write name:rank:weight, the rank from 1 to ${rankMax} ` +
          `and the weight from 1 to ${weightMax}.`,
      );
    }
    if (places.some((place) => place.gateId === gateId)) {
      return new Problem(`The gate ${name} is named twice.`);
    }
    places.push({ gateId, rank: Number(rank), weight: Number(weight) });
  }
  return places.length === 0 ? new Problem("An endpoint needs at least one gate.") : places;
}

export function placesOf({ gates }: Pick<Endpoint, "gates">): readonly string[] {
  return gates.map(({ name, rank, weight }) => `${name}:${rank}:${weight}`);
}

function isWithin(given: string, most: number): boolean {
  return /^[1-9]\d{0,5}$/.test(given) && Number(given) <= most;
}
