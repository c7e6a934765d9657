/**
 * The status response, with one row for each field of the interface, in its order. A row without a
 * value is omitted. Internal stages can change without changing the interface, because several of
 * them may have the same status and name in it.
 */
import { cardChecksOf } from "../orders/card-checks.ts";
import { isDeviceNumber, shownHashId } from "../orders/card-reference.ts";
import type { EndpointSettings } from "../orders/merchant.ts";
import type { CardFacts, Order, Stage, Transaction, TransactionKind } from "../orders/order.ts";
import type { FoundOrder } from "../orders/requests.ts";
import {
  chargebackStateOf,
  chargebackTypeOf,
  initialOf,
  reasonCodeOf,
  sentIdentifiersOf,
  type Totals,
  totalsOf,
} from "../orders/transactions.ts";
import { Failure } from "../values/failure.ts";
import {
  commissionOf,
  type Fee,
  formatAmount,
  isSameMoney,
  isZero,
  type Money,
} from "../values/money.ts";
import type { Instant } from "../values/time.ts";

export type Status = "processing" | "approved" | "declined" | "error" | "filtered";

const wireStages: Readonly<Record<Stage, { readonly status: Status; readonly suffix: string }>> = {
  awaiting_card: { status: "processing", suffix: "processing" },
  filtering: { status: "processing", suffix: "filtering" },
  authenticating: { status: "processing", suffix: "3d_validating" },
  awaiting_method: { status: "processing", suffix: "3d_validating" },
  awaiting_challenge: { status: "processing", suffix: "3d_validating" },
  awaiting_result: { status: "processing", suffix: "3d_validating" },
  awaiting_return: { status: "processing", suffix: "3d_validating" },
  awaiting_pares: { status: "processing", suffix: "3d_validating" },
  authorizing: { status: "processing", suffix: "processing" },
  inquiring: { status: "processing", suffix: "unknown" },
  reversing: { status: "processing", suffix: "unknown" },
  capturing: { status: "processing", suffix: "processing" },
  returning: { status: "processing", suffix: "processing" },
  paying: { status: "processing", suffix: "processing" },
  repeating: { status: "processing", suffix: "unknown" },
  approved: { status: "approved", suffix: "approved" },
  declined: { status: "declined", suffix: "declined" },
  filtered: { status: "filtered", suffix: "filtered" },
  error: { status: "error", suffix: "error" },
};

type WireKind = {
  readonly prefix: string;
  readonly type: string;
  /** The word for a refused transaction of this kind, if it is not the usual one. */
  readonly declined?: string;
};
const wireKinds: Readonly<Record<TransactionKind, WireKind>> = {
  sale: { prefix: "sale", type: "sale" },
  preauth: { prefix: "auth", type: "preauth" },
  "account-verification": { prefix: "av", type: "account-verification" },
  payout: { prefix: "payout", type: "payout" },
  capture: { prefix: "capture", type: "capture" },
  refund: { prefix: "reversal", type: "reversal" },
  cancel: { prefix: "cancel", type: "reversal" },
  void: { prefix: "void", type: "void", declined: "rejected" },
};

/** Every type of a transaction. */
export const wireTypes = [...new Set(Object.values(wireKinds).map(({ type }) => type))];

export function statusOf(stage: Stage): Status {
  return wireStages[stage].status;
}

/** A stage of a dispute is final when the acquirer reports it. */
export function foundStatusOf({ transaction, dispute }: FoundOrder): Status {
  return dispute === undefined ? statusOf(transaction.stage) : "approved";
}

export function wireStageOf(kind: TransactionKind, stage: Stage): string {
  const { prefix, declined } = wireKinds[kind];
  const suffix = stage === "declined" ? declined : undefined;
  return `${prefix}_${suffix ?? wireStages[stage].suffix}`;
}

export function wireTypeOf(kind: TransactionKind): string {
  return wireKinds[kind].type;
}

type PrintDate = (instant: Instant) => string;

