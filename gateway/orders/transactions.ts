/**
 * The order's transactions: amounts held, charged and refunded, the transactions that may follow,
 * and disputes about the charge. Only approved ones count. While one is open no other begins, so
 * the totals are correct at every moment.
 */
import { Failure, type FailureCode } from "../values/failure.ts";
import type { SerialNumber } from "../values/ids.ts";
import { add, isSameMoney, isZero, Money, subtract } from "../values/money.ts";
import { calendarIn, dayNumber, hours, type Instant, later } from "../values/time.ts";
import type { FollowUpEvent } from "./events.ts";
import type { Endpoint } from "./merchant.ts";
import { referenceOf, traceNumberOf } from "./messages.ts";
import type {
  AcquirerIdentifiers,
  Chargeback,
  ChargebackStage,
  ChargeKind,
  FollowUpKind,
  FollowUpTerms,
  GateFacts,
  Order,
  RefundPolicy,
  Transaction,
  TransactionKind,
} from "./order.ts";
import type { FoundOrder } from "./requests.ts";
import { isBeforeSending, isFinal } from "./stages.ts";
import { beginnings } from "./transitions.ts";

export type Totals = {
  /** The amount that a preauthorisation holds, until it is captured or cancelled. */
  readonly held: Money;
  /** The amount that the sale or the capture has charged. */
  readonly charged: Money;
  readonly returned: Money;
  /** The amount that was held until a cancel released it. */
  readonly cancelled: Money;
  /** The amount that was charged and not refunded, as the acquirer counts. */
  readonly standing: Money;
  readonly chargedBack: Money;
  /** The amount that can be refunded: `standing`, less what is charged back. */
  readonly left: Money;
};

export function transactionsOf({ earlier, transaction }: Order): readonly Transaction[] {
  return [...earlier, transaction];
}

export function initialOf({ earlier, transaction }: Order): Transaction {
  return earlier[0] ?? transaction;
}

export function isCharge(kind: TransactionKind): kind is ChargeKind {
  return beginnings[kind].event === "received";
}

/** The serial number names a transaction, or a stage of a dispute about the charge. */
export function findNamed(order: Order, serialNumber: SerialNumber): FoundOrder | undefined {
  const isNamed = (each: { readonly serialNumber: SerialNumber }) =>
    each.serialNumber === serialNumber;
  const transaction = transactionsOf(order).find(isNamed);
  if (transaction !== undefined) return { order, transaction };
  const dispute = order.chargebacks?.find(isNamed);
  return dispute && { order, transaction: initialOf(order), dispute };
}

/** Returns undefined until the capture is approved. */
export function captureOf(order: Order): Transaction | undefined {
  return transactionsOf(order).find(
    ({ kind, stage }) => kind === "capture" && stage === "approved",
  );
}

/** Returns the transaction's identifiers at its acquirer, once a message may have been sent. */
export function sentIdentifiersOf(transaction: Transaction): AcquirerIdentifiers | undefined {
  const { identifiers, priorAttempts } = transaction;
  return wasSent(transaction) ? identifiers : priorAttempts?.at(-1)?.identifiers;
}

function wasSent({ stage, answer, reason }: Transaction): boolean {
  if (stage !== "declined" && stage !== "error") return !isBeforeSending(stage);
  return answer !== undefined || (reason !== undefined && settledDoubt.includes(reason.code));
}

/** The reasons of charges that were sent and got no answer. */
const settledDoubt: readonly FailureCode[] = [
  ...(["reversed_after_doubt", "settled_by_operator", "not_paid_out"] as const),
];

