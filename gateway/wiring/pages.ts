/** Builds the pages for browsers, and the limits against card testing on payment pages. */
import { makeFindReceipt } from "../engine/find.ts";
import { makePaymentLinks } from "../engine/payment-links.ts";
import { makeSummary } from "../http/bounds.ts";
import type { Clients } from "../http/ports.ts";
import type { HttpRoute } from "../http/router.ts";
import { signFor } from "../merchant-api/control.ts";
import { shopNameOf } from "../orders/merchant.ts";
import type { Order } from "../orders/order.ts";
import { pageRoutes as makeRoutes } from "../pages/page-routes.ts";
import { makeCardTries, makePageTries, makeProofs } from "../screening/page-tries.ts";
import { findWellKnownFile } from "../storage/cards/wallets.ts";
import {
  routeFindOfReceipt,
  routeTakeNonce,
  routeTallies,
} from "../storage/cells/routed-stores.ts";
import { routeLinks } from "../storage/orders/payment-links.ts";
import { browserReturnOf } from "../views/result.ts";
import type { Wallets } from "../wallets/wallets.ts";
import type { Engine } from "./engine.ts";
import type { NodeContext } from "./node-context.ts";
import type { EdgeServices } from "./services.ts";

type Parts = Pick<Clients, "addressOf"> & {
  readonly services: EdgeServices;
  readonly engine: Pick<Engine, "accept" | "findExisting">;
  readonly wallets: Pick<Wallets, "sessions">;
  /** In staging, the script that simulates the wallets' payment sheets. */
  readonly walletSheet: string | undefined;
};

export function pageRoutes(context: NodeContext, parts: Parts): readonly HttpRoute[] {
  const { config, log, clock, cells, metrics, database, vault, configuration } = context;
  const { threeds, paymentPages, printDate, querying } = parts.services;
  const findReceipt = makeFindReceipt({
    findEndpoint: (id) => configuration.current().endpoints.get(id),
    readReceiptId: vault.readReceiptId,
    findOfReceipt: routeFindOfReceipt(cells),
  });
  return makeRoutes({
    settings: config,
    clock,
    log,
    threeds,
    paymentPages,
    printDate,
    addressOf: parts.addressOf,
    sessions: parts.wallets.sessions,
    walletSheet: parts.walletSheet,
    baseUrl: context.baseUrl,
    receipts: { find: querying(findReceipt) },
    paymentLinks: makeLinks(context, parts),
    isLink: (token) => vault.readLinkToken(token) !== undefined,
    pageTries: makeTries(context, parts),
    returnOf(order: Order) {
      const endpoint = configuration.getEndpoint(order.endpointId);
      const sign = (text: string) => signFor(endpoint.merchant, text);
      return browserReturnOf(order, { sign, merchantName: shopNameOf(endpoint) });
    },
    embedOriginsOf: ({ page, endpointId }) =>
      (page && configuration.getEndpoint(endpointId).settings.embedOrigins) ?? [],
    findFile: querying((name: string) => findWellKnownFile(database.query, name)),
    onViolation: ({ directive }) => metrics.policyReports.inc({ directive }),
  });
}

function makeLinks(
  { clock, cells, vault, configuration, hold }: NodeContext,
  { services: { paymentPages, querying }, engine }: Parts,
) {
  const links = makePaymentLinks({
    store: routeLinks(cells),
    readLinkToken: vault.readLinkToken,
    tokens: vault,
    clock,
    findEndpoint: (id) => configuration.current().endpoints.get(id),
    accept: engine.accept,
    findExisting: engine.findExisting,
    termsOf: paymentPages.termsOf,
  });
  return { find: querying(links.find), begin: querying(hold.refusing(links.begin)) };
}

function makeTries({ config, clock, cells, vault, log }: NodeContext, { services }: Parts) {
  const { querying } = services;
  const retries = { retryMs: config.acceptRetryMs };
  const takeNonce = routeTakeNonce(cells, { clock, windowMs: config.oauthWindowMs, ...retries });
  const refusals = makeSummary(clock, (of, count) => log("page.tries_refused", { of, count }));
  const tries = makePageTries({
    limits: {
      perLink: config.linkTriesMax,
      perAddress: config.addressTriesMax,
      perCard: config.cardTriesMax,
      windowMs: config.triesWindowMs,
      proofBits: config.proofBits,
    },
    store: routeTallies(cells, retries),
    digestSubject: vault.digestSubject,
    clock,
    proofs: makeProofs({ tokenOf: vault.tokenOf, isToken: vault.isToken, takeNonce, clock }),
  });
  const { look, check, admit } = makeCardTries(tries, { ...vault, onRefused: refusals.add });
  return { look: querying(look), check: querying(check), admit: querying(admit) };
}
