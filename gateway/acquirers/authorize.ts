/**
 * Does the `authorize` effect: asks the order's acquirer for the money, and reports the answer.
 * While nothing has left, another gate may take the order; afterwards none ever does.
 */
import { nextAmount } from "../orders/amounts.ts";
import type { CardData, EffectHandler } from "../orders/effect-handler.ts";
import type { OrderEvent } from "../orders/events.ts";
import type { GateFacts, Order, Reason } from "../orders/order.ts";
import type { Authorization } from "./acquirer.ts";
import { type ApprovalDependencies, makeApprovalEvent, notSent } from "./answer-events.ts";
import { type AcquirerOf, authorizationRequestOf, type FindCard } from "./attempt.ts";
import type { IsTooLate } from "./too-late.ts";

type Dependencies = ApprovalDependencies & {
  readonly acquirerOf: AcquirerOf;
  readonly findCard: FindCard;
  /** The card with its CVV, while the cardholder was being authenticated. */
  readonly findPendingCard: (order: Order) => Promise<CardData | undefined>;
  /** The issuer may be given what it asks for: a cardholder who is challenged. */
  readonly mayChallenge: (order: Order, responseCode: string) => boolean;
  readonly reasonOf: (responseCode: string) => Reason;
  /** A lost card is refused for any amount, and what may yet be done is not tried anew. */
  readonly endsList: (responseCode: string) => boolean;
  /** Another gate that is ready; nothing when there is none. */
  readonly findOtherGate: (order: Order) => GateFacts | undefined;
  readonly isTooLate: IsTooLate;
};

export function makeAuthorize(dependencies: Dependencies): EffectHandler {
  const approvalEvent = makeApprovalEvent(dependencies);
  return async (order, { startedBefore, cardData }) => {
    const acquirer = dependencies.acquirerOf(order);
    // Begun by a node that ended: it may have left, so it is never sent again.
    if (startedBefore) return inDoubt(acquirer?.inquire !== undefined, "node_lost");

    const paid = cardData ?? (await findPaid(order));
    if (paid === undefined) return cardLost;
    const attempt = authorizationRequestOf(order, paid, paid);
    if (attempt === undefined || dependencies.isTooLate(order)) return notSent;
    if (acquirer === undefined) return goElsewhere(order, "no such gate");
    const outcome = await acquirer.authorize(attempt);
    switch (outcome.kind) {
      case "not_sent":
        return goElsewhere(order, "nothing was sent");
      case "unknown":
        return inDoubt(acquirer.inquire !== undefined, outcome.cause);
      default:
        return answered(order, outcome);
    }
  };

  /**
   * A card of which the merchant keeps a reference may be charged without its CVV, and so may one
   * whose CVV was answered once already. Any other exists only while its order is in hand, or held.
   */
  async function findPaid(order: Order): Promise<CardData | undefined> {
    const { transaction, purchase } = order;
    const held = transaction.threeds && (await dependencies.findPendingCard(order));
    if (held !== undefined) return held;
    const isEnough = purchase.credential !== undefined || transaction.demanded !== undefined;
    const kept = isEnough ? await dependencies.findCard(order) : undefined;
    return kept && { ...kept, cvv: undefined };
  }

  function goElsewhere(order: Order, cause: string): OrderEvent {
    const gate = dependencies.findOtherGate(order);
    return gate === undefined ? notSent : { kind: "rerouted", gate, cause };
  }

  function answered(order: Order, { kind, answer }: Answered): OrderEvent {
    if (kind === "refused") {
      const reason = dependencies.reasonOf(answer.responseCode);
      if (dependencies.mayChallenge(order, answer.responseCode)) {
        return { kind: "authentication_demanded", answer, reason };
      }
      const next = dependencies.endsList(answer.responseCode) ? undefined : nextAmount(order);
      return next === undefined
        ? { kind: "refused", answer, reason }
        : { kind: "amount_refused", answer, reason, next };
    }
    return approvalEvent(order, { kind, answer });
  }
}

/** The database has lost it by a crash: nothing was sent, and nothing can be. */
const cardLost: OrderEvent = {
  kind: "gate_unavailable",
  reason: { code: "card_not_held", detail: "" },
};

type Answered = Exclude<Authorization, { readonly kind: "not_sent" | "unknown" }>;

function inDoubt(canInquire: boolean, cause: string): OrderEvent {
  return { kind: canInquire ? "outcome_in_question" : "outcome_unknown", cause };
}