export function totalsOf(order: Order): Totals {
  const initial = initialOf(order);
  const none = new Money(0n, initial.amount.currency);
  const approved = transactionsOf(order).filter(({ stage }) => stage === "approved");
  const captured = captureOf(order);
  const isCancelled = approved.some(({ kind }) => kind === "cancel");

  // The approved amount may be less than the requested one.
  const approvedAmount = initial.answer?.approvedAmount ?? initial.amount;
  const granted = initial.stage === "approved" ? approvedAmount : none;
  const isHeld = initial.kind === "preauth" && captured === undefined && !isCancelled;
  const charged = initial.kind === "sale" ? granted : (captured?.amount ?? none);
  const returned = approved
    .filter(({ kind }) => kind === "refund" || kind === "void")
    .reduce((sum, { amount }) => add(sum, amount), none);
  const held = isHeld ? granted : none;
  const cancelled = isCancelled ? granted : none;
  const standing = subtract(charged, returned);
  const chargedBack = new Money(chargedBackMinor(order), standing.currency);
  const leftMinor = standing.minor - chargedBack.minor;
  const left = new Money(leftMinor > 0n ? leftMinor : 0n, standing.currency);
  return { held, charged, returned, cancelled, standing, chargedBack, left };
}

/** Returns the transaction that an identical request has begun, unless it failed. */
export function findRepeated(order: Order, asked: FollowUpTerms): Transaction | undefined {
  return transactionsOf(order).findLast(({ request, stage }) => {
    const counts = stage === "approved" || !isFinal(stage);
    return counts && request !== undefined && isSame(request, asked);
  });
}

/** A form that is sent again is the same request, even if its reason or amount was corrected. */
function isSame(one: FollowUpTerms, other: FollowUpTerms): boolean {
  if (one.operation !== other.operation || one.once !== other.once) return false;
  if (one.once !== undefined) return true;
  return one.comment === other.comment && isSameMoney(one.amount, other.amount);
}

/** Returns the transaction that the merchant requests, or why it cannot begin. */
export function followUp(order: Order, event: FollowUpEvent, at: Instant): Transaction | Failure {
  const { serialNumber, request } = event;
  // The reversal of an earlier attempt concerns another charge and continues afterwards.
  const isFree = order.owed === undefined || order.owed.effect === "reverse_prior";
  if (!isFinal(order.transaction.stage) || !isFree) return stillOnItsWay;
  const totals = totalsOf(order);
  const rule = rules[request.operation](totals, order);
  if (rule === undefined) return new Failure("not_allowed_now", "", "nothing left to do it with");
  if (rule.kind === "capture" && isHoldOver(order, at)) return holdOver;

  const { identifiers } = initialOf(order);
  const { currency = rule.whole.currency.code } = request;
  if (currency !== rule.whole.currency.code) return new Failure("currency_not_supported");
  const amount = request.amount ?? rule.whole;
  const asRefund = isOfCharge(rule) && isRefund(order, event, { amount, rule, at });
  if (asRefund && rule.kind === "void") return cleared(order, event);
  const fault = faultOf(amount, rule, { order, asRefund });
  if (fault !== undefined || identifiers === undefined) return fault ?? stillOnItsWay;
  const reference = asRefund ? refundReferenceOf(order) : identifiers.reference;
  if (reference === undefined) return new Failure("not_allowed_now", "too many refunds");
  const message = 2 * (order.earlier.length + 1);
  const traceNumber = traceNumberOf(order, message, identifiers.attempt);
  const begun = newTransaction({ kind: rule.kind, serialNumber, amount });
  const own = { ...identifiers, reference, traceNumber, transmittedAt: at };
  return { ...begun, identifiers: own, ...(asRefund && { asRefund }), request };
}

const usualHoldDays = 7;
const holdOver = new Failure("not_allowed_now", "the hold has ended");

/** The acquirer releases an old hold by itself. A later capture would lack authorisation. */
function isHoldOver(order: Order, at: Instant): boolean {
  const { identifiers } = initialOf(order);
  const days = identifiers?.gate.holdDays ?? usualHoldDays;
  const heldAt = approvedAt(initialOf(order));
  return heldAt !== undefined && at > later(heldAt, hours(24 * days));
}

function approvedAt({ answer, finishedAt }: Transaction): Instant | undefined {
  return answer?.processedAt ?? finishedAt;
}

type AskedReturn = { readonly amount: Money; readonly rule: Rule; readonly at: Instant };

