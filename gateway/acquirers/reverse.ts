/**
 * Does the `reverse` effect: tells the acquirer that a charge of unknown outcome must not stand.
 * The advice is repeated until it is answered, for as long as that takes; it is safe to repeat.
 */
import type { Doer } from "../orders/doer.ts";
import type { Order } from "../orders/order.ts";
import { traceNumberOf } from "../orders/trace.ts";
import type { CardId, MerchantId } from "../values/ids.ts";
import type { Acquirer, ChargedCard } from "./acquirer.ts";

export type FindCard = (merchant: MerchantId, card: CardId) => Promise<ChargedCard | undefined>;

type Needs = {
  readonly acquirerOf: (order: Order) => Acquirer | undefined;
  readonly findCard: FindCard;
};

export function makeReverse({ acquirerOf, findCard }: Needs): Doer {
  return async (order, { inHand, startedBefore }) => {
    const { charge, amount, answer, reason, reversalTries } = order.transaction;
    const acquirer = acquirerOf(order);
    if (charge === undefined || acquirer?.isReady() !== true) {
      return { kind: "reversal_unanswered", cause: "gate_unavailable" };
    }
    const card = inHand ?? (await findCard(order.merchantId, order.card.cardId));
    if (card === undefined) return { kind: "reversal_unanswered", cause: "card_not_held" };

    const outcome = await acquirer.reverse(
      { charge, amount, card, cvv: undefined, eci: undefined },
      {
        traceNumber: traceNumberOf(order.id, 1),
        repeated: reversalTries > 0 || startedBefore,
        approvalCode: answer?.approvalCode,
      },
    );
    if (outcome.kind === "unknown") return { kind: "reversal_unanswered", cause: outcome.cause };
    // A part that was approved and taken back is a decline; doubt that was settled is an error.
    const wasPart = reason?.code === "partial_approval_refused";
    return { kind: wasPart ? "part_reversed" : "reversed" };
  };
}
