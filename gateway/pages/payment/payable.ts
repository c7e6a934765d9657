/**
 * Decides what the page of an order or of a payment link shows. An order's page shows the form
 * while the order waits for a card, and otherwise redirects to the pages of 3-D Secure. Those pages
 * show a try's steps and result, and redirect back if another try is permitted.
 */
import { hash, timingSafeEqual } from "node:crypto";
import type { PaymentLinks } from "../../engine/payment-links.ts";
import type { PaymentPages } from "../../engine/payment-page.ts";
import type { HttpRequest } from "../../http/router.ts";
import type { Guarded } from "../../http/server.ts";
import { shopNameOf } from "../../orders/merchant.ts";
import type { Order } from "../../orders/order.ts";
import { initialOf, totalsOf } from "../../orders/transactions.ts";
import type { CardTries } from "../../screening/page-tries.ts";
import type { BrowserAuthentication } from "../../threeds/browser-steps.ts";
import { Failure } from "../../values/failure.ts";
import { formatAmount } from "../../values/money.ts";
import { renderQrSvg } from "../../values/qr-code.ts";
import type { Clock, Instant } from "../../values/time.ts";
import { linkFrom } from "../cardholder/page-reply.ts";
import { disabledPage, linkPaidPage, messagePage, waitingPage } from "../cardholder/pages.ts";
import { receiptPathOf } from "../cardholder/receipts.ts";
import type { Entered } from "./form-fields.ts";
import type { PaymentView } from "./payment-page.ts";
import type { Elsewhere, FindPayable, Payable, PaymentRouteOptions, ShownPage } from "./routes.ts";
import { offerWallets, type WalletMethods } from "./wallet-buttons.ts";

export type OrderPageDependencies = {
  /** The limits against card testing. */
  readonly pageTries: Guarded<Pick<CardTries, "look" | "admit">>;
  readonly pages: Pick<PaymentPages, "findFaults"> & Guarded<Pick<PaymentPages, "find" | "pay">>;
  readonly threeds: Pick<BrowserAuthentication, "pathOf">;
  readonly clock: Pick<Clock, "now">;
  readonly addressOf: (request: HttpRequest) => string;
  readonly walletMethods: WalletMethods;
};

type ShownOrder = Exclude<
  Awaited<ReturnType<OrderPageDependencies["pages"]["find"]>>,
  Failure | undefined
>;

export function makeFindPayable(dependencies: OrderPageDependencies): FindPayable {
  const { pages, pageTries, threeds, clock, addressOf, walletMethods } = dependencies;
  return async (token, request) => {
    const page = await pages.find(token);
    if (page === undefined || page instanceof Failure) return page;
    const { order, endpoint, state } = page;
    const journey = { goTo: `../${threeds.pathOf(order)}` };
    if (state.kind === "awaiting_card") {
      const {
        merchantId,
        id,
        page: { linkId },
      } = order;
      const place = { merchantId, linkId, page: `order ${id}`, ipAddress: addressOf(request) };
      const isBeginner = linkId === undefined || hasCookie(request, bindingOf(linkId, token));
      const demand = request.method === "POST" ? undefined : await pageTries.look(place);
      if (demand instanceof Failure) return demand;
      return {
        merchant: endpoint.merchant,
        view: {
          ...viewOf(page),
          ...(isBeginner && { refilled: enteredBefore(page) }),
          challenge: demand?.challenge,
        },
        findFaults: (entered) => pages.findFaults(page, entered),
        async pay(entered, shown) {
          const number = entered.paid.kind === "card" ? entered.paid.number : undefined;
          const needed = await pageTries.admit(order, place, number, shown);
          if (needed instanceof Failure) return needed;
          const { challenge, waitS } = needed;
          if (waitS !== undefined) return new Failure("too_many_requests");
          if (challenge !== undefined) return { challenge };
          const paid = await pages.pay(page, entered);
          return paid instanceof Failure ? paid : journey;
        },
      };
    }
    const { framedBy } = shopOf(endpoint);
    if (state.kind === "disabled") {
      return { show: (texts) => ({ ...disabledPage(order, texts), framedBy }) };
    }
    // An order that still waits for a card cannot be paid now, because its previous try is being
    // reversed or its page has just expired. The page reloads until the order changes.
    const isHere = order.transaction.stage === "awaiting_card";
    return isHere
      ? { show: (texts, here) => ({ ...waitingPage(order, texts, here), framedBy }) }
      : journey;
  };

  function viewOf({ order, endpoint, wanted, needsCvv, ...page }: ShownOrder): PaymentView {
    const { state, triesLeft, expiresAt } = page;
    const { purchase, transaction } = order;
    const secondsLeft = Math.max(0, Math.ceil((expiresAt - clock.now()) / 1000));
    const refusal = state.kind === "awaiting_card" ? state.refused?.code : undefined;
    return {
      ...shopOf(endpoint),
      description: purchase.description,
      kind: kindOf(transaction.kind),
      amount: purchase.amount,
      wanted,
      needsCvv,
      refusal,
      triesLeft,
      secondsLeft,
      wallets: purchase.channel === "MOTO" ? [] : offerWallets(endpoint, walletMethods),
    };
  }
}