function isRefund(order: Order, event: FollowUpEvent, { amount, rule, at }: AskedReturn): boolean {
  return travelsAsRefund(transactionsOf(order), {
    policy: policyOf(order, event),
    zone: initialOf(order).identifiers?.gate.zone,
    chargedAt: approvedAt(captureOf(order) ?? initialOf(order)),
    at,
    isPart: rule.kind !== "void" && (rule.begun || amount.minor < rule.whole.minor),
  });
}

/** An operator's change of the gate also holds for charges that were made before it. */
export function refundPolicyNow(
  endpoint: Pick<Endpoint, "gates"> | undefined,
  order: Order,
): RefundPolicy | undefined {
  const charged = initialOf(order).identifiers?.gate;
  const gate = endpoint?.gates.find(({ id }) => id === charged?.id);
  const hadPolicy = charged?.refunds !== undefined;
  return gate === undefined ? undefined : (gate.refunds ?? (hadPolicy ? {} : undefined));
}

function policyOf(order: Order, event: FollowUpEvent): RefundPolicy | undefined {
  const own = event.kind === "capture_asked" ? undefined : event.refunds;
  return own ?? initialOf(order).identifiers?.gate.refunds;
}

/** A void never becomes a refund. */
function cleared(order: Order, event: FollowUpEvent): Failure {
  const hasReversals = policyOf(order, event)?.after !== "always";
  return hasReversals
    ? new Failure("not_allowed_now", "cleared")
    : new Failure("not_supported_by_gate");
}

export function newTransaction(
  asked: Pick<Transaction, "kind" | "serialNumber" | "amount">,
): Transaction {
  return {
    ...asked,
    stage: beginnings[asked.kind].stage,
    identifiers: undefined,
    answer: undefined,
    authentication: undefined,
    reason: undefined,
    receiptId: undefined,
    tries: 0,
    finishedAt: undefined,
  };
}

/** The highest amount of a follow-up now, and whether a part of it may be requested. */
type Rule = {
  readonly kind: FollowUpKind;
  readonly whole: Money;
  readonly part: "partialCapture" | "partialReversal" | "never";
  /** A part of the amount is returned or captured already, so even the whole rest is a part. */
  readonly begun: boolean;
};

const rules = { capture: captureRule, return: returnRule, void: voidRule } as const;

/** A void takes back a charge and never a hold. */
function isOfCharge({ kind }: Rule): boolean {
  return kind === "refund" || kind === "void";
}

function captureRule({ held }: Totals): Rule | undefined {
  if (isZero(held)) return undefined;
  return { kind: "capture", whole: held, part: "partialCapture", begun: false };
}

function returnRule({ held, left, charged }: Totals): Rule | undefined {
  if (!isZero(held)) return { kind: "cancel", whole: held, part: "never", begun: false };
  if (isZero(left)) return undefined;
  return {
    kind: "refund",
    whole: left,
    part: "partialReversal",
    begun: !isSameMoney(left, charged),
  };
}

/** A charge that was once charged back was cleared, even if the merchant has won the dispute. */
function voidRule({ charged, returned }: Totals, { chargebacks = [] }: Order): Rule | undefined {
  const notes: readonly ChargebackStage[] = ["retrieval", "fraud"];
  const wasChargedBack = chargebacks.some(({ stage }) => !notes.includes(stage));
  if (isZero(charged) || !isZero(returned) || wasChargedBack) return undefined;
  return { kind: "void", whole: charged, part: "never", begun: false };
}

function faultOf(
  amount: Money,
  { whole, part, begun }: Rule,
  { order, asRefund }: { readonly order: Order; readonly asRefund: boolean },
): Failure | undefined {
  if (amount.currency.code !== whole.currency.code) return new Failure("currency_not_supported");
  if (isZero(amount) || amount.minor > whole.minor) return new Failure("amount_out_of_range");
  const isPart = begun || amount.minor < whole.minor;
  if (!isPart || asRefund) return undefined;
  if (part === "never") return onlyWhole;
  const isSupported = initialOf(order).identifiers?.gate[part] === true;
  return isSupported ? undefined : new Failure("not_supported_by_gate");
}

