/**
 * Converts an order to a row and back. An order is stored in two JSON columns: `facts`, from its
 * begin and from each try on the payment page, and `progress`, from every step. The other columns
 * are for searches.
 */
import type { OrderEvent } from "../../orders/events.ts";
import { parseReference } from "../../orders/messages.ts";
import type {
  Answer,
  Chargeback,
  FollowUpTerms,
  Order,
  PaymentPage,
  PriorAttempt,
  Purchase,
  RefusedTry,
  Transaction,
} from "../../orders/order.ts";
import { findNamed, initialOf } from "../../orders/transactions.ts";
import type { ReportLine } from "../../report/columns.ts";
import { asEndpointId, asMerchantId, asOrderId, asSerialNumber } from "../../values/ids.ts";
import { type Money, type PackedMoney, unpackMoney } from "../../values/money.ts";
import { asInstant, type Instant } from "../../values/time.ts";

/** The row of an order, with its JSON columns as objects. */
export type OrderRow = {
  readonly merchant_id: string;
  readonly id: string;
  readonly endpoint_id: string;
  readonly client_orderid: string;
  readonly attempt: number;
  readonly version: number;
  readonly changed_at: number;
  readonly facts: { readonly acceptedAt: Instant; readonly purchase: PackedPurchase };
  readonly progress: object;
};

/** A transaction in a report. The JSON columns of its order are texts, which are not parsed yet. */
export type BegunRow = Omit<OrderRow, "facts" | "progress"> & {
  readonly facts: string;
  readonly progress: string;
  readonly begun_at: number;
  readonly begun_version: number;
  /** The serial number of the transaction. Undefined for the first transaction of an order. */
  readonly serial: string | undefined;
};

/** The version of `progress` that this code writes. */
const schema = 1;

export const orderColumns =
  "merchant_id, id, endpoint_id, client_orderid, attempt, version, changed_at, facts, progress";

// `JSON.stringify` is three times as fast if no value has a method `toJSON`, which saves 3 % of the
// time of a sale. Therefore the amounts of a plain sale are packed first. The `toJSON` of all other
// amounts gives the same text.

export function packFacts({ acceptedAt, purchase }: Order): string {
  return JSON.stringify({ acceptedAt, purchase: packAmount(purchase) });
}

export function packProgress(order: Order): string {
  const { card, chargebacks, owed, deadlineAt, page } = order;
  const transaction = packTransaction(order.transaction);
  const earlier = order.earlier.map(packTransaction);
  const sequence = page && order.sequence;
  return JSON.stringify({
    schema,
    card,
    transaction,
    earlier,
    page,
    sequence,
    chargebacks,
    owed,
    deadlineAt,
  });
}

export function packEvents(events: readonly OrderEvent[]): string {
  return JSON.stringify(events.map(packAnswer));
}

export function unpackEvent(stored: object): OrderEvent {
  const { answer, request, next, chargeback, ...rest } = stored as PackedEvent;
  // The column contains only events that the gateway has packed, so the cast is safe.
  return {
    ...rest,
    ...(answer && { answer: { ...answer, approvedAmount: unpackOptional(answer.approvedAmount) } }),
    ...(request && { request: { ...request, amount: unpackOptional(request.amount) } }),
    ...(next && { next: unpackMoney(next) }),
    ...(chargeback && { chargeback: unpackAmount(chargeback) }),
  } as OrderEvent;
}

type PackedEvent = {
  readonly answer?: PartlyPacked<Answer, "approvedAmount">;
  readonly request?: PartlyPacked<FollowUpTerms, "amount">;
  readonly next?: PackedMoney;
  readonly chargeback?: Packed<Chargeback, "amount">;
};

function packTransaction(transaction: Transaction) {
  return packAnswer(packAmount(transaction));
}

function packAmount<Type extends { readonly amount: Money }>(packed: Type) {
  return { ...packed, amount: packed.amount.toJSON() };
}

function packAnswer<Type extends { readonly answer?: Answer | undefined }>(
  packed: Type | OrderEvent,
) {
  const answer = "answer" in packed ? packed.answer : undefined;
  const approvedAmount = answer?.approvedAmount?.toJSON();
  return approvedAmount === undefined
    ? packed
    : { ...packed, answer: { ...answer, approvedAmount } };
}

