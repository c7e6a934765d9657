/**
 * What the status of an authentication means for an order, in an ARes, an RReq or a PARes. Where no
 * authentication was possible the endpoint's policy decides, unless the issuer has demanded one:
 * then the order cannot go on without.
 */
import { type Emv3dsMessage, textOf } from "@tollgate/protocols/emv3ds";
import type { EventOf } from "../orders/events.ts";
import type { EndpointSettings } from "../orders/merchant.ts";
import type { Order } from "../orders/order.ts";
import type { Network } from "../values/card-number.ts";

type AuthenticationResult = {
  /** Y, A, N or R; every other status counts as U. */
  readonly status: string;
  readonly eci?: string | undefined;
  readonly value?: string | undefined;
  readonly directoryTransactionId?: string | undefined;
};

export type AuthenticationOutcome =
  | EventOf<"authenticated">
  | EventOf<"left_unauthenticated">
  | EventOf<"authentication_failed">;

export type ThreeDSecurePolicy = EndpointSettings["threeDSecure"];

/** Reads the result in an ARes or an RReq. */
export function resultIn(message: Emv3dsMessage): AuthenticationResult {
  return {
    status: textOf(message, "transStatus") ?? "U",
    eci: textOf(message, "eci"),
    value: textOf(message, "authenticationValue"),
    directoryTransactionId: textOf(message, "dsTransID"),
  };
}

export function outcomeOf(
  order: Order,
  result: AuthenticationResult,
  policy: ThreeDSecurePolicy,
): AuthenticationOutcome {
  const { status, eci, value, directoryTransactionId } = result;
  switch (status) {
    case "Y":
    case "A": {
      const authentication = {
        status: "AUTHENTICATED",
        eci: eci ?? eciOf(order.card.network, status === "Y" ? "full" : "attempt"),
        ...(value === undefined ? {} : { value }),
        ...(directoryTransactionId === undefined ? {} : { directoryTransactionId }),
      } as const;
      return { kind: "authenticated", authentication };
    }
    case "N":
    case "R": {
      const code = status === "N" ? "authentication_failed" : "authentication_rejected";
      const authentication = { status: "NOT_AUTHENTICATED", eci } as const;
      return { kind: "authentication_failed", authentication, reason: { code, detail: "" } };
    }
    default:
      return withoutAuthentication(order, policy);
  }
}

/** The card is not enrolled, or its directory server or issuer gave no valid answer. */
export function withoutAuthentication(
  { card, transaction: { demanded, forces3ds } }: Order,
  policy: ThreeDSecurePolicy,
): AuthenticationOutcome {
  const authentication = { status: "UNSUPPORTED", eci: eciOf(card.network, "none") } as const;
  if (demanded === undefined && forces3ds === undefined && policy !== "always") {
    return { kind: "left_unauthenticated", authentication };
  }
  const reason = demanded ?? ({ code: "authentication_missing", detail: "" } as const);
  return { kind: "authentication_failed", authentication, reason };
}

type Indicators = { readonly full: string; readonly attempt: string; readonly none?: string };

const most: Indicators = { full: "05", attempt: "06", none: "07" };
const mastercard: Indicators = { full: "02", attempt: "01", none: "00" };

const others: { readonly [Name in Network]?: Indicators } = {
  MASTERCARD: mastercard,
  MAESTRO: mastercard,
  MIR: { full: "02", attempt: "01" },
};

/**
 * The indicator of a wallet's token that has none. Both wallets send Visa's. The table that walletb
 * publishes says that Mastercard's token without one is the merchant's risk; walleta never has
 * that.
 */
export function eciOfToken(
  wallet: "walleta" | "walletb",
  network: Network | undefined,
): string | undefined {
  if (network === "VISA") return eciOf(network, "none");
  const isMastercard = network === "MASTERCARD" || network === "MAESTRO";
  return wallet === "walletb" && isMastercard ? tokenAtRisk : eciOf(network, "full");
}

/** Mastercard's indicator of a token that no issuer has authenticated. */
const tokenAtRisk = "06";

/** The network's electronic commerce indicator, for messages that leave it out. */
export function eciOf(
  network: Network | undefined,
  strength: keyof Indicators,
): string | undefined {
  return (network === undefined ? most : (others[network] ?? most))[strength];
}