/** The values of the previous try, to correct them. Of the card, only the holder's name is kept. */
function enteredBefore({ order, wanted }: ShownOrder): PaymentView["refilled"] {
  const { purchase, page } = order;
  const { holderName = "" } = page.refused.at(-1)?.card ?? {};
  const values = wanted.map((field) => [field, purchase.customer[field] ?? ""] as const);
  return { faults: new Map(), values: new Map([["name", holderName], ...values]) };
}

/** The cookie marks the browser that began the order, because many people know a link's URL. */
function bindingOf(linkId: string, orderToken: string): string {
  return `tollgate-link-${linkId}=${orderToken}`;
}

function hasCookie({ headers }: HttpRequest, cookie: string): boolean {
  const digest = (text: string) => hash("sha256", text, "buffer");
  const sent = (headers.cookie ?? "").split(";").map((each) => digest(each.trim()));
  return sent.some((each) => timingSafeEqual(each, digest(cookie)));
}

function shopOf(endpoint: ShownOrder["endpoint"]) {
  const { shopLogo, shopColour, embedOrigins = [] } = endpoint.settings;
  const shop = { name: shopNameOf(endpoint), logo: shopLogo, colour: shopColour };
  return { shop, framedBy: embedOrigins };
}

function kindOf(kind: ShownOrder["order"]["transaction"]["kind"]): PaymentView["kind"] {
  if (kind === "preauth" || kind === "account-verification") return kind;
  return "sale";
}

export type LinkPageDependencies = {
  readonly paymentLinks: Guarded<PaymentLinks>;
  readonly pageTries: Guarded<Pick<CardTries, "look" | "check">>;
  readonly paymentPages: Pick<PaymentPages, "tokenOf" | "findFaults">;
  readonly isLink: (token: string) => boolean;
  /** Finds an order's page by the token in its URL. */
  readonly findOrder: FindPayable;
  readonly addressOf: (request: HttpRequest) => string;
  readonly walletMethods: WalletMethods;
  /** The word that begins the paths of this installation's receipts. */
  readonly pathWord: string;
  readonly printDate: (instant: Instant) => string;
  /** Returns whether browsers reach the page with https. */
  readonly isSecure: () => boolean;
};

/** The QR code is SVG. */
export function makeFindCode(
  paymentLinks: Pick<LinkPageDependencies["paymentLinks"], "find">,
  baseUrl: () => string,
): PaymentRouteOptions["findCode"] {
  return async (token) => {
    const found = await paymentLinks.find(token);
    if (found === undefined || found instanceof Failure) return found;
    return renderQrSvg(`${baseUrl()}/pay/${token}`);
  };
}

type FoundLink = Exclude<
  Awaited<ReturnType<LinkPageDependencies["paymentLinks"]["find"]>>,
  Failure | undefined
>;

