/**
 * Does the `inquire` effect: asks the host what became of a charge that it did not answer. Only an
 * approval settles it. Whatever else the host says, the charge may still be on its way to it, so
 * the order goes on to a reversal, which makes sure.
 */
import type { EffectHandler } from "../orders/effect-handler.ts";
import { traceNumberOf } from "../orders/trace.ts";
import { type ApprovalDependencies, makeApprovalEvent } from "./answer-events.ts";
import { type AcquirerOf, authorizationRequestOf, type FindCard } from "./attempt.ts";

type Dependencies = ApprovalDependencies & {
  readonly acquirerOf: AcquirerOf;
  readonly findCard: FindCard;
};

export function makeInquire(dependencies: Dependencies): EffectHandler {
  const approvalEvent = makeApprovalEvent(dependencies);
  return async (order, { cardData }) => {
    const { inquire } = dependencies.acquirerOf(order) ?? {};
    const card = cardData ?? (await dependencies.findCard(order));
    const attempt = card && authorizationRequestOf(order, card);
    if (inquire === undefined || attempt === undefined) return notFound("cannot be asked");

    const found = await inquire(attempt, {
      traceNumber: traceNumberOf(order.id, 1, attempt.identifiers.attempt),
    });
    switch (found.kind) {
      case "approved":
      case "approved_in_part":
        return approvalEvent(order, found);
      case "unknown":
        return notFound(found.cause);
      default:
        return notFound(found.kind);
    }
  };
}

function notFound(cause: string) {
  return { kind: "charge_not_found", cause } as const;
}
