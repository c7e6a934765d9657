/** What the cardholder's browser has to do next, with everything that a page needs for it. */
import { decodeFormValue, encodeFormValue } from "@tollgate/protocols/emv3ds";
import type { Challenge, PendingStep } from "../orders/authentication.ts";
import type { Order } from "../orders/order.ts";
import type { Links } from "./links.ts";

export type StepOf = (order: Order) => PendingStep | undefined;

export function makeStepOf(links: Links): StepOf {
  return (order) => {
    const { stage, threeds } = order.transaction;
    // Asked for with every status, so nothing is made before it is known to be needed.
    const redirect = () => ({ redirectTo: links.to("redirect", order.id) });
    switch (stage) {
      case "awaiting_method": {
        const { transactionId = "", methodUrl = "" } = threeds ?? {};
        return {
          kind: "method",
          ...redirect(),
          ...{ transactionId, methodUrl },
          methodData: methodDataFor(transactionId, links.to("method", order.id)),
          framedMethodData: methodDataFor(transactionId, links.to("method-frame", order.id)),
        };
      }
      case "awaiting_challenge":
      case "awaiting_return":
        if (threeds?.challenge === undefined) return undefined;
        return { kind: "challenge", ...redirect(), ...challengeForms(threeds.challenge) };
      case "awaiting_pares": {
        const { acsUrl = "", pareq = "" } = threeds?.payerRequest ?? {};
        const termUrl = links.to("pares", order.id);
        return { kind: "pares", ...redirect(), acsUrl, pareq, md: links.mdOf(order.id), termUrl };
      }
      default:
        return undefined;
    }
  };
}

function methodDataFor(threeDSServerTransID: string, notificationUrl: string): string {
  return encodeFormValue({ threeDSServerTransID, threeDSMethodNotificationURL: notificationUrl });
}

function challengeForms({ acsUrl, creq }: Challenge) {
  return {
    acsUrl,
    creq,
    creqFor(windowSize: string): string {
      const text = decodeFormValue(creq);
      if (typeof text !== "string") return creq;
      return encodeFormValue({ ...JSON.parse(text), challengeWindowSize: windowSize });
    },
  };
}
