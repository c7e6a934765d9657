/** Does the `authorize` effect: asks the order's acquirer for the money, and reports the answer. */
import type { Doer } from "../orders/doer.ts";
import type { OrderEvent } from "../orders/events.ts";
import type { Order, Reason } from "../orders/order.ts";
import type { ReceiptId } from "../values/ids.ts";
import type { Clock } from "../values/time.ts";
import type { Acquirer, Attempt, Authorization } from "./acquirer.ts";

type Needs = {
  readonly acquirerOf: (order: Order) => Acquirer | undefined;
  readonly reasonOf: (responseCode: string) => Reason;
  readonly newReceiptId: () => ReceiptId;
  readonly clock: Clock;
  readonly answerTimeoutMs: number;
};

export function makeAuthorize(needs: Needs): Doer {
  return async (order, { startedBefore, inHand }) => {
    // Begun by a node that ended: it may have left, so it is never sent again.
    if (startedBefore) return { kind: "outcome_unknown", cause: "node_lost" };

    const acquirer = needs.acquirerOf(order);
    const { charge } = order.transaction;
    if (acquirer === undefined || charge === undefined || inHand === undefined) return notSent;
    // So late that another node may take the order over before the bank's answer: better not sent.
    const answeredAt = needs.clock.now() + needs.answerTimeoutMs;
    if (answeredAt >= (order.owed?.claimableAt ?? 0)) return notSent;

    const attempt: Attempt = {
      charge,
      amount: order.transaction.amount,
      card: inHand,
      cvv: inHand.cvv,
      eci: order.transaction.authentication?.eci,
    };
    return eventOf(await acquirer.authorize(attempt));
  };

  function eventOf(outcome: Authorization): OrderEvent {
    switch (outcome.kind) {
      case "approved":
        return { kind: "authorized", answer: outcome.answer, receiptId: needs.newReceiptId() };
      case "approved_in_part":
        return { kind: "approved_in_part", answer: outcome.answer, reason: refusedPart };
      case "refused": {
        const reason = needs.reasonOf(outcome.answer.responseCode);
        return { kind: "refused", answer: outcome.answer, reason };
      }
      case "not_sent":
        return notSent;
      case "unknown":
        return { kind: "outcome_unknown", cause: outcome.cause };
    }
  }
}

const notSent: OrderEvent = {
  kind: "gate_unavailable",
  reason: { code: "gate_unavailable", detail: "" },
};
const refusedPart: Reason = { code: "partial_approval_refused", detail: "[10]" };