type StatusOptions = {
  readonly bySerialNumber: string | undefined;
  /** The reference of the card, if the order itself has registered it. */
  readonly cardRefId?: string | undefined;
  readonly printDate: PrintDate;
  /** The settings of the order's endpoint, which say how disputes and voids are shown. */
  readonly settings?: ShownBySettings;
};
export type ShownBySettings = Pick<EndpointSettings, "tellsChargebacks" | "voidAs">;

/** `initial` began the order; a follow-up shows that transaction's card data. */
type StatusFacts = FoundOrder &
  StatusOptions & { readonly initial: Transaction; readonly totals: Totals };
type Print = (facts: StatusFacts) => string | undefined;

// biome-ignore format: a table
const rows: readonly (readonly [name: string, print: Print])[] = [
  ["status",                   (facts) => foundStatusOf(facts)],
  ["order-stage",              ({ transaction, dispute }) => dispute ? `${chargebackTypeOf(dispute)}_approved` : wireStageOf(transaction.kind, transaction.stage)],
  ["amount",                   ({ order }) => formatAmount(order.purchase.amount)],
  ["initial-amount",           ({ order }) => formatAmount(order.purchase.amount)],
  ["charged-amount",           ({ order, totals }) => formatPartial(order.purchase.amount, totals)],
  ["total-reversal-amount",    ({ transaction, totals }) => totalRefund(transaction, totals)],
  ["currency",                 ({ order }) => order.purchase.amount.currency.code],
  ["by-request-sn",            ({ bySerialNumber }) => bySerialNumber],
  ["transaction-type",         (facts) => transactionTypeOf(facts)],

  ["processor-tx-id",          transactionIdOf],
  ["processor-rrn",            ({ transaction }) => sentIdentifiersOf(transaction)?.reference],
  ["approval-code",            ({ transaction, initial }) => transaction.answer?.approvalCode ?? initial.answer?.approvalCode],
  ["receipt-id",               ({ initial }) => initial.receiptId],
  ["descriptor",               ({ transaction }) => transaction.identifiers?.gate.shownDescriptor],
  ["original-gate-descriptor", ({ transaction }) => transaction.identifiers?.gate.descriptor],
  ["terminal-id",              ({ transaction }) => sentIdentifiersOf(transaction)?.gate.terminalId],
  ["gw-processing-date",       ({ transaction, printDate }) => printOptional(transaction.answer?.hostAt ?? transaction.answer?.processedAt, printDate)],
  ["transaction-date",         ({ transaction, printDate }) => printOptional(transaction.finishedAt, printDate)],

  ["name",                     ({ order }) => sourceOf(order)?.holderName],
  ["cardholder-name",          ({ order }) => sourceOf(order)?.holderName],
  ["card-exp-month",           ({ order }) => sourceOf(order)?.expiryMonth],
  ["card-exp-year",            ({ order }) => sourceOf(order)?.expiryYear],
  ["last-four-digits",         ({ order }) => isDeviceNumber(order) ? undefined : sourceOf(order)?.lastFour],
  ["bin",                      ({ order }) => sourceOf(order)?.bin],
  ["card-type",                ({ order }) => sourceOf(order)?.network],
  ["bank-name",                ({ order }) => bankOf(sourceOf(order))],
  ["card-hash-id",             ({ order }) => sourceOf(order) && shownHashId(order)],
  ["card-ref-id",              ({ cardRefId }) => cardRefId],
  ["card-country-alpha-three-code", ({ order }) => sourceOf(order)?.issuer?.country],
  ["dest-bin",                 ({ order }) => destinationOf(order)?.bin],
  ["dest-last-four-digits",    ({ order }) => destinationOf(order)?.lastFour],
  ["dest-card-type",           ({ order }) => destinationOf(order)?.network],
  ["dest-bank-name",           ({ order }) => bankOf(destinationOf(order))],
  ["destination-card-country-alpha-three-code", ({ order }) => destinationOf(order)?.issuer?.country],
  ["destination-hash-id",      ({ order }) => destinationOf(order) && shownHashId(order)],

  ["email",                    ({ order }) => order.purchase.customer.email],
  ["first-name",               ({ order }) => order.purchase.customer.firstName],
  ["last-name",                ({ order }) => order.purchase.customer.lastName],
  ["phone",                    ({ order }) => order.purchase.customer.phone],
  ["country",                  ({ order }) => order.purchase.customer.country],
  ["state",                    ({ order }) => order.purchase.customer.state],
  ["city",                     ({ order }) => order.purchase.customer.city],
  ["zip_code",                 ({ order }) => order.purchase.customer.zipCode],
  ["address1",                 ({ order }) => order.purchase.customer.address],

  ["gate-partial-reversal",    ({ order, transaction }) => sourceOf(order) && enabledOrDisabled(transaction.identifiers?.gate.partialReversal)],
  ["gate-partial-capture",     ({ order, transaction }) => sourceOf(order) && enabledOrDisabled(transaction.identifiers?.gate.partialCapture)],
  ["verified-3d-status",       ({ initial }) => initial.authentication?.status],
  ["eci",                      ({ initial }) => initial.authentication?.eci],
  ["sca-exemption",            ({ order, initial }) => initial.demanded ? undefined : order.purchase.scaExemption],
  ["avs-result",               ({ initial }) => initial.answer?.avs],
  ["avs-address",              ({ initial }) => cardChecksOf(initial.answer).address],
  ["avs-postcode",             ({ initial }) => cardChecksOf(initial.answer).postcode],
  ["cvv-result",               ({ initial }) => cardChecksOf(initial.answer).cvv],
  ["ips-src-payment-product-code", ({ order }) => sourceOf(order)?.issuer?.productCode],
  ["ips-src-payment-product-name", ({ order }) => sourceOf(order)?.issuer?.productName],
  ["ips-src-payment-type-code", ({ order }) => sourceOf(order)?.issuer?.typeCode],
  ["ips-src-payment-type-name", ({ order }) => sourceOf(order)?.issuer?.typeName],
  ["merchantdata",             ({ order }) => order.purchase.merchantData],
  ["loyalty-balance",          ({ initial }) => initial.answer?.loyalty?.balance],
  ["loyalty-message",          ({ initial }) => initial.answer?.loyalty?.message],
  ["loyalty-bonus",            ({ initial }) => initial.answer?.loyalty?.bonus],
  ["loyalty-program",          ({ initial }) => initial.answer?.loyalty?.program],
  ["chargeback-amount",        (facts) => formatOptional(chargebackIn(facts)?.amount)],
  ["chargeback-reason",        (facts) => chargebackIn(facts)?.reason],
  ["chargeback-stage",         (facts) => chargebackIn(facts)?.stage],
  ["case-id",                  (facts) => chargebackIn(facts)?.caseId],
  ["reason-code",              ({ dispute, settings }) => settings?.tellsChargebacks === "transactions" && dispute ? reasonCodeOf(dispute) : undefined],
  ["seller-commission",        ({ initial, totals }) => commission(initial.identifiers?.gate.fees?.seller, totals)],
  ["acquirer-commission",      ({ initial, totals }) => commission(initial.identifiers?.gate.fees?.acquirer, totals)],
  ["motivational-message",     ({ transaction }) => failureOf(transaction) && transaction.answer?.explanation],
  ["error-message",            ({ transaction }) => failureOf(transaction)?.message],
  ["error-code",               ({ transaction }) => failureOf(transaction)?.number.toString()],
];

