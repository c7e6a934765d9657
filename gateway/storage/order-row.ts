/**
 * An order as a row and back. Two JSON columns hold it: `facts` are written once, `progress` anew
 * by every step; what is searched for stands in columns beside them.
 */
import type {
  AcquirerIdentifiers,
  Answer,
  FollowUpTerms,
  Order,
  Owed,
  PriorAttempt,
  Purchase,
  Transaction,
  TransactionKind,
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
  /** Of any schema version; `upgrade` makes it the current one. */
  readonly progress: object;
};

/** The version of `progress` that this code writes. */
const schema = 1;

export const orderColumns =
  "merchant_id, id, endpoint_id, client_orderid, attempt, version, facts, progress";

export function packFacts({ acceptedAt, purchase }: Order): string {
  return JSON.stringify({ acceptedAt, purchase });
}

export function packProgress({ card, transaction, earlier, owed, deadlineAt }: Order): string {
  return JSON.stringify({ schema, card, transaction, earlier, owed, deadlineAt });
}

export function unpackOrder(row: OrderRow): Order {
  const { facts } = row;
  const progress = upgrade(row.progress);
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
type PackedRequest = Omit<FollowUpTerms, "amount"> & { amount?: PackedMoney };
type PackedPriorAttempt = Omit<PriorAttempt, "amount"> & { readonly amount: PackedMoney };
type PackedTransaction = Omit<Transaction, "amount" | "answer" | "request" | "priorAttempts"> & {
  readonly priorAttempts?: readonly PackedPriorAttempt[];
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

/** One function per step from a schema version to the next; the first rows carry no version. */
const upgrades: readonly ((progress: object) => object)[] = [renameVersion0];

function upgrade(stored: object): Progress {
  const from = "schema" in stored ? Number(stored.schema) : 0;
  if (from > schema)
    throw new Error(`order document of schema ${from}; this gateway reads ${schema}`);
  // The upgrades make it what the current schema says: the compiler cannot follow stored JSON.
  return upgrades.slice(from).reduce((progress, step) => step(progress), stored) as Progress;
}

/** Version 0 called acquirer identifiers `charge`, and a refund `reversal`. */
type TransactionVersion0 = Omit<PackedTransaction, "kind" | "identifiers" | "priorAttempts"> & {
  readonly kind: TransactionKind | "reversal";
  readonly charge?: AcquirerIdentifiers;
  readonly tried?: readonly {
    readonly charge: AcquirerIdentifiers;
    readonly amount: PackedMoney;
  }[];
};
type ProgressVersion0 = Omit<Progress, "transaction" | "earlier" | "owed"> & {
  readonly transaction: TransactionVersion0;
  readonly earlier: readonly TransactionVersion0[];
  readonly owed?: Omit<Owed, "effect"> & { readonly effect: Owed["effect"] | "give_back" };
};

function renameVersion0(stored: object): Progress {
  const { transaction, earlier, owed, ...rest } = stored as ProgressVersion0;
  const effect = owed?.effect === "give_back" ? "refund" : owed?.effect;
  return {
    ...rest,
    owed: owed === undefined || effect === undefined ? undefined : { ...owed, effect },
    transaction: renameTransaction(transaction),
    earlier: earlier.map(renameTransaction),
  };
}

function renameTransaction(stored: TransactionVersion0): PackedTransaction {
  const { kind, charge, tried, ...rest } = stored;
  const renamed = tried?.map(({ charge: identifiers, amount }) => ({ identifiers, amount }));
  return {
    ...rest,
    kind: kind === "reversal" ? "refund" : kind,
    identifiers: charge,
    ...(renamed === undefined ? {} : { priorAttempts: renamed }),
  };
}

function unpackPurchase({ amount, otherAmounts, ...rest }: PackedPurchase): Purchase {
  const purchase = { ...rest, amount: unpackMoney(amount) };
  if (otherAmounts === undefined) return purchase;
  return { ...purchase, otherAmounts: otherAmounts.map(unpackMoney) };
}

function unpackTransaction(packed: PackedTransaction): Transaction {
  const { amount, answer, request, priorAttempts, ...rest } = packed;
  return {
    ...rest,
    amount: unpackMoney(amount),
    answer: answer === undefined ? undefined : unpackAnswer(answer),
    // Rows of before there were follow-ups count under another name, and none needs it any more.
    tries: rest.tries ?? 0,
    ...(request === undefined ? {} : { request: unpackRequest(request) }),
    ...(priorAttempts === undefined
      ? {}
      : { priorAttempts: priorAttempts.map(unpackPriorAttempt) }),
  };
}

function unpackPriorAttempt({ identifiers, amount }: PackedPriorAttempt): PriorAttempt {
  return { identifiers, amount: unpackMoney(amount) };
}

function unpackAnswer({ approvedAmount, ...rest }: PackedAnswer): Answer {
  const money = approvedAmount === undefined ? undefined : unpackMoney(approvedAmount);
  return { ...rest, approvedAmount: money };
}

function unpackRequest({ amount, ...rest }: PackedRequest): FollowUpTerms {
  return { ...rest, amount: amount === undefined ? undefined : unpackMoney(amount) };
}