const onlyWhole = new Failure("amount_out_of_range", "only the whole can be cancelled or voided");
const inProgress = "another transaction of the order is on its way";
const stillOnItsWay = new Failure("not_allowed_now", inProgress);

/**
 * A payment may name several amounts, of which the first that the issuer approves is charged.
 * Returns undefined after the last. The gate accepts no amount below `least`, in minor units.
 */
export function nextAmount({ purchase, transaction }: Order, least = 0n): Money | undefined {
  const { amount, otherAmounts = [] } = purchase;
  const amounts = [amount, ...otherAmounts];
  const at = amounts.findIndex((each) => isSameMoney(each, transaction.amount));
  return amounts.slice(at + 1).find(({ minor }) => minor >= least);
}

/** The first attempt number of refunds. Charges count from 1. Two digits in base 36 end at 1295. */
const firstRefundAttempt = 1_000;
const refundsMax = 290;

/** `chargedAt` is when the charge was approved. `isPart` is a return of less than the charge. */
type Return = {
  readonly policy: RefundPolicy | undefined;
  readonly zone: GateFacts["zone"];
  readonly chargedAt: Instant | undefined;
  readonly at: Instant;
  readonly isPart: boolean;
};

/**
 * Whether a return is sent as a refund (a payment to the card with its own reference) or as a
 * reversal of its charge (0400), which many hosts accept only before clearing. The gate's refund
 * policy decides.
 */
export function travelsAsRefund(transactions: readonly Transaction[], asked: Return): boolean {
  // For the host, a refunded amount is still charged. A reversal would return it again.
  const isRefunded = ({ stage, asRefund }: Transaction) =>
    asRefund === true && stage === "approved";
  if (transactions.some(isRefunded)) return true;
  const { policy, isPart } = asked;
  return policy !== undefined && ((isPart && policy.partial === true) || isCleared(asked, policy));
}

function isCleared({ chargedAt, at, zone = "UTC" }: Return, { after }: RefundPolicy): boolean {
  if (after === undefined) return false;
  if (after === "always" || chargedAt === undefined) return true;
  const [, count] = /^(\d+)h$/.exec(after) ?? [];
  if (count !== undefined) return at >= later(chargedAt, hours(Number(count)));
  return clearingDay(at, after, zone) !== clearingDay(chargedAt, after, zone);
}

/** The day ends at the cut-off, by the terminal's clock. */
function clearingDay(instant: Instant, cutOff: string, zone: string): number {
  const local = calendarIn(zone, instant);
  const isOver = `${local.hour}:${local.minute}` >= cutOff;
  return dayNumber(local) + (isOver ? 1 : 0);
}

/** Returns undefined if the order has had too many transactions for another reference. */
function refundReferenceOf(order: Pick<Order, "sequence" | "earlier">): string | undefined {
  const count = order.earlier.length + 1;
  return count > refundsMax ? undefined : referenceOf(order, firstRefundAttempt + count);
}

/**
 * The effect of each stage of a dispute on the money of its case: `takes` charges the amount back,
 * `frees` ends that. Merchants see a stage as a transaction of `type`. A retrieval asks for
 * documents. A representment contests the case, and the money comes back if the merchant wins.
 * `reversed`: the merchant has won, or the issuer withdrew the case. `fraud`: the issuer reports
 * that the cardholder denies the payment.
 */
const disputeStages: Readonly<
  Record<ChargebackStage, { readonly effect: "takes" | "frees" | "none"; readonly type: string }>
> = {
  "retrieval": { effect: "none", type: "retrieval" },
  "first": { effect: "takes", type: "chargeback" },
  "representment": { effect: "none", type: "dispute" },
  "pre-arbitration": { effect: "takes", type: "chargeback" },
  "arbitration": { effect: "takes", type: "chargeback" },
  "reversed": { effect: "frees", type: "chargeback-reversal" },
  "fraud": { effect: "none", type: "fraud" },
};

