/**
 * The request that began an order, and the order's steps. Each step has the facts of its event, the
 * messages that led to it, and the status that the merchant's requests received from then on. Facts
 * have names, and messages are stored with masked secrets.
 */

import { meetRecorded } from "../orders/advance.ts";
import type { EventKind, OrderEvent } from "../orders/events.ts";
import type { KeptMessage } from "../orders/messages.ts";
import type { Answer, Order } from "../orders/order.ts";
import { noCard } from "../orders/payment-page.ts";
import { initialOf, newTransaction } from "../orders/transactions.ts";
import { beginningOnPage } from "../orders/transitions.ts";
import { Failure } from "../values/failure.ts";
import { formatAmount } from "../values/money.ts";
import { asInstant, type Instant, parseDate } from "../values/time.ts";
import { wireTypeOf } from "../views/status.ts";
import type { Configured, HistoryEntry } from "./reads.ts";

export type TimelineOptions = {
  /** Returns the reply to the merchant's status request. */
  readonly statusTextOf: (order: Order) => Promise<string>;
  /** Unpacks an event from the history. */
  readonly unpackEvent: (stored: object) => OrderEvent;
  /** Returns the messages of a charge. They are not stored, because they follow from the order. */
  readonly chargeMessagesOf: (order: Order, answer: Answer) => readonly KeptMessage[];
  readonly viewMessage: (order: Order, message: KeptMessage) => MessageView;
};

type Named = { readonly name: string; readonly value: string };
/** A message for the screen. `raw` is encoded again from the fields that are shown. */
type MessageView = {
  readonly fields: readonly Named[];
  readonly raw?: string;
};

export async function viewTimeline(
  order: Order,
  history: readonly HistoryEntry[],
  options: TimelineOptions & Reader,
) {
  const recorded = history.map(({ at, kind, detail }) => ({
    at: asInstant(parseDate(`${at.replace(" ", "T")}Z`) ?? 0),
    event: options.unpackEvent({ ...detail, kind }),
  }));
  const orders = replay(order, recorded);
  const entries = history.map(async ({ version, kind, node, detail }, index) => {
    const { at, event } = recorded[index] ?? { at: asInstant(0), event: undefined };
    const [before, after] = [orders?.[index - 1], orders?.[index]];
    // All steps of a commit became visible at the same time.
    const isVisible = history[index + 1]?.version !== version;
    const rules = options.isOperator ? rulesOf(event) : [];
    const messages = event && options.isOperator ? messagesOf(event, before ?? order, options) : [];
    return {
      at,
      version,
      event: shownEventOf(kind as EventKind, String(detail["cause"] ?? "")),
      ...(options.isOperator && { node }),
      facts: { ...amountOf(kind, after), ...factsOf(detail, options) },
      ...(rules.length > 0 && { rules }),
      ...(messages.length > 0 && { messages }),
      ...(after && isVisible && { seen: await options.statusTextOf(after) }),
    };
  });
  return Promise.all(entries);
}

/**
 * The names of events whose message was not sent or got no answer, so that it found nothing out.
 */
const unsent = {
  charge_not_found: "inquiry_not_sent",
  reversal_unanswered: "reversal_not_sent",
  repeat_unanswered: "repeat_not_sent",
} as const;
const unsentCauses = [
  "not_sent",
  "cannot be asked",
  "gate_unavailable",
  "card_not_held",
  "too_late",
];
export type ShownEvent =
  | EventKind
  | (typeof unsent)[keyof typeof unsent]
  | "inquiry_unanswered"
  | "charge_not_confirmed";

export function shownEventOf(kind: EventKind, cause: string): ShownEvent {
  if (kind in unsent && unsentCauses.includes(cause)) return unsent[kind as keyof typeof unsent];
  if (kind !== "charge_not_found" || cause === "not_found") return kind;
  return cause.startsWith("answered ") ? "charge_not_confirmed" : "inquiry_unanswered";
}

/**
 * Events with the acquirer's answer to a charge. For follow-ups, the timeline shows the stored
 * messages.
 */
const ofCharges: ReadonlySet<OrderEvent["kind"]> = new Set([
  ...(["authorized", "refused", "refused_in_doubt", "amount_in_doubt"] as const),
  ...(["amount_refused", "approved_in_part", "authentication_demanded"] as const),
]);

