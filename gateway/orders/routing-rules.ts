/**
 * The routing rules of an endpoint (decision 0096). Their conditions are read once, when the
 * configuration is loaded, and become functions of a payment. The first rule whose conditions are
 * all met decides which gates may have the payment.
 */
import { type Network, networks } from "../values/card-number.ts";
import { type Currency, countryCodes, findAlpha2, findCurrency } from "../values/iso-codes.ts";
import { commissionOf, parseAmount } from "../values/money.ts";
import { Problem } from "../values/problem.ts";
import type { Endpoint, EndpointGate, Route, Routed, RouteTexts } from "./merchant.ts";
import type { Issuer } from "./order.ts";

type Test = (payment: Routed, outcome: string | undefined) => boolean;
type Condition = {
  /** How a value is written, for the sentence that refuses another one. */
  readonly example: string;
  /** Returns undefined if the text cannot be read. */
  readonly read: (text: string, currency: Currency) => Test | undefined;
};

const outcomes = ["authenticated", "not_authenticated", "unsupported", "not_tried"];
const alpha2 = new Set(countryCodes);
const isAlpha3 = (code: string) => !alpha2.has(code) && findAlpha2(code) !== undefined;
const among = (words: readonly string[]) => (word: string) => words.includes(word);

// biome-ignore format: a table
const conditions: Readonly<Record<string, Condition>> = {
  "network":        oneOf("VISA,MASTERCARD", among(networks), ({ card }) => card.network),
  "bin":            { example: "400000..400099,412345", read: readBins },
  "issuer-country": oneOf("DEU,AUT", isAlpha3, ({ card }) => card.issuer?.country),
  "funding":        oneOf("credit, debit or prepaid", among(["credit", "debit", "prepaid"]), ({ card }) => card.issuer && fundingOf(card.issuer)),
  "currency":       oneOf("EUR,USD", (code) => findCurrency(code) !== undefined, ({ transaction }) => transaction.amount.currency.code),
  "amount":         { example: "100.., ..50 or 50..100", read: readAmounts },
  "initiator":      oneOf("cardholder or merchant", among(["cardholder", "merchant"]), ({ purchase }) => purchase.credential?.initiator === "MERCHANT" ? "merchant" : "cardholder"),
  "wallet":         oneOf("walleta, walletb or card", among(["walleta", "walletb", "card"]), ({ purchase }) => purchase.wallet?.type.split("_")[0] ?? "card"),
  "3ds":            oneOf("authenticated, not_authenticated, unsupported or not_tried", among(outcomes), (_, outcome) => outcome?.toLowerCase()),
  "time":           { example: "22:00..06:00 (UTC)", read: readTimes },
};

export const conditionNames: readonly string[] = Object.keys(conditions);

/** The conditions come before the result, each as it was typed. */
export function printRoute(texts: RouteTexts): string {
  return [...conditionNames, "to"]
    .flatMap((name) => (texts[name] === undefined ? [] : [`${name}=${texts[name]}`]))
    .join(" ");
}

type Surroundings = Pick<Endpoint, "gates"> & { readonly currency: Currency };

/** The number is the rule's place in its list, from 1. */
export function readRoute(texts: RouteTexts, number: number, place: Surroundings): Route | Problem {
  const { to: target = "", ...wanted } = texts;
  const tests: Test[] = [];
  for (const [name, text] of Object.entries(wanted)) {
    const condition = conditions[name];
    if (condition === undefined) return new Problem(`There is no condition ${name}.`);
    const test = condition.read(text, place.currency);
    if (test === undefined) {
      return new Problem(`${name} is written like ${condition.example}, not ${text}.`);
    }
    tests.push(test);
  }
  const to = readTarget(target, place.gates);
  if (to instanceof Problem) return to;
  const { to: _, ...shown } = texts;
  const when = printRoute(shown) || "every payment";
  return {
    number,
    label: `rule ${number}: ${when}${to === "cheapest" ? "; by cost" : ""}`,
    knowsOutcome: wanted["3ds"] !== undefined,
    matches: (payment, outcome) => tests.every((test) => test(payment, outcome)),
    to,
  };
}

/** A rule that this version of the gateway cannot read decides nothing. */
export function compileRoutes(
  rules: readonly RouteTexts[] | undefined,
  place: Surroundings,
): readonly Route[] | undefined {
  return rules?.flatMap((texts, index) => {
    const route = readRoute(texts, index + 1, place);
    return route instanceof Problem ? [] : [route];
  });
}

/**
 * Returns the rule that decides the payment. The outcome of 3-D Secure is undefined while it is
 * open; a condition on it is not met then. Payouts follow the endpoint's ranks alone.
 */
export function findRoute(
  { routes }: Pick<Endpoint, "routes">,
  payment: Routed,
  isAuthenticating = false,
): Route | undefined {
  if (routes === undefined || payment.transaction.kind === "payout") return undefined;
  const { authentication } = payment.transaction;
  const outcome = isAuthenticating ? undefined : (authentication?.status ?? "not_tried");
  return routes.find((route) => route.matches(payment, outcome));
}