export const disputeTypes = [...new Set(Object.values(disputeStages).map(({ type }) => type))];

export function chargebackTypeOf({ stage }: Chargeback): string {
  return disputeStages[stage].type;
}

const disputesFrom = 1_000;
/** The distance between the sequences of a transaction's callbacks to different URLs. */
export const sequencesPerUrl = 10_000;

/** Returns the network's code, with which most acquirers begin the reason, or the whole reason. */
export function reasonCodeOf({ reason }: Pick<Chargeback, "reason">): string {
  return /^[A-Z]{0,2}\d{1,4}(?:\.\d{1,2})?(?![\w.])/.exec(reason)?.[0] ?? reason;
}

/**
 * Adds up all cases, in minor units of the charge, without amounts that a later stage has freed.
 */
function chargedBackMinor(order: Pick<Order, "chargebacks">): bigint {
  return chargebackChangesOf(order).reduce((sum, { minor }) => sum + minor, 0n);
}

/** Returns by how much each stage changes the amount that is charged back, by its date. */
export function chargebackChangesOf(order: Pick<Order, "chargebacks">) {
  const cases = new Map<string, bigint>();
  return byDate(order).map(({ caseId, stage, amount: { minor }, at }) => {
    const before = cases.get(caseId) ?? 0n;
    const { effect } = disputeStages[stage];
    const freed = before > minor ? before - minor : 0n;
    const present = { takes: minor, frees: freed, none: before }[effect];
    cases.set(caseId, present);
    return { at, minor: present - before };
  });
}

/** Files may be imported in any order. Stages of one date are sorted by their import. */
export function byDate({ chargebacks = [] }: Pick<Order, "chargebacks">): readonly Chargeback[] {
  return chargebacks.length < 2 ? chargebacks : chargebacks.toSorted((a, b) => a.at - b.at);
}

/** Returns the latest stage but no report of fraud, with the amount that all cases charge back. */
export function chargebackStateOf(order: Order) {
  const latest = byDate(order).findLast(({ stage }) => stage !== "fraud");
  if (latest === undefined) return undefined;
  const amount = new Money(chargedBackMinor(order), order.purchase.amount.currency);
  return { ...latest, amount };
}

export function withChargeback(order: Order, chargeback: Chargeback): Order | Failure {
  const { chargebacks = [] } = order;
  if (findRecorded(order, chargeback) !== undefined) return alreadyRecorded;
  const { currency } = order.purchase.amount;
  if (chargeback.amount.currency.code !== currency.code) {
    return new Failure("currency_not_supported");
  }
  const version = order.version + 1;
  // A transaction that is still running stays the latest one, whose result the merchant awaits.
  const ended = transactionsOf(order).length - (order.transaction.finishedAt === undefined ? 1 : 0);
  const recorded = { ...chargeback, transactions: ended };
  return { ...order, version, chargebacks: [...chargebacks, recorded] };
}

/** Every transaction of the order must have ended when the dispute's stage was recorded. */
export function findLatestDispute(order: Order): FoundOrder | undefined {
  const dispute = byDate(order).at(-1);
  const isLatest = dispute?.transactions === transactionsOf(order).length;
  return dispute && isLatest ? { order, transaction: initialOf(order), dispute } : undefined;
}

export function findRecorded(
  { chargebacks = [] }: Order,
  { caseId, stage }: Pick<Chargeback, "caseId" | "stage">,
): Chargeback | undefined {
  return chargebacks.find((each) => each.caseId === caseId && each.stage === stage);
}

const alreadyRecorded = new Failure("not_allowed_now", "", "recorded already");

/** Transactions are counted from 1, and disputes come after them. */
export function callbackSequenceOf({ order, dispute }: FoundOrder): number {
  const { earlier, chargebacks = [] } = order;
  return dispute === undefined ? earlier.length + 1 : disputesFrom + chargebacks.length;
}
