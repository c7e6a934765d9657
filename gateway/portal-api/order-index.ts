/**
 * The index row with which the portal lists, searches and counts an order. It is derived from the
 * order alone. Each word starts with a letter for its kind, so that an amount is never mistaken for
 * the last four digits of a card.
 */
import { isDeviceNumber } from "../orders/card-reference.ts";
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
  /** The status of the transaction that began the order. */
  readonly outcome: string;
  readonly reason: FailureCode | "";
  readonly threeds: string;
  readonly overheadMs: number | null;
  readonly amount: number;
  /** The captured amount less refunds and chargebacks. Null unless the charge was approved. */
  readonly net: number | null;
  readonly currency: string;
  readonly network: string;
  readonly lastFour: string;
  readonly email: string;
  readonly name: string;
  readonly gate: string;
  readonly reference: string;
  readonly words: readonly string[];
  /**
   * The words of the customer's names and addresses. A search finds the order by the beginning of
   * any of these words.
   */
  readonly people: readonly string[];
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

/** Returns the state of the order's money. A refused follow-up does not change it. */
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

/** The letter with which words of each filter or kind of search begin. */
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
} as const;
/** The names of the filters of the list of orders. */
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
] as const;
type WordKind = keyof typeof letters;

export function wordOf(kind: WordKind, value: string): string {
  return `${letters[kind]}:${value.toLowerCase().replaceAll("\n", " ")}`;
}

/**
 * Makes the row. It runs for each sale, and object spreads or a loop over all fields would double
 * its cost.
 */
export function describeOrder(order: Order): IndexRow {
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
    // On a payment page, most of the time passes while the cardholder types.
    overheadMs: order.page === undefined ? overheadOf(initial, order.acceptedAt) : null,
    amount: Number(purchase.amount.minor),
    net: outcome === "approved" ? Number(totals.left.minor) : null,
    currency: purchase.amount.currency.code,
    network: card.network ?? "",
    lastFour: isDeviceNumber(order) ? "" : card.lastFour,
    email: purchase.customer.email ?? "",
    name: nameOf(order),
    gate: initial.identifiers?.gate.id ?? "",
    reference: sentIdentifiersOf(transaction)?.reference ?? "",
    words: [],
    people: peopleIn(order),
  };
  const add = (kind: WordKind, value: string) =>
    void (value === "" || row.words.push(wordOf(kind, value)));
  const text = formatAmount(purchase.amount);
  add("order", row.orderId);
  add("clientOrder", row.clientOrderId);
  add("lastFour", row.lastFour);
  add("amount", text);
  // A whole amount is also indexed without its cents.
  if (/\.0+$/.test(text)) add("amount", text.replace(/\.0+$/, ""));
  add("reference", row.reference);
  add("status", row.status);
  // Every order whose charge was approved has this word, so that the filter `approved` finds it.
  if (outcome === "approved") add("status", outcome);
  add("stage", row.stage);
  add("type", row.kind);
  add("endpoint", row.endpointId);
  add("gate", row.gate);
  add("currency", row.currency);
  add("network", row.network);
  add("merchant", row.merchantId);
  add("link", order.page?.linkId ?? "");
  // The figures count this result even after another transaction has followed.
  add("outcome", row.outcome);
  add("reason", row.reason);
  add("threeds", row.threeds);
  return row;
}

/** Returns the cardholder's name, or the customer's if the card has none. */
function nameOf({ card, purchase }: Order): string {
  const { firstName = "", lastName = "" } = purchase.customer;
  return card.holderName || `${firstName} ${lastName}`.trim();
}

/** Removes accents and capitals, so that a search for `muller` finds `Müller`. */
function fold(text: string): string {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}

const betweenWords = /[^\p{L}\p{N}]+/u;
/** A text with more words is not a name, and PostgreSQL refuses words of 2 kB. */
const [peopleMax, wordMax] = [16, 64];

/**
 * Returns the words of all names, the email address and its host. The part before the @ is also
 * split into words; the first, with which the address begins, and numbers are omitted.
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
 * Returns the time before the charge was sent and after its answer. Returns null if a cardholder
 * was authenticated.
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

/** The longest overhead that the column stores. Doubt may be settled months later. */
const overheadMaxMs = 3_600_000;

/** Returns the words that a search may mean. An order matches if it has any of them. */
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
 * Returns a PostgreSQL query for a person in the same search: each word of the search must begin a
 * word of the person or the host of the email address. Returns an empty text if the search cannot
 * be a person.
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

/** The upper bounds of the classes in which overhead is counted, in milliseconds. */
export const overheadClasses = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 5_000, 60_000] as const;

export type Figure = { readonly name: string; readonly key: string; readonly count: number };

/** Returns what the order adds to the figures of its minute, hour and day. */
export function figuresOf(row: Counted): readonly Figure[] {
  const { outcome, reason, threeds, overheadMs, net, currency } = row;
  const isRefused = outcome === "declined" || outcome === "filtered" || outcome === "error";
  const within = overheadClasses.find((bound) => (overheadMs ?? 0) <= bound);
  return [
    { name: "outcome", key: outcome, count: 1 },
    ...(isRefused && reason !== "" ? [{ name: "reason", key: reason, count: 1 }] : []),
    ...(threeds === "" ? [] : [{ name: "threeds", key: threeds, count: 1 }]),
    ...(overheadMs === null ? [] : [{ name: "overhead", key: String(within ?? "more"), count: 1 }]),
    ...(net === null ? [] : [{ name: "amount", key: currency, count: net }]),
  ];
}

export type Counted = Pick<
  IndexRow,
  "outcome" | "reason" | "threeds" | "overheadMs" | "net" | "currency"
>;
