/**
 * The order's transactions: the amounts held, charged and refunded, the transactions that may
 * follow, and disputes about the charge. Only approved transactions count. While one is open no
 * other begins, so the totals are correct at every moment.
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
  /** The amount that was refunded or voided. */
  readonly returned: Money;
  /** The amount that was held and then released by a cancel. */
  readonly cancelled: Money;
  /** The amount that was charged and not refunded. The acquirer counts it as charged. */
  readonly standing: Money;
  /** The amount that is charged back now. */
  readonly chargedBack: Money;
  /** The amount that can be refunded: what stands, less what is charged back. */
  readonly left: Money;
};

export function transactionsOf({ earlier, transaction }: Order): readonly Transaction[] {
  return [...earlier, transaction];
}

/** Returns the transaction that began the order. */
export function initialOf({ earlier, transaction }: Order): Transaction {
  return earlier[0] ?? transaction;
}

/** Whether a transaction of the kind begins an order. */
export function isCharge(kind: TransactionKind): kind is ChargeKind {
  return beginnings[kind].event === "received";
}

/** Returns the transaction, or the stage of a dispute about the charge, with the serial number. */
export function findNamed(order: Order, serialNumber: SerialNumber): FoundOrder | undefined {
  const isNamed = (each: { readonly serialNumber: SerialNumber }) =>
    each.serialNumber === serialNumber;
  const transaction = transactionsOf(order).find(isNamed);
  if (transaction !== undefined) return { order, transaction };
  const dispute = order.chargebacks?.find(isNamed);
  return dispute && { order, transaction: initialOf(order), dispute };
}

/** Returns the capture of a preauthorisation, once it is approved. */
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

/** A form that is sent again counts once, even if its reason or amount was corrected. */
function isSame(one: FollowUpTerms, other: FollowUpTerms): boolean {
  if (one.operation !== other.operation || one.once !== other.once) return false;
  if (one.once !== undefined) return true;
  return one.comment === other.comment && isSameMoney(one.amount, other.amount);
}

/** Returns the transaction that the merchant requests, or the reason why it cannot begin. */
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

/**
 * The acquirer releases an old hold by itself. A capture after that would be a charge without
 * authorisation.
 */
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

/**
 * Returns the policy of the charge's gate as it is configured now. An operator's change of the gate
 * also counts for charges that were made before it.
 */
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

/** Makes a new transaction, of which no message was sent. */
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

/** The terms of a follow-up now: the highest amount, and whether a part of it may be requested. */
type Rule = {
  readonly kind: FollowUpKind;
  readonly whole: Money;
  readonly part: "partialCapture" | "partialReversal" | "never";
  /**
   * If true, a part of the amount is already returned or captured, so even the whole rest is a
   * part.
   */
  readonly begun: boolean;
};

const rules = { capture: captureRule, return: returnRule, void: voidRule } as const;

/** Returns the terms of a void. It takes back a charge and never a hold. */
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

/**
 * A charge that an issuer has once charged back was cleared, even if the merchant has won the
 * dispute.
 */
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
 * Returns the next amount to try, or undefined after the last. A payment may name several amounts,
 * of which the first that the issuer approves is charged. The gate accepts no amount below `least`,
 * in minor units.
 */
export function nextAmount({ purchase, transaction }: Order, least = 0n): Money | undefined {
  const { amount, otherAmounts = [] } = purchase;
  const amounts = [amount, ...otherAmounts];
  const at = amounts.findIndex((each) => isSameMoney(each, transaction.amount));
  return amounts.slice(at + 1).find(({ minor }) => minor >= least);
}

/**
 * The first attempt number of refunds. Charges count from 1, and two digits in base 36 end at 1295.
 */
const firstRefundAttempt = 1_000;
const refundsMax = 290;

/**
 * A return. `chargedAt` is the time at which its charge was approved. `isPart` means that it
 * returns less than the whole charge.
 */
type Return = {
  readonly policy: RefundPolicy | undefined;
  readonly zone: GateFacts["zone"];
  readonly chargedAt: Instant | undefined;
  readonly at: Instant;
  readonly isPart: boolean;
};

/**
 * Whether a return is sent as a refund, which is a payment to the card with its own reference, or
 * as a reversal of its charge (0400), which many hosts only accept before clearing. The gate's
 * refund policy decides from when on.
 */
export function travelsAsRefund(transactions: readonly Transaction[], asked: Return): boolean {
  // For the host, an amount that a refund returned is still charged. A reversal would return it
  // again.
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

/** Returns the day that ends at the cut-off, by the terminal's clock. */
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
 * The effect of each stage on the money of its case. `takes` charges its amount back, `frees` ends
 * that, and the others leave the money where it is. Merchants see a stage as a transaction of
 * `type`. A retrieval asks for documents. A representment contests the case, and the money comes
 * back if the merchant wins. `reversed` means that the merchant has won, or that the issuer
 * withdrew the case. `fraud` is a report of the issuer that the cardholder denies the payment.
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
 * Returns the amount that is charged back over all cases, in minor units of the charge. An amount
 * that was freed does not count.
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

/**
 * Compares stages by date. Files may be imported in any order. Stages of one date are sorted by
 * their import.
 */
export function byDate({ chargebacks = [] }: Pick<Order, "chargebacks">): readonly Chargeback[] {
  return chargebacks.length < 2 ? chargebacks : chargebacks.toSorted((a, b) => a.at - b.at);
}

/**
 * Returns the latest stage, with the amount that is charged back now over all cases. A report of
 * fraud is no stage of a chargeback: it moves no money.
 */
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

/**
 * Finds the latest stage of a dispute, if every transaction of the order had ended when the stage
 * was recorded.
 */
export function findLatestDispute(order: Order): FoundOrder | undefined {
  const dispute = byDate(order).at(-1);
  const isLatest = dispute?.transactions === transactionsOf(order).length;
  return dispute && isLatest ? { order, transaction: initialOf(order), dispute } : undefined;
}

/** Finds a chargeback that was recorded before: one with the same case and stage. */
export function findRecorded(
  { chargebacks = [] }: Order,
  { caseId, stage }: Pick<Chargeback, "caseId" | "stage">,
): Chargeback | undefined {
  return chargebacks.find((each) => each.caseId === caseId && each.stage === stage);
}

const alreadyRecorded = new Failure("not_allowed_now", "", "recorded already");

/**
 * The sequence of the callback to the order's own URL: transactions are counted from 1, and
 * disputes come after them.
 */
export function callbackSequenceOf({ order, dispute }: FoundOrder): number {
  const { earlier, chargebacks = [] } = order;
  return dispute === undefined ? earlier.length + 1 : disputesFrom + chargebacks.length;
}
