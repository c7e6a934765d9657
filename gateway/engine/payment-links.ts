/**
 * Shows payment links and begins their orders (decision 0056). Each shown page of a link has its
 * own id; its first post begins an order, and all further posts lead to that order. If the link has
 * a limited number of uses, a page reserves one before its order begins, so that two concurrent
 * cardholders, at any nodes, cannot both pay the last use.
 */
import { randomBytes, randomUUIDv7 } from "node:crypto";
import type { Endpoint } from "../orders/merchant.ts";
import { noCustomer, type Order, type Purchase } from "../orders/order.ts";
import {
  clientOrderIdOf,
  findEnd,
  type LinkKey,
  type PaymentLink,
} from "../orders/payment-page.ts";
import type { PageTerms } from "../orders/requests.ts";
import { initialOf } from "../orders/transactions.ts";
import { Failure } from "../values/failure.ts";
import { asSerialNumber, type EndpointId } from "../values/ids.ts";
import { Secret } from "../values/secret.ts";
import { asInstant, type Clock, hours, type Instant, later, minutes } from "../values/time.ts";
import { type AcceptOrders, endedUnpaid } from "./accept.ts";
import type { FindExisting } from "./find.ts";
import { type Asked, wantedFieldsOf } from "./page-submission.ts";
import { isOn, needsCvvAt, type PageDependencies } from "./payment-page.ts";

type LinkStore = {
  find(link: LinkKey): Promise<PaymentLink | undefined>;
  /** Reserves a use of the link for the page. Returns true also if the page already has a use. */
  reserve(link: LinkKey, page: string, now: Instant): Promise<boolean>;
  release(link: LinkKey, pages: readonly string[]): Promise<void>;
};

type Dependencies = {
  readonly store: LinkStore;
  readonly readLinkToken: (token: string) => LinkKey | undefined;
  readonly findEndpoint: (id: EndpointId) => Endpoint | undefined;
  readonly findExisting: FindExisting;
  readonly accept: AcceptOrders["accept"];
  readonly termsOf: (endpoint: Endpoint) => PageTerms;
  readonly tokens: PageDependencies["tokens"];
  readonly clock: Pick<Clock, "now">;
};

/**
 * `waiting`: the link's only order waits for a card. `in_use`: all uses are taken and at least one
 * payment is in progress. `paid`: all uses are paid. `disabled`: the endpoint or merchant is
 * disabled.
 */
type PaymentLinkState =
  | { readonly kind: "open"; readonly page: string }
  | { readonly kind: "waiting"; readonly order: Order }
  | { readonly kind: "paid"; readonly orders: readonly Order[] }
  | { readonly kind: "in_use" | "closed" | "expired" | "disabled" };

type FoundLink = {
  readonly link: PaymentLink;
  readonly endpoint: Endpoint;
  readonly asked: Asked;
  readonly state: PaymentLinkState;
};

export type PaymentLinks = ReturnType<typeof makePaymentLinks>;

