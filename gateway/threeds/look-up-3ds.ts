/**
 * Does the `look_up_3ds` effect: how does the card take part? Its range was found when the order
 * came; here the authentication gets its id and its first step.
 */
import type { OrderEvent } from "../orders/events.ts";
import type { Enrolment, Order, ThreeDSecure } from "../orders/order.ts";
import { newTransactionId, newXid } from "./transaction-id.ts";
import type { Judge } from "./verdict.ts";

export function makeLookUp3ds(judge: Judge): (order: Order) => OrderEvent {
  return (order) => {
    const { enrolment } = order.card;
    if (enrolment === undefined) return judge.unauthenticated(order);
    if (enrolment.version === "1.0.2") {
      return { kind: "enrolment_due", threeds: begin(enrolment, newXid()) };
    }
    const threeds = begin(enrolment, newTransactionId(order.id));
    const { browser } = order.transaction.threeds ?? {};
    if (browser !== undefined) {
      // The issuer wants a challenge now. Its method has run for the earlier id, and not for this.
      const seen = { ...browser, completion: threeds.methodUrl === undefined ? "U" : "N" } as const;
      return { kind: "authentication_due", threeds: { ...threeds, browser: seen } };
    }
    return threeds.methodUrl === undefined
      ? { kind: "authentication_due", threeds }
      : { kind: "method_requested", threeds };
  };
}

function begin({ directory, version, methodUrl }: Enrolment, transactionId: string): ThreeDSecure {
  const threeds = { directory, version, transactionId };
  return methodUrl === undefined ? threeds : { ...threeds, methodUrl };
}