function messagesOf(event: OrderEvent, before: Order, options: TimelineOptions) {
  const kept = event.messages ?? [];
  const answer = "answer" in event && ofCharges.has(event.kind) ? event.answer : undefined;
  const isDerived = kept.length === 0 && answer !== undefined;
  const messages = isDerived ? options.chargeMessagesOf(before, answer) : kept;
  return messages.map((message) => {
    const { at, way, type } = message;
    return { at, way, type, isDerived, ...options.viewMessage(before, message) };
  });
}

/** The places of facts in an event, and whether a merchant's user sees them. */
// biome-ignore format: a table
const shownFacts = [
  ["reason code", true],  ["reason detail", false], ["cause", false], ["code", true],
  ["answer responseCode", true], ["answer approvalCode", true], ["answer networkId", true],
  ["gate id", false], ["gate choice", false], ["gate terminalId", true],
  ["threeds version", true], ["threeds directory", false],
  ["authentication status", true], ["authentication eci", true],
  ["request operation", true], ["request by", true], ["request comment", false], ["serialNumber", true],
  ["chargeback stage", true], ["chargeback reason", true], ["chargeback caseId", true],
  ["caseId", true], ["outcome", true], ["who", false], ["by", false], ["why", false], ["node", false], ["what", true], ["detail", false], ["reference", true],
] as const satisfies readonly (readonly [path: string, forMerchants: boolean])[];
/**
 * The facts that the timeline shows. A gate is shown by its name, or by its id if it was removed.
 */
export type FactName = (typeof shownFacts)[number][0] | "gate" | "amount";

/** Events that move money other than the charge, whose amount is that of the order. */
const movesOfMoney: readonly string[] = [
  "capture_asked",
  "return_asked",
  "void_asked",
  "captured",
  "returned",
  "settled_as_done",
  "settled_as_not_done",
] satisfies readonly EventKind[];

function amountOf(kind: string, after: Order | undefined) {
  if (after === undefined || !movesOfMoney.includes(kind)) return {};
  const { amount } = after.transaction;
  return { amount: `${formatAmount(amount)} ${amount.currency.code}` };
}

/**
 * Returns whether a login may be shown. Merchants' users see logins of their own merchant only, and
 * operators' logins contain no @.
 */
export function mayBeNamed(login: string, isOperator: boolean): boolean {
  return isOperator || login.includes("@");
}

type Reader = Pick<Configured, "gates"> & { readonly isOperator: boolean };

function factsOf(detail: HistoryEntry["detail"], { gates, isOperator }: Reader) {
  const shown = shownFacts.filter(([, forMerchants]) => forMerchants || isOperator);
  const facts = shown.flatMap(([path]) => {
    const value = path.split(" ").reduce<unknown>(valueIn, detail);
    const isShown = typeof value === "string" || typeof value === "number";
    if (path === "request by" && !mayBeNamed(String(value), isOperator)) return [];
    if (!isShown || value === "") return [];
    const gate = path === "gate id" ? gates.get(String(value)) : undefined;
    return [gate === undefined ? ([path, String(value)] as const) : (["gate", gate.name] as const)];
  });
  // Every name is one of the table's names, so the type holds.
  return Object.fromEntries(facts) as Readonly<Partial<Record<FactName, string>>>;
}