export function unpackOrder(row: OrderRow): Order {
  const { facts } = row;
  const progress = readProgress(row.progress);
  return {
    id: asOrderId(row.id),
    sequence: progress.sequence ?? sequenceOf(progress),
    merchantId: asMerchantId(row.merchant_id),
    endpointId: asEndpointId(row.endpoint_id),
    clientOrderId: row.client_orderid,
    attempt: row.attempt,
    version: row.version,
    changedAt: asInstant(row.changed_at),
    acceptedAt: facts.acceptedAt,
    purchase: unpackPurchase(facts.purchase),
    card: progress.card,
    ...(progress.page && { page: unpackPage(progress.page) }),
    transaction: unpackTransaction(progress.transaction),
    earlier: progress.earlier.map(unpackTransaction),
    ...(progress.chargebacks && { chargebacks: progress.chargebacks.map(unpackAmount) }),
    owed: progress.owed,
    deadlineAt: progress.deadlineAt,
  };
}

/** After a restore, reports leave out transactions in the history that the order lacks. */
export function unpackBegun(row: BegunRow): ReportLine | undefined {
  const { facts, progress, serial } = row;
  const order = unpackOrder({ ...row, facts: JSON.parse(facts), progress: JSON.parse(progress) });
  const named =
    serial === undefined
      ? { order, transaction: initialOf(order) }
      : findNamed(order, asSerialNumber(serial));
  return named && { ...named, at: asInstant(row.begun_at) };
}

/** Returns the sequence number in the reference of the order's first charge, or else zero. */
function sequenceOf({ earlier, transaction }: Progress): number {
  const { reference = "" } = (earlier[0] ?? transaction).identifiers ?? {};
  return parseReference(reference)?.sequence ?? 0;
}

type Packed<Type, Key extends keyof Type> = Omit<Type, Key> & {
  readonly [Each in Key]: PackedMoney;
};
type PartlyPacked<Type, Key extends keyof Type> = Omit<Type, Key> & {
  readonly [Each in Key]?: PackedMoney;
};
type PackedPurchase = Packed<Omit<Purchase, "otherAmounts">, "amount"> & {
  readonly otherAmounts?: readonly PackedMoney[];
};
type PackedTransaction = Packed<
  Omit<Transaction, "answer" | "request" | "priorAttempts">,
  "amount"
> & {
  readonly answer?: PartlyPacked<Answer, "approvedAmount">;
  readonly request?: PartlyPacked<FollowUpTerms, "amount">;
  readonly priorAttempts?: readonly Packed<PriorAttempt, "amount">[];
};
type PackedPage = Omit<PaymentPage, "refused"> & {
  readonly refused: readonly (Omit<RefusedTry, "attempts"> & {
    readonly attempts: readonly Packed<PriorAttempt, "amount">[];
  })[];
};
type Progress = Pick<Order, "card" | "owed" | "deadlineAt"> & {
  /** Stored for an order with a payment page, which has no reference until a card is entered. */
  readonly sequence?: number;
  readonly page?: PackedPage;
  readonly transaction: PackedTransaction;
  readonly earlier: readonly PackedTransaction[];
  readonly chargebacks?: readonly Packed<Chargeback, "amount">[];
};

function unpackPurchase({ amount, otherAmounts, ...rest }: PackedPurchase): Purchase {
  const purchase = { ...rest, amount: unpackMoney(amount) };
  if (otherAmounts === undefined) return purchase;
  return { ...purchase, otherAmounts: otherAmounts.map(unpackMoney) };
}

function unpackTransaction(packed: PackedTransaction): Transaction {
  const { answer, request, priorAttempts, ...rest } = packed;
  return {
    ...unpackAmount(rest),
    answer: answer && { ...answer, approvedAmount: unpackOptional(answer.approvedAmount) },
    ...(request && { request: { ...request, amount: unpackOptional(request.amount) } }),
    ...(priorAttempts && { priorAttempts: priorAttempts.map(unpackAmount) }),
  };
}

function unpackPage({ refused, ...rest }: PackedPage): PaymentPage {
  const tries = refused.map((each) => ({ ...each, attempts: each.attempts.map(unpackAmount) }));
  return { ...rest, refused: tries };
}

function unpackAmount<Type extends { readonly amount: PackedMoney }>({ amount, ...rest }: Type) {
  return { ...rest, amount: unpackMoney(amount) };
}

function unpackOptional(money: PackedMoney | undefined) {
  return money && unpackMoney(money);
}

/** The compiler cannot check stored JSON, so its version is checked here. */
function readProgress(stored: object): Progress {
  const found = "schema" in stored ? stored.schema : undefined;
  if (found === schema) return stored as Progress;
  throw new Error(`order document of schema ${found}; this gateway reads ${schema}`);
}