/** The card that is charged. A payout has none: its card is the destination. */
function sourceOf(order: Order): CardFacts | undefined {
  return initialOf(order).kind === "payout" ? undefined : order.card;
}

function destinationOf(order: Order): CardFacts | undefined {
  return initialOf(order).kind === "payout" ? order.card : undefined;
}

function bankOf(card: CardFacts | undefined): string | undefined {
  return card?.bin && (card.issuer?.bankName ?? "UNKNOWN");
}

export function printStatus(
  found: FoundOrder,
  options: StatusOptions,
): readonly (readonly [name: string, value: string | undefined])[] {
  const facts = factsOf(found, options);
  return rows.map(([name, print]) => [name, print(facts)]);
}

const printers = new Map(rows);

/** Returns the response's value of one field, for views that show only some fields. */
export type StatusReader = (field: string) => string | undefined;

type ReaderOptions = Partial<Pick<StatusOptions, "printDate" | "settings">>;

/** Makes the reader of single fields. `printDate` may be left out if no date is read. */
export function makeStatusReader(found: FoundOrder, options: ReaderOptions = {}): StatusReader {
  const facts = factsOf(found, { bySerialNumber: undefined, printDate: () => "", ...options });
  return (field) => printers.get(field)?.(facts);
}

function factsOf(found: FoundOrder, options: StatusOptions): StatusFacts {
  return { ...found, initial: initialOf(found.order), totals: totalsOf(found.order), ...options };
}

