/**
 * Shows how an order developed: the request that began it, and its steps with the facts of the
 * event, the messages, and the reply that status requests got from then on. Only named facts are
 * shown, and secrets in messages were masked before the messages were stored.
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
  /** Returns the reply to a merchant's status request for this state of the order. */
  readonly statusTextOf: (order: Order) => Promise<string>;
  readonly unpackEvent: (stored: object) => OrderEvent;
  /**
   * The messages of a charge are not stored, because they can be computed from the order and the
   * acquirer's answer.
   */
  readonly chargeMessagesOf: (order: Order, answer: Answer) => readonly KeptMessage[];
  readonly viewMessage: (order: Order, message: KeptMessage) => MessageView;
};

type Named = { readonly name: string; readonly value: string };
/** `raw` is encoded again from the masked fields, and is therefore not the original message. */
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
    // The steps of one commit became visible at the same time, so only the last of them shows the
    // reply to status requests.
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

/** The names under which events are shown if their message could not be sent to the acquirer. */
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
 * Events with the acquirer's answer to a charge. The charge's messages are computed from the
 * answer, whereas the messages of follow-ups are stored.
 */
const ofCharges: ReadonlySet<OrderEvent["kind"]> = new Set([
  ...(["authorized", "refused", "refused_in_doubt", "amount_in_doubt"] as const),
  ...(["amount_refused", "approved_in_part", "approval_refused"] as const),
  ...(["authentication_demanded"] as const),
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

/** The path of a fact in the event, and whether merchants' users see the fact. */
// biome-ignore format: a table
const shownFacts = [
  ["reason code", true],  ["reason detail", false], ["cause", false], ["code", true],
  ["answer responseCode", true], ["answer approvalCode", true], ["answer networkId", true],
  ["answer avs", true], ["answer cvvResult", true],
  ["gate id", false], ["gate choice", false], ["gate terminalId", true],
  ["threeds version", true], ["threeds directory", false],
  ["authentication status", true], ["authentication eci", true],
  ["request operation", true], ["request by", true], ["request comment", false], ["serialNumber", true],
  ["chargeback stage", true], ["chargeback reason", true], ["chargeback caseId", true],
  ["caseId", true], ["outcome", true], ["who", false], ["by", false], ["why", false], ["node", false], ["what", true], ["detail", false], ["reference", true],
] as const satisfies readonly (readonly [path: string, forMerchants: boolean])[];
/** A gate is shown by its name, or by its id if the gate was removed. */
export type FactName = (typeof shownFacts)[number][0] | "gate" | "amount";

/** The timeline shows an amount for these events, but not for the charge: the order shows it. */
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
 * Merchants' users may see only the logins of their own merchant, which contain an @. The logins of
 * operators contain no @.
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
  // `Object.fromEntries` loses the type of the names. All of them are in `shownFacts`.
  return Object.fromEntries(facts) as Readonly<Partial<Record<FactName, string>>>;
}

function valueIn(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

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
    ["transaction_channel", purchase.channel],
    ["three_ds_preference", purchase.challengePreference],
    ["sca_exemption", purchase.scaExemption],
    ["redirect_url", urls.redirect],
    ["redirect_success_url", urls.redirectSuccess],
    ["redirect_fail_url", urls.redirectFail],
    ["server_callback_url", urls.serverCallback],
    ["notify_url", urls.notify],
    ...Object.entries(browser ?? {}),
  ];
}

/** The card number is masked. */
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
 * The `curl` command contains placeholders for the card number, the CVV and the checksum, so only a
 * person who has these values can use it. `address` is the URL to which merchants send requests,
 * such as `https://pay.example/gw/api/v2`.
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

/** Control characters are replaced by spaces, so that they never reach a terminal. */
function quote(text: string): string {
  return `'${text.replaceAll(/\p{Cc}/gu, " ").replaceAll("'", "'\\''")}'`;
}

type Recorded = { readonly event: OrderEvent; readonly at: Instant };

/**
 * Computes the state of the order after each event of its history. The timeline makes the replies
 * to status requests and the messages of a charge from these states. Returns undefined if the
 * history is incomplete, or if this version of the gateway would process the events differently.
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
    // The authentication of a wallet payment was part of the merchant's request, so it belongs to
    // the order's first state.
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
