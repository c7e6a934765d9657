/**
 * What an authentication's status means for an order, whoever tells it: an ARes, an RReq or a
 * PARes. What could not be done is for the endpoint's policy to judge, unless the issuer has
 * demanded it: then there is no way without.
 */
import type { EventOf } from "../orders/events.ts";
import type { Endpoint } from "../orders/merchant.ts";
import type { Order } from "../orders/order.ts";
import type { EndpointId } from "../values/ids.ts";
import { eciOf } from "./eci.ts";

export type Heard = {
  /** Y, A, N, R and U; whatever else counts as U. */
  readonly status: string;
  readonly eci?: string | undefined;
  readonly value?: string | undefined;
  readonly directoryTransactionId?: string | undefined;
};

export type AuthenticationOutcome =
  | EventOf<"authenticated">
  | EventOf<"left_unauthenticated">
  | EventOf<"authentication_failed">;
export type Judge = {
  (order: Order, heard: Heard): AuthenticationOutcome;
  /** The card does not take part, or nobody answers for it. */
  unauthenticated(order: Order): AuthenticationOutcome;
};

export function makeJudge(getEndpoint: (id: EndpointId) => Endpoint): Judge {
  return Object.assign(judge, { unauthenticated });

  function judge(order: Order, heard: Heard): AuthenticationOutcome {
    switch (heard.status) {
      case "Y":
      case "A":
        return { kind: "authenticated", authentication: proofOf(order, heard) };
      case "N":
        return failed(heard, "authentication_failed");
      case "R":
        return failed(heard, "authentication_rejected");
      default:
        return unauthenticated(order);
    }
  }

  function unauthenticated(order: Order): AuthenticationOutcome {
    const { network } = order.card;
    const { demanded } = order.transaction;
    const authentication = { status: "UNSUPPORTED", eci: eciOf(network, "none") } as const;
    const { threeDSecure } = getEndpoint(order.endpointId).settings;
    if (demanded === undefined && threeDSecure !== "always") {
      return { kind: "left_unauthenticated", authentication };
    }
    const reason = demanded ?? ({ code: "authentication_missing", detail: "" } as const);
    return { kind: "authentication_failed", authentication, reason };
  }
}

function proofOf({ card }: Order, heard: Heard) {
  const { value, directoryTransactionId } = heard;
  const strength = heard.status === "Y" ? "full" : "attempt";
  return {
    status: "AUTHENTICATED",
    eci: heard.eci ?? eciOf(card.network, strength),
    ...(value === undefined ? {} : { value }),
    ...(directoryTransactionId === undefined ? {} : { directoryTransactionId }),
  } as const;
}

function failed(
  { eci }: Heard,
  code: "authentication_failed" | "authentication_rejected",
): AuthenticationOutcome {
  const authentication = { status: "NOT_AUTHENTICATED", eci } as const;
  return { kind: "authentication_failed", authentication, reason: { code, detail: "" } };
}
