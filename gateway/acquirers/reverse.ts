/**
 * Does the `reverse` effect: tells the acquirer that a charge of unknown outcome must not stand.
 * The advice is repeated until it is answered, for as long as that takes; it is safe to repeat.
 */
import { nextAmount } from "../orders/amounts.ts";
import type { EffectHandler } from "../orders/effect-handler.ts";
import type { Order, PriorAttempt } from "../orders/order.ts";
import { traceNumberOf } from "../orders/trace.ts";
import { initialOf } from "../orders/transactions.ts";
import type { GateId } from "../values/ids.ts";
import type { Acquirer } from "./acquirer.ts";
import { type AcquirerOf, authorizationRequestOf, type FindCard } from "./attempt.ts";

type Dependencies = {
  readonly acquirerOf: AcquirerOf;
  readonly findCard: FindCard;
  /** Whether a payment that came so long ago may still be tried with another amount. */
  readonly mayGoOn: (order: Order) => boolean;
};

export function makeReverse({ acquirerOf, findCard, mayGoOn }: Dependencies): EffectHandler {
  return async (order, { cardData, startedBefore }) => {
    const { answer, reason, tries } = order.transaction;
    const acquirer = acquirerOf(order);
    if (acquirer?.isReady() !== true) return unanswered("gate_unavailable");
    const card = cardData ?? (await findCard(order));
    const attempt = card && authorizationRequestOf(order, card);
    if (attempt === undefined) return unanswered("card_not_held");

    const outcome = await acquirer.reverse(attempt, {
      traceNumber: traceNumberOf(order.id, 1, attempt.identifiers.attempt),
      repeated: tries > 0 || startedBefore,
      approvalCode: answer?.approvalCode,
    });
    if (outcome.kind === "unknown") return unanswered(outcome.cause);
    const next = mayGoOn(order) ? nextAmount(order) : undefined;
    if (next !== undefined && order.transaction.stage === "reversing") {
      return { kind: "amount_reversed", next };
    }
    // A part that was approved and taken back is a decline; doubt that was settled is an error.
    const wasPart = reason?.code === "partial_approval_refused";
    return { kind: wasPart ? "part_reversed" : "reversed" };
  };
}

function unanswered(cause: string) {
  return { kind: "reversal_unanswered", cause } as const;
}

/** Takes back a charge that an order tried before its present one; true when that is done. */
export function makeReversePriorAttempt({
  findAcquirer,
  findCard,
}: TriedDependencies): ReversePriorAttempt {
  return async (order, { identifiers, amount }) => {
    const acquirer = findAcquirer(identifiers.gate.id);
    const card = await findCard(order);
    const transaction = { ...initialOf(order), identifiers, amount };
    const attempt = card && authorizationRequestOf({ ...order, transaction }, card);
    if (attempt === undefined || acquirer?.isReady() !== true) return false;
    const traceNumber = traceNumberOf(order.id, 1, identifiers.attempt);
    const advice = { traceNumber, repeated: true, approvalCode: undefined };
    return (await acquirer.reverse(attempt, advice)).kind === "reversed";
  };
}

export type ReversePriorAttempt = (order: Order, priorAttempts: PriorAttempt) => Promise<boolean>;

type TriedDependencies = {
  readonly findAcquirer: (gate: GateId) => Acquirer | undefined;
  readonly findCard: FindCard;
};
