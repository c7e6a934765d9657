/**
 * The payment page of an order: what it shows while the order waits for a card, and where the
 * browser goes otherwise. A try and its result belong to the pages of the 3-D Secure journey, which
 * send the browser back here when another try is allowed.
 */
import { hash, timingSafeEqual } from "node:crypto";
import type { PaymentPages } from "../../engine/payment-page.ts";
import type { HttpRequest } from "../../http/router.ts";
import type { Guarded } from "../../http/server.ts";
import { shopNameOf } from "../../orders/merchant.ts";
import type { CardTries } from "../../screening/page-tries.ts";
import type { BrowserAuthentication } from "../../threeds/uploads.ts";
import { Failure } from "../../values/failure.ts";
import type { Clock } from "../../values/time.ts";
import { disabledPage, waitingPage } from "../cardholder/pages.ts";
import type { PaymentView } from "./payment-page.ts";
import type { FindPayable } from "./routes.ts";
import { offerWallets, type WalletMethods } from "./wallet-buttons.ts";

export type OrderPageDependencies = {
  /** The bounds on card testing. */
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
    // The try before is being reversed, or the time is over: soon there is something to show.
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
      wallets: offerWallets(endpoint, walletMethods),
    };
  }
}

/** The fields as the try before had them, to be corrected; of the card the name alone. */
function enteredBefore({ order, wanted }: ShownOrder): PaymentView["refilled"] {
  const { purchase, page } = order;
  const { holderName = "" } = page.refused.at(-1)?.card ?? {};
  const values = wanted.map((field) => [field, purchase.customer[field] ?? ""] as const);
  return { faults: new Map(), values: new Map([["name", holderName], ...values]) };
}

/** The cookie of the browser that has begun an order with a payment link, which others may have. */
export function bindingOf(linkId: string, orderToken: string): string {
  return `tollgate-link-${linkId}=${orderToken}`;
}

export function hasCookie({ headers }: HttpRequest, cookie: string): boolean {
  const digest = (text: string) => hash("sha256", text, "buffer");
  const sent = (headers.cookie ?? "").split(";").map((each) => digest(each.trim()));
  return sent.some((each) => timingSafeEqual(each, digest(cookie)));
}

export function shopOf(endpoint: ShownOrder["endpoint"]) {
  const { shopLogo, shopColour, embedOrigins = [] } = endpoint.settings;
  const shop = { name: shopNameOf(endpoint), logo: shopLogo, colour: shopColour };
  return { shop, framedBy: embedOrigins };
}

function kindOf(kind: ShownOrder["order"]["transaction"]["kind"]): PaymentView["kind"] {
  if (kind === "preauth" || kind === "account-verification") return kind;
  return "sale";
}