/** The first post of a payment link's page begins an order, whose own page takes over. */
export function makeFindPage(dependencies: LinkPageDependencies): FindPayable {
  const { paymentLinks, paymentPages, pageTries, findOrder, addressOf } = dependencies;
  return async (token, request) => {
    if (!dependencies.isLink(token)) return findOrder(token, request);
    const found = await paymentLinks.find(token);
    if (found === undefined || found instanceof Failure) return found;
    const { state } = found;
    // A page that is posted twice leads to the order that its first post began, even a paid one.
    if (request.method === "POST" || state.kind === "open") return payableOf(found, request);
    if (state.kind === "paid") return paidPage(found, state.orders, request);
    if (state.kind !== "waiting") return overPage(state.kind, shopOf(found.endpoint));
    const order = paymentPages.tokenOf(state.order);
    const isBeginner = hasCookie(request, bindingOf(found.link.id, order));
    return isBeginner ? { goTo: order } : overPage("in_use", shopOf(found.endpoint));
  };

  async function payableOf(found: FoundLink, request: HttpRequest): Promise<Payable | Failure> {
    const { link, endpoint, asked, state } = found;
    const page = state.kind === "open" ? state.page : "";
    const demand =
      request.method === "POST" ? undefined : await pageTries.look(placeOf(found, page, request));
    if (demand instanceof Failure) return demand;
    return {
      merchant: endpoint.merchant,
      view: {
        ...shopOf(endpoint),
        description: link.description,
        kind: "sale",
        amount: link.amount,
        wanted: asked.wanted,
        needsCvv: asked.needsCvv,
        linkPage: page,
        challenge: demand?.challenge,
        wallets: offerWallets(endpoint, dependencies.walletMethods),
      },
      findFaults: (entered) => paymentPages.findFaults(asked, entered),
      pay: (entered, shown) => pay(found, request, entered, shown),
    };
  }

  /** The form contains the id of the page on which it was shown. A page begins only one order. */
  async function pay(
    found: FoundLink,
    request: HttpRequest,
    entered: Entered,
    shown: ShownPage,
  ): ReturnType<Payable["pay"]> {
    const place = placeOf(found, shown.linkPage, request);
    // The limits are checked before an order begins, so that a flood of tries creates no orders.
    const checked = await pageTries.check(place, shown.proof);
    if (checked instanceof Failure) return checked;
    const { waitS, challenge, isProved = false } = checked;
    if (waitS !== undefined) return new Failure("too_many_requests");
    if (challenge !== undefined) return { challenge };
    const order = await paymentLinks.begin(found, shown.linkPage);
    if (order instanceof Failure) return order;
    const token = paymentPages.tokenOf(order);
    const isNew = order.version <= 1 && order.transaction.stage === "awaiting_card";
    const page = isNew ? await findOrder(token, request) : undefined;
    const cookie = cookieOf(found.link.id, token);
    if (page === undefined || page instanceof Failure || !("pay" in page)) {
      return { goTo: token, cookie };
    }
    const paid = await page.pay(entered, { ...shown, proof: "", isProved });
    // If the try failed or needs another proof of work, the order's own page says so.
    const { goTo } = paid instanceof Failure || "challenge" in paid ? { goTo: token } : paid;
    return { goTo, cookie };
  }

  /** In a shop's frame, browsers accept the cookie only with the attribute `Partitioned`. */
  function cookieOf(linkId: string, order: string): string {
    const site = dependencies.isSecure() ? "Secure; SameSite=None; Partitioned" : "SameSite=Lax";
    return `${bindingOf(linkId, order)}; HttpOnly; Max-Age=${boundS}; ${site}`;
  }

  /** Shown when all uses are paid. Only a browser that has paid sees its payment and receipt. */
  function paidPage(
    { link, endpoint }: FoundLink,
    orders: readonly Order[],
    request: HttpRequest,
  ): Elsewhere {
    const own = orders.find((order) =>
      hasCookie(request, bindingOf(link.id, paymentPages.tokenOf(order))),
    );
    const { framedBy, shop } = shopOf(endpoint);
    const shown = own ?? orders.at(-1);
    const amount = shown === undefined ? link.amount : totalsOf(shown).charged;
    const finishedAt = shown && initialOf(shown).finishedAt;
    const receiptId = own && initialOf(own).receiptId;
    const { pathWord, printDate } = dependencies;
    const paid = {
      shop: shop.name,
      amount: `${formatAmount(amount)} ${amount.currency.code}`,
      date: finishedAt === undefined ? "" : printDate(finishedAt),
      receipt: receiptId && linkFrom(request, 1, receiptPathOf(pathWord, endpoint.id, receiptId)),
    };
    return { show: (texts) => ({ ...linkPaidPage(paid, texts), framedBy }) };
  }

  function placeOf({ link }: FoundLink, linkPage: string, request: HttpRequest) {
    const { merchantId, id: linkId } = link;
    return { merchantId, linkId, page: `link ${linkPage}`, ipAddress: addressOf(request) };
  }
}

/** A payment page's longest life in seconds, for which the browser keeps the cookie. */
const boundS = 604_800;

const overTexts = {
  in_use: "linkInUse",
  closed: "linkEnded",
  expired: "linkEnded",
  disabled: "disabled",
} as const;

function overPage(
  kind: keyof typeof overTexts,
  { framedBy }: ReturnType<typeof shopOf>,
): Elsewhere {
  return {
    show({ pay }, here) {
      const { title, sentence } = pay[overTexts[kind]];
      const refresh = kind === "in_use" && { refresh: { seconds: 5, address: here.redirect } };
      return messagePage(title, sentence, { role: "status", framedBy, ...(refresh || {}) });
    },
  };
}
