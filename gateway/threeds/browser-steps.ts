/**
 * What the cardholder's browser does next, and the links for it. A link names an order and has a
 * token that only the gateway can make, so that no other payment can be found by counting.
 */
import { decodeFormValue, encodeFormValue } from "@tollgate/protocols/emv3ds";
import type { Challenge, PendingStep } from "../orders/authentication.ts";
import type { Order } from "../orders/order.ts";
import { asOrderId, isNumericId, type OrderId } from "../values/ids.ts";
import type { Instant } from "../values/time.ts";

/**
 * The pages that links lead to. The issuer's method in a frame of our own page is given the token
 * of `method-frame`, which opens nothing; only the issuer sees the other links.
 */
type LinkedPage = "redirect" | "method" | "method-frame" | "challenge" | "pares";

export type BrowserLinks = ReturnType<typeof makeLinks>;

export type LinkDependencies = {
  /** The public address, without a slash at its end. */
  readonly baseUrl: () => string;
  readonly pathWord: string;
  /** Keyed, so that no one else can make it; the same text gives the same token. */
  readonly tokenOf: (text: string) => string;
  readonly isToken: (text: string, token: string) => boolean;
};

export function makeLinks({ baseUrl, pathWord, tokenOf, isToken }: LinkDependencies) {
  const pathTo = (page: LinkedPage, order: OrderId) => {
    const token = tokenOf(page === "method-frame" ? `frame/${order}` : `link/${order}`);
    return `${pathWord}/form/${page}/${order}/${token}`;
  };
  return {
    pathTo,
    to: (page: LinkedPage, order: OrderId) => `${baseUrl()}/${pathTo(page, order)}`,
    /** The MD that comes back unchanged with a PaRes. */
    mdOf: (order: Order) => tokenOf(mdTextOf(order)),
    isMd: (order: Order, md: string) => isToken(mdTextOf(order), md),
    isToken: (order: OrderId, token: string) => isToken(`link/${order}`, token),
  };
}

/** Each try on the payment page has its own: an answer to the one before must not end it. */
function mdTextOf({ id, page, card }: Order): string {
  return page === undefined ? `md/${id}` : `md/${id}/${card.cardId}`;
}

type FindDependencies = {
  readonly findByNumber: (number: number) => Promise<Order | undefined>;
  readonly links: BrowserLinks;
  readonly clock: { now(): Instant };
  readonly lifeMs: number;
};

/** The order of a link; undefined when the link is not ours, or has expired. */
export function makeFindByLink({ findByNumber, links, clock, lifeMs }: FindDependencies) {
  return async (orderId: string, token: string): Promise<Order | undefined> => {
    if (!isNumericId(orderId) || orderId.length < 7) return undefined;
    const id = asOrderId(orderId);
    if (!links.isToken(id, token)) return undefined;
    const order = await findByNumber(Number(id));
    if (order?.id !== id) return undefined;
    // A payment page takes cards for as long as its endpoint says.
    const from = order.page?.expiresAt ?? order.acceptedAt;
    return clock.now() > from + lifeMs ? undefined : order;
  };
}

export function stepOf(order: Order, links: BrowserLinks): PendingStep | undefined {
  const { stage, threeds } = order.transaction;
  // Called for every status request, so tokens are made only where they are needed.
  const redirect = () => ({ redirectTo: links.to("redirect", order.id) });
  switch (stage) {
    case "awaiting_method": {
      const { transactionId = "", methodUrl = "" } = threeds ?? {};
      return {
        kind: "method",
        ...redirect(),
        transactionId,
        methodUrl,
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
      return { kind: "pares", ...redirect(), acsUrl, pareq, md: links.mdOf(order), termUrl };
    }
    default:
      return undefined;
  }
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
