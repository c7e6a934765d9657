/**
 * An order as a row and back. Two JSON columns hold it: `facts` are written once, `progress` anew
 * by every step; what is searched for stands in columns beside them.
 */
import type {
  Answer,
  FollowUpRequest,
  Order,
  Purchase,
  Transaction,
  Tried,
} from "../orders/order.ts";
import { asEndpointId, asMerchantId, asOrderId } from "../values/ids.ts";
import { type PackedMoney, unpackMoney } from "../values/money.ts";
import type { Instant } from "../values/time.ts";

/** The JSON columns arrive parsed: the driver does that. */
export type OrderRow = {
  readonly merchant_id: string;
  readonly id: string;
  readonly endpoint_id: string;
  readonly client_orderid: string;
  readonly attempt: number;
  readonly version: number;
  readonly facts: Facts;
  readonly progress: Progress;
};

export const orderColumns =
  "merchant_id, id, endpoint_id, client_orderid, attempt, version, facts, progress";

export function packFacts({ acceptedAt, purchase }: Order): string {
  return JSON.stringify({ acceptedAt, purchase });
}

export function packProgress({ card, transaction, earlier, owed, deadlineAt }: Order): string {
  return JSON.stringify({ card, transaction, earlier, owed, deadlineAt });
}

export function unpackOrder(row: OrderRow): Order {
  const { facts, progress } = row;
  return {
    id: asOrderId(row.id),
    merchantId: asMerchantId(row.merchant_id),
    endpointId: asEndpointId(row.endpoint_id),
    clientOrderId: row.client_orderid,
    attempt: row.attempt,
    version: row.version,
    acceptedAt: facts.acceptedAt,
    purchase: unpackPurchase(facts.purchase),
    card: progress.card,
    transaction: unpackTransaction(progress.transaction),
    earlier: progress.earlier.map(unpackTransaction),
    owed: progress.owed,
    deadlineAt: progress.deadlineAt,
  };
}

/** When the order must be looked at by somebody: its effect is free, or its stage has lasted. */
export function dueAt({ owed, deadlineAt }: Order): Instant | undefined {
  if (owed === undefined || deadlineAt === undefined) return owed?.claimableAt ?? deadlineAt;
  return owed.claimableAt < deadlineAt ? owed.claimableAt : deadlineAt;
}

type PackedAnswer = Omit<Answer, "approvedAmount"> & { approvedAmount?: PackedMoney };
type PackedRequest = Omit<FollowUpRequest, "amount"> & { amount?: PackedMoney };
type PackedTried = Omit<Tried, "amount"> & { readonly amount: PackedMoney };
type PackedTransaction = Omit<Transaction, "amount" | "answer" | "request" | "tried"> & {
  readonly tried?: readonly PackedTried[];
  readonly amount: PackedMoney;
  readonly answer?: PackedAnswer;
  readonly request?: PackedRequest;
};
type PackedPurchase = Omit<Purchase, "amount" | "otherAmounts"> & {
  readonly amount: PackedMoney;
  readonly otherAmounts?: readonly PackedMoney[];
};
type Facts = { readonly acceptedAt: Instant; readonly purchase: PackedPurchase };
type Progress = Pick<Order, "card" | "owed" | "deadlineAt"> & {
  readonly transaction: PackedTransaction;
  readonly earlier: readonly PackedTransaction[];
};

function unpackPurchase({ amount, otherAmounts, ...rest }: PackedPurchase): Purchase {
  const purchase = { ...rest, amount: unpackMoney(amount) };
  if (otherAmounts === undefined) return purchase;
  return { ...purchase, otherAmounts: otherAmounts.map(unpackMoney) };
}

function unpackTransaction(packed: PackedTransaction): Transaction {
  const { amount, answer, request, tried, ...rest } = packed;
  return {
    ...rest,
    amount: unpackMoney(amount),
    answer: answer === undefined ? undefined : unpackAnswer(answer),
    // Rows of before there were follow-ups count under another name, and none needs it any more.
    tries: rest.tries ?? 0,
    ...(request === undefined ? {} : { request: unpackRequest(request) }),
    ...(tried === undefined ? {} : { tried: tried.map(unpackTried) }),
  };
}

function unpackTried({ charge, amount }: PackedTried): Tried {
  return { charge, amount: unpackMoney(amount) };
}

function unpackAnswer({ approvedAmount, ...rest }: PackedAnswer): Answer {
  const money = approvedAmount === undefined ? undefined : unpackMoney(approvedAmount);
  return { ...rest, approvedAmount: money };
}

function unpackRequest({ amount, ...rest }: PackedRequest): FollowUpRequest {
  return { ...rest, amount: amount === undefined ? undefined : unpackMoney(amount) };
}
