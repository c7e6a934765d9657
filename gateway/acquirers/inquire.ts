/**
 * Does the `inquire` effect: asks the host what became of a charge that it did not answer. Only an
 * approval settles it. Whatever else the host says, the charge may still be on its way to it, so
 * the order goes on to a reversal, which makes sure.
 */
import type { Doer } from "../orders/doer.ts";
import { traceNumberOf } from "../orders/trace.ts";
import { type ApprovalNeeds, makeApprovalEvent } from "./answer-events.ts";
import { type AcquirerOf, attemptOf, type FindCard } from "./attempt.ts";

type Needs = ApprovalNeeds & { readonly acquirerOf: AcquirerOf; readonly findCard: FindCard };

export function makeInquire(needs: Needs): Doer {
  const approvalEvent = makeApprovalEvent(needs);
  return async (order, { inHand }) => {
    const { inquire } = needs.acquirerOf(order) ?? {};
    const card = inHand ?? (await needs.findCard(order));
    const attempt = card && attemptOf(order, card);
    if (inquire === undefined || attempt === undefined) return notFound("cannot be asked");

    const found = await inquire(attempt, {
      traceNumber: traceNumberOf(order.id, 1, attempt.charge.attempt),
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
