/**
 * The movements of money to compare with the acquirer's books: all that the acquirer has approved,
 * under the reference of its files. A hold moves no money, and neither does a charge in doubt that
 * was reversed.
 */
import type { GateId } from "../values/ids.ts";
import type { Currency } from "../values/iso-codes.ts";
import type { Money } from "../values/money.ts";
import type { Instant } from "../values/time.ts";
import type { Order, Transaction } from "./order.ts";
import { priorAttemptsOf } from "./prior-attempts.ts";
import { initialOf, transactionsOf } from "./transactions.ts";

export const settlementKinds = {
  "sale": "debit",
  "capture": "debit",
  "reversal": "credit",
  "refund": "credit",
  "payout": "credit",
  "chargeback": "credit",
  "chargeback-reversal": "debit",
} as const;
export type SettlementKind = keyof typeof settlementKinds;

export type Sums = { readonly count: number; readonly minor: bigint };

/** A day's totals for one gate and currency, as reconciliation messages count them. */
export type DayTotals = {
  readonly currency: Currency;
  /** Refunds and payouts: payments to cards. */
  readonly credits: Sums;
  /** Sales and captures. */
  readonly debits: Sums;
  readonly debitReversals: Sums;
};

export type SettlementItem = {
  readonly reference: string;
  readonly kind: SettlementKind;
  readonly money: Money;
  readonly at: Instant;
  readonly gateId: GateId;
  /** The acquirer's file may omit it: disputes and released holds are reported elsewhere. */
  readonly isOptional: boolean;
};

export function settlementItemsOf(order: Order): readonly SettlementItem[] {
  const approved = transactionsOf(order).filter(({ stage }) => stage === "approved");
  return [...approved.flatMap(itemOf), ...chargebackItemsOf(order)];
}

function itemOf(transaction: Transaction): readonly SettlementItem[] {
  const { identifiers, answer, amount, finishedAt } = transaction;
  const kind = kindOf(transaction);
  const at = answer?.processedAt ?? finishedAt;
  if (identifiers === undefined || kind === undefined || at === undefined) return [];
  const { reference, gate } = identifiers;
  // The approved amount may be less than the requested one.
  const money = kind === "sale" ? (answer?.approvedAmount ?? amount) : amount;
  const isOptional = transaction.kind === "cancel";
  return [{ reference, kind, money, at, gateId: gate.id, isOptional }];
}

function kindOf({ kind, asRefund }: Transaction): SettlementKind | undefined {
  if (asRefund === true) return "refund";
  if (kind === "sale" || kind === "capture" || kind === "payout") return kind;
  return kind === "refund" || kind === "cancel" || kind === "void" ? "reversal" : undefined;
}

function chargebackItemsOf(order: Order): readonly SettlementItem[] {
  const { identifiers } = initialOf(order);
  if (identifiers === undefined) return [];
  const { reference, gate } = identifiers;
  return (order.chargebacks ?? []).flatMap(({ stage, amount: money, at }) => {
    if (stage !== "first" && stage !== "reversed") return [];
    const kind = stage === "first" ? "chargeback" : "chargeback-reversal";
    return [{ reference, kind, money, at, gateId: gate.id, isOptional: true }];
  });
}

/** Returns every reference under which the acquirer may have booked something for the order. */
export function referencesOf(order: Order): readonly string[] {
  const attempts = [...transactionsOf(order), ...priorAttemptsOf(order)];
  return attempts.flatMap(({ identifiers }) => identifiers?.reference ?? []);
}