/**
 * Returns the charged amount, or the held one before its capture, if it differs from the requested
 * amount.
 */
export function partialAmountOf(requested: Money, { charged, held }: Totals): Money | undefined {
  const approved = isZero(charged) ? held : charged;
  return isZero(approved) || isSameMoney(requested, approved) ? undefined : approved;
}

function formatPartial(requested: Money, totals: Totals): string | undefined {
  return formatOptional(partialAmountOf(requested, totals));
}

function formatOptional(money: Money | undefined): string | undefined {
  return money && formatAmount(money);
}

/** Returns the total of all refunds so far, and not only the amount of this transaction. */
function totalRefund({ kind }: Transaction, totals: Totals): string | undefined {
  if (kind === "cancel") return formatAmount(totals.cancelled);
  return kind === "refund" || kind === "void" ? formatAmount(totals.returned) : undefined;
}

function transactionTypeOf({ transaction: { kind }, dispute, settings }: StatusFacts): string {
  if (dispute !== undefined) return chargebackTypeOf(dispute);
  return kind === "void" ? (settings?.voidAs ?? "void") : wireTypeOf(kind);
}

function chargebackIn({ order, dispute, settings }: StatusFacts) {
  const { tellsChargebacks = false } = settings ?? {};
  return dispute ?? (tellsChargebacks === false ? undefined : chargebackStateOf(order));
}

function commission(fee: Fee | undefined, { charged }: Totals): string | undefined {
  if (fee === undefined || isZero(charged)) return undefined;
  return formatAmount(commissionOf(fee, charged));
}

/**
 * Returns the reason of a final transaction. It may be known earlier, but is shown with the result.
 */
function failureOf({ reason, stage }: Transaction): Failure | undefined {
  if (reason === undefined || statusOf(stage) === "processing") return undefined;
  return new Failure(reason.code, reason.detail);
}

/**
 * Returns the network's id or, if there is none, the reference. An approved transaction always has
 * one.
 */
function transactionIdOf({ transaction, initial }: StatusFacts): string | undefined {
  const id = transaction.answer?.networkId ?? initial.answer?.networkId;
  const isApproved = transaction.stage === "approved";
  return id ?? (isApproved ? sentIdentifiersOf(transaction)?.reference : undefined);
}

function printOptional(instant: Instant | undefined, printDate: PrintDate): string | undefined {
  return instant === undefined ? undefined : printDate(instant);
}

function enabledOrDisabled(isEnabled: boolean | undefined): string | undefined {
  if (isEnabled === undefined) return undefined;
  return isEnabled ? "enabled" : "disabled";
}

/** Returns an order as one line of a list. */
export function printOrderLine(order: Order, printDate: PrintDate) {
  const read = makeStatusReader({ order, transaction: order.transaction });
  const get = (name: string) => read(name) ?? "";
  return {
    orderId: order.id,
    clientOrderId: order.clientOrderId,
    time: printDate(order.acceptedAt),
    amount: `${get("amount")} ${get("currency")}`,
    cardMask: maskOf(order),
    status: statusOf(order.transaction.stage),
    stage: get("order-stage"),
    error: `${get("error-code")} ${get("error-message")}`.trim(),
    /** The acquirer's reference of the charge; empty before the charge. */
    reference: get("processor-rrn"),
  };
}

/**
 * Returns the masked card number. The digits of a wallet's device number are not shown, and a
 * payment page may not have a card yet.
 */
function maskOf(order: Order): string {
  const { lastFour, bin } = order.card;
  if (isDeviceNumber(order) || order.purchase.wallet?.refusal !== undefined) return "wallet";
  return lastFour === "" ? "" : `${bin}****${lastFour}`;
}
