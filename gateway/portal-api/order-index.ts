/**
 * Makes the index row with which the portal lists, searches and counts an order, from the order
 * alone. Each search word starts with a letter for its kind, so that an amount and the last four
 * digits of a card differ even if the digits are the same.
 */
import { isDeviceNumber } from "../orders/card-reference.ts";
import { packMovements } from "../orders/movements.ts";
import type { Order } from "../orders/order.ts";
import { isInDoubt } from "../orders/prior-attempts.ts";
import {
  initialOf,
  sentIdentifiersOf,
  type Totals,
  totalsOf,
  transactionsOf,
} from "../orders/transactions.ts";
import type { FailureCode } from "../values/failure.ts";
import { getCurrency } from "../values/iso-codes.ts";
import { formatAmount, isZero } from "../values/money.ts";
import type { Instant } from "../values/time.ts";
import { statusOf, wireStageOf, wireTypeOf } from "../views/status.ts";

export type IndexRow = {
  readonly merchantId: string;
  readonly at: Instant;
  readonly orderId: string;
  readonly version: number;
  readonly endpointId: string;
  readonly clientOrderId: string;
  readonly kind: string;
  readonly stage: string;
  readonly status: MoneyState;
  /** The status of the charge, which is the order's first transaction. */
  readonly outcome: string;
  readonly reason: FailureCode | "";
  readonly threeds: string;
  readonly overheadMs: number | null;
  readonly amount: number;
  /** Minor units: captured minus refunds and chargebacks. Null unless the charge was approved. */
  readonly net: number | null;
  readonly currency: string;
  readonly network: string;
  readonly lastFour: string;
  readonly email: string;
  readonly name: string;
  readonly gate: string;
  /** ISO 3166-1 alpha-3; empty for an unknown issuer. */
  readonly issuerCountry: string;
  readonly reference: string;
  readonly words: readonly string[];
  /**
   * The words of the cardholder's and customer's names and of the email address. A search finds the
   * order by the beginning of any of these words.
   */
  readonly people: readonly string[];
  /** The movements of money that the merchant's statement books, encoded as one text. */
  readonly movements: string;
};

export const moneyStates = [
  "processing",
  "in_doubt",
  "held",
  "captured",
  "partly_refunded",
  "refunded",
  "voided",
  "charged_back",
  "cancelled",
  "verified",
  "paid_out",
  "declined",
  "filtered",
  "error",
] as const;
type MoneyState = (typeof moneyStates)[number];

/** A refused capture, refund or void does not change the state of the order's money. */
export function moneyStateOf(order: Order, totals: Totals = totalsOf(order)): MoneyState {
  const { kind, stage } = initialOf(order);
  const { held, charged, returned, standing, chargedBack } = totals;
  const status = statusOf(stage);
  if (isInDoubt(order)) return "in_doubt";
  if (status !== "approved") return status;
  if (kind === "account-verification") return "verified";
  if (kind === "payout") return "paid_out";
  if (!isZero(chargedBack)) return "charged_back";
  if (!isZero(held)) return "held";
  if (isZero(charged)) return "cancelled";
  if (isZero(returned)) return "captured";
  if (!isZero(standing)) return "partly_refunded";
  return isVoided(order) ? "voided" : "refunded";
}

function isVoided(order: Order): boolean {
  return transactionsOf(order).some(({ kind, stage }) => kind === "void" && stage === "approved");
}

/**
 * An index word starts with the letter of its kind. Each kind is a filter of the list of orders, or
 * a value for which a user can search.
 */
const letters = {
  order: "o",
  clientOrder: "c",
  email: "e",
  lastFour: "l",
  amount: "a",
  reference: "r",
  status: "s",
  stage: "t",
  type: "k",
  endpoint: "p",
  gate: "g",
  currency: "y",
  network: "n",
  merchant: "m",
  link: "u",
  outcome: "i",
  reason: "d",
  threeds: "h",
  country: "v",
  band: "b",
} as const;
export const filterNames = [
  "status",
  "stage",
  "type",
  "endpoint",
  "gate",
  "currency",
  "network",
  "link",
  "outcome",
  "reason",
  "threeds",
  "country",
  "band",
] as const;
type WordKind = keyof typeof letters;

export function wordOf(kind: WordKind, value: string): string {
  return `${letters[kind]}:${value.toLowerCase().replaceAll("\n", " ")}`;
}

