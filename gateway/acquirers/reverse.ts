/**
 * Does the `reverse` effect: tells the acquirer that a charge of unknown outcome must not stand.
 * The advice is repeated until it is answered, for as long as that takes; it is safe to repeat.
 */
import { nextAmount } from "../orders/amounts.ts";
import type { Doer } from "../orders/doer.ts";
import { traceNumberOf } from "../orders/trace.ts";
import { type AcquirerOf, attemptOf, type FindCard } from "./attempt.ts";

type Needs = { readonly acquirerOf: AcquirerOf; readonly findCard: FindCard };

export function makeReverse({ acquirerOf, findCard }: Needs): Doer {
  return async (order, { inHand, startedBefore }) => {
    const { answer, reason, tries } = order.transaction;
    const acquirer = acquirerOf(order);
    if (acquirer?.isReady() !== true) return unanswered("gate_unavailable");
    const card = inHand ?? (await findCard(order.merchantId, order.card.cardId));
    const attempt = card && attemptOf(order, card);
    if (attempt === undefined) return unanswered("card_not_held");

    const outcome = await acquirer.reverse(attempt, {
      traceNumber: traceNumberOf(order.id, 1),
      repeated: tries > 0 || startedBefore,
      approvalCode: answer?.approvalCode,
    });
    if (outcome.kind === "unknown") return unanswered(outcome.cause);
    const next = nextAmount(order);
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