/** Ranks the gates by what a payment of the amount costs there; gates of unknown cost come last. */
export function rankByCost(
  gates: readonly EndpointGate[],
  { transaction: { amount } }: Routed,
): readonly EndpointGate[] {
  const costOf = ({ cost }: EndpointGate) => cost && commissionOf(cost, amount).minor;
  const costs = [...new Set(gates.map(costOf))].sort((one, other) => {
    if (one === undefined || other === undefined) return one === other ? 0 : one ? -1 : 1;
    return one < other ? -1 : 1;
  });
  return gates
    .map((gate) => ({ ...gate, rank: costs.indexOf(costOf(gate)) + 1 }))
    .sort((one, other) => one.rank - other.rank);
}

const placeForm = /^([A-Za-z0-9._-]{1,40})(?::([1-9]\d?)(?::([1-9]\d{0,2}|1000))?)?$/;

function readTarget(text: string, gates: readonly EndpointGate[]): Route["to"] | Problem {
  if (text === "refuse" || text === "cheapest") return text;
  const chosen: EndpointGate[] = [];
  for (const each of text.split(",")) {
    const [, name, rank = "1", weight = "1"] = placeForm.exec(each) ?? [];
    if (name === undefined) {
      return new Problem("to is cheapest, refuse, or gates like first:1:70,second:1:30,third:2.");
    }
    const gate = gates.find((known) => known.name === name);
    if (gate === undefined) return new Problem(`The endpoint has no gate ${name}.`);
    if (chosen.some(({ id }) => id === gate.id)) return new Problem(`${name} is named twice.`);
    chosen.push({ ...gate, rank: Number(rank), weight: Number(weight) });
  }
  return chosen.sort((one, other) => one.rank - other.rank);
}

function oneOf(
  example: string,
  isKnown: (word: string) => boolean,
  find: (payment: Routed, outcome: string | undefined) => Network | string | undefined,
): Condition {
  return {
    example,
    read(text) {
      const words = new Set(text.split(","));
      if (![...words].every(isKnown)) return undefined;
      return (payment, outcome) => words.has(find(payment, outcome) ?? "");
    },
  };
}

type Ordered = string | number | bigint;
type Range<Value> = { readonly from: Value | undefined; readonly to: Value | undefined };

/** Reads `from..to`, of which one end may be missing, or a single value. */
function readRange<Value>(
  text: string,
  read: (end: string) => Value | undefined,
): Range<Value> | undefined {
  const dots = text.indexOf("..");
  const [first, last] = dots < 0 ? [text, text] : [text.slice(0, dots), text.slice(dots + 2)];
  const [from, to] = [read(first), read(last)];
  const isRead = (from !== undefined || first === "") && (to !== undefined || last === "");
  return isRead && (from ?? to) !== undefined ? { from, to } : undefined;
}

function isWithin<Value extends Ordered>(value: Value, { from, to }: Range<Value>): boolean {
  return (from === undefined || value >= from) && (to === undefined || value <= to);
}

function isAscending<Value extends Ordered>({ from, to }: Range<Value>): boolean {
  return from === undefined || to === undefined || from <= to;
}

function readBins(text: string): Test | undefined {
  const ranges = text
    .split(",")
    .map((each) => readRange(each, (end) => (/^\d{6}$/.test(end) ? end : undefined)));
  if (!ranges.every((range) => range !== undefined && isAscending(range))) return undefined;
  return ({ card: { bin } }) => bin !== "" && ranges.some((each) => each && isWithin(bin, each));
}

function readAmounts(text: string, currency: Currency): Test | undefined {
  const range = readRange(text, (end) => parseAmount(end, currency)?.minor);
  if (range === undefined || !isAscending(range)) return undefined;
  return ({ transaction }) => isWithin(transaction.amount.minor, range);
}

const minuteMs = 60_000;
const dayMinutes = 24 * 60;

/** The end of the range is no part of it. A range may pass midnight. */
function readTimes(text: string): Test | undefined {
  const { from, to } = readRange(text, readMinute) ?? {};
  if (from === undefined || to === undefined || from === to) return undefined;
  return ({ acceptedAt }) => {
    const minute = Math.floor(acceptedAt / minuteMs) % dayMinutes;
    return from < to ? minute >= from && minute < to : minute >= from || minute < to;
  };
}

function readMinute(text: string): number | undefined {
  const [, hour, minute] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(text) ?? [];
  return hour === undefined ? undefined : Number(hour) * 60 + Number(minute);
}

const fundingByCode: Readonly<Record<string, string>> = {
  C: "credit",
  H: "credit",
  D: "debit",
  P: "prepaid",
};

/** BIN tables name the type in words, or by a letter. A charge card counts as credit. */
function fundingOf({ typeName = "", typeCode = "" }: Issuer): string | undefined {
  const [word] = /prepaid|debit|credit|charge/i.exec(typeName) ?? [];
  if (word === undefined) return fundingByCode[typeCode.toUpperCase()];
  return word.toLowerCase() === "charge" ? "credit" : word.toLowerCase();
}