function valueIn(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

/** Returns the rules that matched, with their results. None of their facts is personal data. */
function rulesOf(event: OrderEvent | undefined) {
  const findings = event !== undefined && "findings" in event ? (event.findings ?? []) : [];
  return findings.map(({ kind, scope, ...found }) => ({
    kind,
    scope,
    ...("missing" in found
      ? { missing: found.missing, facts: "" }
      : { action: found.action, facts: JSON.stringify(found.facts) }),
  }));
}

type Field = { readonly name: string; readonly value: string };

function fieldsOf({
  clientOrderId,
  purchase,
}: Order): readonly (readonly [string, string | undefined])[] {
  const { customer, urls, amount, browser } = purchase;
  return [
    ["client_orderid", clientOrderId],
    ["order_desc", purchase.description],
    ["amount", formatAmount(amount)],
    ["currency", amount.currency.code],
    ["ipaddress", purchase.ipAddress],
    ["first_name", customer.firstName],
    ["last_name", customer.lastName],
    ["email", customer.email],
    ["phone", customer.phone],
    ["cell_phone", customer.cellPhone],
    ["birthday", customer.birthday],
    ["address1", customer.address],
    ["city", customer.city],
    ["state", customer.state],
    ["zip_code", customer.zipCode],
    ["country", customer.country],
    ["site_url", purchase.siteUrl],
    ["purpose", purchase.purpose],
    ["comment", purchase.comment],
    ["merchant_data", purchase.merchantData],
    ["redirect_url", urls.redirect],
    ["redirect_success_url", urls.redirectSuccess],
    ["redirect_fail_url", urls.redirectFail],
    ["server_callback_url", urls.serverCallback],
    ["notify_url", urls.notify],
    ...Object.entries(browser ?? {}),
  ];
}

/** The merchant's request by the names of the merchant interface, with a masked card. */
export function sentFieldsOf(order: Order): readonly Field[] {
  const { bin, lastFour, holderName, expiryMonth, expiryYear } = order.card;
  const card = [
    ["credit_card_number", lastFour === "" ? "" : `${bin}****${lastFour}`],
    ["card_printed_name", holderName],
    ["expire_month", expiryMonth],
    ["expire_year", expiryYear],
  ] as const;
  return [...fieldsOf(order), ...card].flatMap(([name, value]) => (value ? [{ name, value }] : []));
}

/**
 * The same request as a command for a shell. The command contains placeholders for the card, the
 * CVV and the control checksum, so only a person who has these values can use it. `address` is
 * where merchants send requests, like `https://pay.example/gw/api/v2`.
 */
export function curlOf(order: Order, address: string): string {
  const { holderName, expiryMonth, expiryYear } = order.card;
  const fields = [
    ...fieldsOf(order),
    ...([
      ["credit_card_number", "CARD_NUMBER"],
      ["card_printed_name", holderName],
    ] as const),
    ...([
      ["expire_month", expiryMonth],
      ["expire_year", expiryYear],
      ["cvv2", "CVV"],
      ["control", "CONTROL"],
    ] as const),
  ];
  const given = fields.flatMap(([name, value]) => (value ? [`${name}=${value}`] : []));
  const data = given.map((pair) => `  --data-urlencode ${quote(pair)}`);
  const url = `${address}/${wireTypeOf(initialOf(order).kind)}/${order.endpointId}`;
  return [`curl -s ${quote(url)}`, ...data].join(" \\\n");
}

/**
 * Quotes a text so that the shell interprets nothing in it. Control characters never reach a
 * terminal.
 */
function quote(text: string): string {
  return `'${text.replaceAll(/\p{Cc}/gu, " ").replaceAll("'", "'\\''")}'`;
}

type Recorded = { readonly event: OrderEvent; readonly at: Instant };

/**
 * Reconstructs the order after each event of its history. The replies to the merchant's status
 * requests and the sent messages are derived from these states. Returns undefined if the history is
 * incomplete, or if this version of the gateway would write it differently.
 */
function replay(order: Order, recorded: readonly Recorded[]): readonly Order[] | undefined {
  const orders: Order[] = [];
  let now = draftOf(order);
  for (const { event, at } of recorded) {
    const next = meetRecorded(now, event, at);
    if (next instanceof Failure) return undefined;
    orders.push(next);
    now = next;
  }
  const { version, transaction } = order;
  const isWhole = now.version === version && now.transaction.stage === transaction.stage;
  return isWhole ? orders : undefined;
}

function draftOf({ chargebacks: _, page, ...order }: Order): Order {
  const { kind, serialNumber, authentication } = initialOf(order);
  const begun = newTransaction({ kind, serialNumber, amount: order.purchase.amount });
  const none = { version: 0, earlier: [], owed: undefined, deadlineAt: undefined };
  if (page === undefined) {
    // The authentication of a wallet's payment was part of the request, so it belongs to the first
    // state.
    const proof = order.purchase.wallet === undefined ? undefined : authentication;
    return { ...order, ...none, transaction: { ...begun, authentication: proof } };
  }
  return {
    ...order,
    ...none,
    card: noCard,
    page: { ...page, refused: [] },
    transaction: { ...begun, stage: beginningOnPage.stage },
  };
}
