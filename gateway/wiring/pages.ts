/** Builds the pages for browsers. */
import { makeFindReceipt } from "../engine/find.ts";
import { makePaymentLinks } from "../engine/payment-links.ts";
import type { Clients } from "../http/ports.ts";
import type { HttpRoute } from "../http/router.ts";
import { signFor } from "../merchant-api/control.ts";
import { shopNameOf } from "../orders/merchant.ts";
import type { Order } from "../orders/order.ts";
import { pageRoutes as makeRoutes } from "../pages/page-routes.ts";
import { findWellKnownFile } from "../storage/cards/wallets.ts";
import { routeFindOfReceipt } from "../storage/cells/routed-stores.ts";
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
    pageTries: parts.services.pageTries,
    hostedFields: parts.services.hostedFields,
    findEntryPoint: (id) =>
      configuration.findEntryPoint("endpoint", id) ?? configuration.findEntryPoint("group", id),
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