/**
 * Makes the index row of an order. The function runs for each sale and avoids object spreads and
 * loops over all fields, which would double its cost. `zone` is the time zone of statements' days.
 */
export function describeOrder(order: Order, zone = "UTC"): IndexRow {
  const initial = initialOf(order);
  const { purchase, card, transaction } = order;
  const totals = totalsOf(order);
  const outcome = statusOf(initial.stage);
  const row: IndexRow & { readonly words: string[] } = {
    merchantId: order.merchantId,
    at: order.acceptedAt,
    orderId: order.id,
    version: order.version,
    endpointId: order.endpointId,
    clientOrderId: order.clientOrderId,
    kind: wireTypeOf(initial.kind),
    stage: wireStageOf(transaction.kind, transaction.stage),
    status: moneyStateOf(order, totals),
    outcome,
    reason: initial.reason?.code ?? "",
    threeds: initial.authentication?.status ?? "",
    // Not measured for a payment page, where most time passes while the cardholder types.
    overheadMs: order.page === undefined ? overheadOf(initial, order.acceptedAt) : null,
    amount: Number(purchase.amount.minor),
    net: outcome === "approved" ? Number(totals.left.minor) : null,
    currency: purchase.amount.currency.code,
    network: card.network ?? "",
    lastFour: isDeviceNumber(order) ? "" : card.lastFour,
    email: purchase.customer.email ?? "",
    name: nameOf(order),
    gate: initial.identifiers?.gate.id ?? "",
    issuerCountry: card.issuer?.country ?? "",
    reference: sentIdentifiersOf(transaction)?.reference ?? "",
    words: [],
    people: peopleIn(order),
    movements: packMovements(order, zone),
  };
  const add = (kind: WordKind, value: string) =>
    void (value === "" || row.words.push(wordOf(kind, value)));
  const text = formatAmount(purchase.amount);
  add("order", row.orderId);
  add("clientOrder", row.clientOrderId);
  add("lastFour", row.lastFour);
  add("amount", text);
  // An amount without cents, such as 10.00, is also indexed as 10.
  if (/\.0+$/.test(text)) add("amount", text.replace(/\.0+$/, ""));
  add("reference", row.reference);
  add("status", row.status);
  // An approved order is found by the filter `approved` even after a refund.
  if (outcome === "approved") add("status", outcome);
  add("stage", row.stage);
  add("type", row.kind);
  add("endpoint", row.endpointId);
  add("gate", row.gate);
  add("currency", row.currency);
  add("network", row.network);
  add("merchant", row.merchantId);
  add("link", order.page?.linkId ?? "");
  // The figures count the charge's result even after a capture or a refund has followed the charge.
  add("outcome", row.outcome);
  add("reason", row.reason);
  add("threeds", row.threeds);
  add("country", row.issuerCountry);
  add("band", bandOf(row));
  return row;
}

function nameOf({ card, purchase }: Order): string {
  const { firstName = "", lastName = "" } = purchase.customer;
  return card.holderName || `${firstName} ${lastName}`.trim();
}

/** Removes accents and capitals, so that a search for `muller` finds `Müller`. */
function fold(text: string): string {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}

const betweenWords = /[^\p{L}\p{N}]+/u;
/** The most words for an order and characters in a word. PostgreSQL refuses words of 2 kB. */
const [peopleMax, wordMax] = [16, 64];

/**
 * Returns the words by which a search finds the persons of an order: the words of all names, the
 * email address, its host, and the words before its @ except numbers and the first word. A search
 * for the first word finds the whole address, because the address begins with this word.
 */
function peopleIn({ card, purchase: { customer } }: Order): readonly string[] {
  const { firstName = "", lastName = "", email = "" } = customer;
  const names = fold(`${card.holderName} ${firstName} ${lastName}`).split(betweenWords);
  const address = fold(email).replaceAll(/\s/g, "");
  const [local = "", host = ""] = address.split("@");
  const further = local
    .split(betweenWords)
    .slice(1)
    .filter((word) => /\D/.test(word));
  const words = [...names, address, ...further, host && `@${host}`];
  const cut = words.filter((word) => word !== "").map((word) => word.slice(0, wordMax));
  return [...new Set(cut)].slice(0, peopleMax);
}

/**
 * Returns the time that the gateway itself added to a charge: from accepting the order until
 * sending the charge, and from the acquirer's answer until the end. Returns null without an answer,
 * or if the cardholder was authenticated during this time.
 */