export function makePaymentLinks(dependencies: Dependencies) {
  const { store, clock, findExisting, accept, termsOf } = dependencies;
  const pages = makeLinkPages(dependencies);
  return { find, begin };

  /** Returns undefined if this installation did not make the token. */
  async function find(token: string): Promise<FoundLink | undefined> {
    const key = dependencies.readLinkToken(token);
    const link = key && (await store.find(key));
    const endpoint = link && dependencies.findEndpoint(link.endpointId);
    if (link === undefined || endpoint === undefined) return undefined;
    const order = { purchase: purchaseOf(link), page: { linkId: link.id } };
    const wanted = wantedFieldsOf(order, endpoint);
    const asked = { order, wanted, needsCvv: needsCvvAt(endpoint, order.purchase) };
    return { link, endpoint, asked, state: await stateOf(link, endpoint) };
  }

  async function stateOf(link: PaymentLink, endpoint: Endpoint): Promise<PaymentLinkState> {
    const end = findEnd(link, clock.now()) ?? (isOpen(link, endpoint) ? undefined : "disabled");
    if (!isFull(link)) return end ? { kind: end } : { kind: "open", page: pages.issue(link) };
    const used = await usesOf(link);
    if (used.every(({ isPaid }) => isPaid)) {
      return { kind: "paid", orders: used.flatMap(({ order }) => order ?? []) };
    }
    const [only] = used;
    // The link may have ended, but an order that began earlier may still be paid.
    if (link.usesMax === 1 && only?.order !== undefined && isWaiting(only.order)) {
      return { kind: "waiting", order: only.order };
    }
    if (end !== undefined) return { kind: end };
    const isFree = used.some((use) => use.isFree);
    return isFree ? { kind: "open", page: pages.issue(link) } : { kind: "in_use" };
  }

  /** Returns the order that an earlier submission of the page began, or begins one. */
  async function begin({ link, endpoint }: FoundLink, token: string): Promise<Order | Failure> {
    const page = pages.read(link, token);
    if (page === undefined) return notNow;
    const clientOrderId = clientOrderIdOf(link, page);
    const [known] = await findExisting(link.merchantId, clientOrderId);
    if (known !== undefined) return known.order;
    if (!isOpen(link, endpoint) || !(await reserve(link, page))) return notNow;
    const text = new Secret(`link/${clientOrderId}`);
    const accepted = await accept({
      kind: "sale",
      serialNumber: asSerialNumber(randomUUIDv7()),
      clientOrderId,
      merchantId: link.merchantId,
      endpointId: link.endpointId,
      purchase: purchaseOf(link),
      card: { kind: "none" },
      cardData: undefined,
      requestFingerprint: { text, cvv: undefined },
      page: { ...termsOf(endpoint), linkId: link.id },
    });
    return accepted instanceof Failure ? accepted : accepted.order;
  }

  /** Without a maximum number of uses, a link needs no reservation. */
  async function reserve(link: PaymentLink, page: string): Promise<boolean> {
    if (link.usesMax === undefined) return findEnd(link, clock.now()) === undefined;
    if (await store.reserve(link, page, clock.now())) return true;
    const present = await store.find(link);
    if (present === undefined || findEnd(present, clock.now())) return false;
    const free = (await usesOf(present)).filter(({ isFree }) => isFree);
    if (free.length === 0) return false;
    await store.release(
      link,
      free.map((use) => use.page),
    );
    return store.reserve(link, page, clock.now());
  }

  async function usesOf(link: PaymentLink) {
    return Promise.all(
      link.uses.map(async (page) => {
        const known = await findExisting(link.merchantId, clientOrderIdOf(link, page));
        // A shown page begins one order, and that order never has a second attempt.
        const order = known.at(-1)?.order;
        const isPaid = order !== undefined && initialOf(order).stage === "approved";
        // The page's last submission has ended and began no order, so the page's use is free again.
        const isAbandoned = pages.isOver(page, later(clock.now(), -postMs));
        const isFree = order === undefined ? isAbandoned : endedUnpaid(order);
        return { page, order, isPaid, isFree };
      }),
    );
  }
}

/** The longest time that the submission of a page can take, with a wide margin. */
const postMs = minutes(10);
/** For how long the page of a payment link can be submitted. */
const pageLifeMs = hours(2);

const notNow = new Failure("not_allowed_now", "", "the payment link has no use for this page");

/** A payment link's page has a new id each time it is shown. The id is signed and expires. */
function makeLinkPages({ tokens, clock }: Pick<Dependencies, "tokens" | "clock">) {
  const textOf = ({ merchantId, id }: LinkKey, page: string) =>
    `link page/${merchantId}/${id}/${page}`;
  const isOver = (page: string, now: Instant) =>
    asInstant(Number.parseInt(page, 36) * 1000 + pageLifeMs) <= now;
  return {
    isOver,
    /** Returns a new id for a page of the link, with a signature. */
    issue(link: LinkKey): string {
      const second = Math.floor(clock.now() / 1000).toString(36);
      const page = `${second}-${randomBytes(8).toString("hex")}`;
      return `${page}.${tokens.tokenOf(textOf(link, page))}`;
    },
    /** Returns a token's page id if the page is not over and belongs to the payment link. */
    read(link: LinkKey, shown: string): string | undefined {
      const [page = "", proof = ""] = shown.split(".");
      if (!tokens.isToken(textOf(link, page), proof)) return undefined;
      return isOver(page, clock.now()) ? undefined : page;
    },
  };
}

function isOpen({ channel }: PaymentLink, endpoint: Endpoint): boolean {
  return isOn(endpoint) && (channel === undefined || endpoint.settings.moto === true);
}

function purchaseOf({ channel, ...link }: PaymentLink): Purchase {
  const { amount, description, returnUrl, callbackUrl } = link;
  return {
    ...(channel && { channel }),
    amount,
    description,
    ipAddress: "",
    customer: noCustomer,
    browser: undefined,
    urls: {
      redirect: returnUrl,
      redirectSuccess: undefined,
      redirectFail: undefined,
      serverCallback: callbackUrl,
      notify: undefined,
    },
    merchantData: undefined,
    purpose: undefined,
    comment: undefined,
    siteUrl: undefined,
  };
}

function isFull({ usesMax, uses }: PaymentLink): boolean {
  return usesMax !== undefined && uses.length >= usesMax;
}

function isWaiting({ transaction }: Order): boolean {
  return transaction.stage === "awaiting_card";
}
