/**
 * Decides whether an authentication takes place (the `look_up_3ds` effect), and what its status in
 * an ARes, RReq or PARes means for an order. Where none was possible, the endpoint's policy
 * decides, unless the issuer or a rule has demanded one: the order cannot continue without it.
 */
import { type Emv3dsMessage, textOf } from "@tollgate/protocols/emv3ds";
import type { EventOf, OrderEvent } from "../orders/events.ts";
import type { Endpoint, EndpointSettings } from "../orders/merchant.ts";
import type { Order, ThreeDSecure } from "../orders/order.ts";
import type { Network } from "../values/card-number.ts";
import type { OrderId } from "../values/ids.ts";

type AuthenticationResult = {
  /** Y, A, N or R. Every other status counts as U. */
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

/** The message is an ARes or an RReq. */
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
 * The indicator for a wallet's token that comes without one. Both wallets send Visa's. By walletb's
 * published table, Mastercard's token without one is the merchant's risk.
 */
export function eciOfToken(
  wallet: "walleta" | "walletb",
  network: Network | undefined,
): string | undefined {
  if (network === "VISA") return eciOf(network, "none");
  const isMastercard = network === "MASTERCARD" || network === "MAESTRO";
  return wallet === "walletb" && isMastercard ? tokenAtRisk : eciOf(network, "full");
}

/** Mastercard's indicator for a token that no issuer has authenticated. */
const tokenAtRisk = "06";

/** Some messages leave out the network's electronic commerce indicator. */
export function eciOf(
  network: Network | undefined,
  strength: keyof Indicators,
): string | undefined {
  return (network === undefined ? most : (others[network] ?? most))[strength];
}

type Conditions = {
  readonly endpoint: Pick<Endpoint, "settings">;
  /** Twenty random bytes, from which the authentication's id is made. */
  readonly entropy: Uint8Array;
};

/** Begins an authentication if the card's range was found when the order was accepted. */
export function lookUp3ds(order: Order, { endpoint, entropy }: Conditions): OrderEvent {
  const { enrolment } = order.card;
  if (enrolment === undefined) return withoutAuthentication(order, endpoint.settings.threeDSecure);
  const { directory, version, methodUrl } = enrolment;
  if (version === "1.0.2") {
    const transactionId = Buffer.from(entropy).toString("base64");
    return { kind: "enrolment_due", threeds: { directory, version, transactionId } };
  }
  const threeds: ThreeDSecure = {
    directory,
    version,
    transactionId: transactionIdOf(order.id, entropy),
    ...(methodUrl === undefined ? {} : { methodUrl }),
  };
  const { browser } = order.transaction.threeds ?? {};
  if (browser !== undefined) {
    // The issuer demands a challenge. Its method has run for the earlier id, and not for this one.
    const seen = { ...browser, completion: methodUrl === undefined ? "U" : "N" } as const;
    return { kind: "authentication_due", threeds: { ...threeds, browser: seen } };
  }
  return { kind: methodUrl === undefined ? "authentication_due" : "method_requested", threeds };
}

/**
 * A version 4 UUID, as directory servers expect it. A result message names the order by nothing
 * else, so its last twelve digits are the order's number. The rest is random, so that only the
 * parties of the authentication know the id.
 */
function transactionIdOf(order: OrderId, entropy: Uint8Array): string {
  const hex = Buffer.from(entropy).toString("hex");
  const variant = (((entropy[8] ?? 0) & 0x3f) | 0x80).toString(16);
  const number = Number(order).toString(16).padStart(12, "0");
  const [start, middle] = [hex.slice(0, 8), hex.slice(8, 12)];
  return `${start}-${middle}-4${hex.slice(13, 16)}-${variant}${hex.slice(18, 20)}-${number}`;
}

/** The highest number of an order that fits into an id. */
const orderNumberMax = 9_223_372_036_853;

/** Returns undefined if the text is not an id. */
export function orderNumberIn(transactionId: string): number | undefined {
  const [, digits] = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-([0-9a-f]{12})$/i.exec(transactionId) ?? [];
  const number = Number.parseInt(digits ?? "0", 16);
  return digits === undefined || number > orderNumberMax ? undefined : number;
}

/** Directory servers and issuers may change the case of ids. */
export function isSameId(received: string | undefined, known: string | undefined): boolean {
  return known !== undefined && received?.toLowerCase() === known.toLowerCase();
}
