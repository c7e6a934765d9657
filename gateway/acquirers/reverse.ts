/**
 * The `reverse` effect: the handler tells the acquirer that a charge of unknown outcome must not
 * stand. The advice is repeated until the host answers it, however long that takes.
 */
import type { EffectHandler } from "../orders/events.ts";
import type { Order, PriorAttempt } from "../orders/order.ts";
import { traceNumberOf } from "../orders/trace.ts";
import { initialOf, nextAmount } from "../orders/transactions.ts";
import { type AcquirerDependencies, acquirerOf, authorizationRequestOf } from "./authorize.ts";

type Dependencies = Pick<
  AcquirerDependencies,
  "findAcquirer" | "findCard" | "clock" | "processingDeadlineMs"
>;

export function makeReverse(dependencies: Dependencies): EffectHandler {
  return async (order, { cardData, startedBefore }) => {
    const { answer, reason, tries, stage } = order.transaction;
    const acquirer = acquirerOf(order, dependencies);
    if (acquirer?.isReady() !== true) return unanswered("gate_unavailable");
    const card = cardData ?? (await dependencies.findCard(order));
    const request = card && authorizationRequestOf(order, card);
    if (request === undefined) return unanswered("card_not_held");

    const outcome = await acquirer.reverse(request, {
      traceNumber: traceNumberOf(order.id, 1, request.identifiers.attempt),
      repeated: tries > 0 || startedBefore,
      approvalCode: answer?.approvalCode,
    });
    if (outcome.kind === "unknown") return unanswered(outcome.cause);
    const isInTime =
      dependencies.clock.now() <= order.acceptedAt + dependencies.processingDeadlineMs;
    const next = isInTime && stage === "reversing" ? nextAmount(order) : undefined;
    if (next !== undefined) return { kind: "amount_reversed", next };
    // A partial approval that was reversed is a decline; doubt that was settled is an error.
    const wasPartial = reason?.code === "partial_approval_refused";
    return { kind: wasPartial ? "part_reversed" : "reversed" };
  };
}

function unanswered(cause: string) {
  return { kind: "reversal_unanswered", cause } as const;
}

/** Reverses a charge for an earlier amount of the list; true when the host has answered. */
export function makeReversePriorAttempt({
  findAcquirer,
  findCard,
}: Pick<Dependencies, "findAcquirer" | "findCard">) {
  return async (order: Order, { identifiers, amount }: PriorAttempt): Promise<boolean> => {
    const acquirer = findAcquirer(identifiers.gate.id);
    const card = await findCard(order);
    const transaction = { ...initialOf(order), identifiers, amount };
    const request = card && authorizationRequestOf({ ...order, transaction }, card);
    if (request === undefined || acquirer?.isReady() !== true) return false;
    const traceNumber = traceNumberOf(order.id, 1, identifiers.attempt);
    const advice = { traceNumber, repeated: true, approvalCode: undefined };
    return (await acquirer.reverse(request, advice)).kind === "reversed";
  };
}