function overheadOf(
  { threeds, identifiers, answer, finishedAt }: Order["transaction"],
  at: Instant,
) {
  if (threeds !== undefined || identifiers === undefined || answer === undefined) return null;
  if (finishedAt === undefined) return null;
  const spentMs = identifiers.transmittedAt - at + finishedAt - answer.processedAt;
  return Math.min(Math.max(0, spentMs), overheadMaxMs);
}

/** A charge in doubt may get its result months later. Its overhead is stored as this maximum. */
const overheadMaxMs = 3_600_000;

/** Returns the index words that a search may mean. An order with any of these words is found. */
export function wordsOfSearch(search: string): readonly string[] {
  const text = search.trim();
  if (text.includes("@")) return [wordOf("email", text)];
  const amount = text.replace(",", ".").replace(/^0+(?=\d)/, "");
  return [
    ...[wordOf("order", text), wordOf("clientOrder", text), wordOf("reference", text)],
    ...(/^\d{4}$/.test(text) ? [wordOf("lastFour", text)] : []),
    ...(/^\d+(\.\d+)?$/.test(amount) ? [wordOf("amount", amount)] : []),
  ];
}

/**
 * Returns a PostgreSQL text query: each word of the search must be the beginning of a word of a
 * name or email address. Returns an empty text if the search cannot be a person.
 */
export function personInSearch(search: string): string {
  const terms = fold(search)
    .split(/\s+/)
    .filter((term) => /[^\d.,]/.test(term) && term.length > 1);
  return terms.map(queryOf).join(" & ");
}

function queryOf(term: string): string {
  const begins = (word: string) => `'${word.slice(0, wordMax).replace(/['\\]/g, "$&$&")}':*`;
  if (term.includes("@")) return begins(term);
  const words = term.split(betweenWords).filter((word) => word !== "");
  const each = words.length > 1 ? ` | (${words.map(begins).join(" & ")})` : "";
  return `(${begins(term)} | ${begins(`@${term}`)}${each})`;
}

/** Upper bounds in milliseconds of the time that the gateway itself adds to a payment. */
export const overheadClasses = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 5_000, 60_000] as const;

/** The lower bounds of the bands of amounts, in whole units of the currency. */
const bands = [0, 10, 50, 200, 1_000] as const;

/** Returns the band of amounts with its currency, like `EUR 50..200`; it has no upper end. */
export function bandOf({ amount, currency }: Pick<IndexRow, "amount" | "currency">): string {
  const units = amount / 10 ** getCurrency(currency).exponent;
  const at = bands.findLastIndex((from) => units >= from);
  return `${currency} ${bands[at]}..${bands[at + 1] ?? ""}`;
}

/** The filters of the list of orders by which approvals are counted. */
export const sharedBy = ["gate", "network", "country", "band"] as const;

export type Figure = { readonly name: string; readonly key: string; readonly count: number };

export function figuresOf(row: Counted): readonly Figure[] {
  const { outcome, reason, threeds, overheadMs, net, currency } = row;
  const { gate, network, issuerCountry } = row;
  const isRefused = outcome === "declined" || outcome === "filtered" || outcome === "error";
  const values = { gate, network, country: issuerCountry, band: bandOf(row) };
  const isEnded = isRefused || outcome === "approved";
  const shares = sharedBy.filter((by) => isEnded && values[by] !== "");
  const within = overheadClasses.find((bound) => (overheadMs ?? 0) <= bound);
  return [
    { name: "outcome", key: outcome, count: 1 },
    ...(isRefused && reason !== "" ? [{ name: "reason", key: reason, count: 1 }] : []),
    ...(threeds === "" ? [] : [{ name: "threeds", key: threeds, count: 1 }]),
    ...(overheadMs === null ? [] : [{ name: "overhead", key: String(within ?? "more"), count: 1 }]),
    ...shares.map((by) => ({
      name: `by ${by}`,
      key: `${isRefused ? "refused" : outcome} ${values[by]}`,
      count: 1,
    })),
    ...(net === null ? [] : [{ name: "amount", key: currency, count: net }]),
  ];
}

export type Counted = Pick<
  IndexRow,
  | ("outcome" | "reason" | "threeds" | "overheadMs" | "net" | "currency")
  | ("amount" | "gate" | "network" | "issuerCountry")
>;
