/**
 * Builds the pages for browsers: payment pages of orders and links, those of 3-D Secure, the return
 * to the shop, and receipts.
 */
import { makeFindReceipt } from "../engine/find.ts";
import { makePaymentLinks } from "../engine/payment-links.ts";
import type { Clients } from "../http/ports.ts";
import { makeNetworkLimit, makeSummary } from "../http/rate-limit.ts";
import type { HttpRoute } from "../http/router.ts";
import { signFor } from "../merchant-api/control.ts";
import { shopNameOf } from "../orders/merchant.ts";
import type { Order } from "../orders/order.ts";
import { receiptRoute } from "../pages/cardholder/receipts.ts";
import { cardholderRoutes } from "../pages/cardholder/routes.ts";
import type { Theme } from "../pages/design.ts";
import { openTheme } from "../pages/operator-theme.ts";
import { makeAssets } from "../pages/payment/assets.ts";
import { makeFindCode, makeFindPage } from "../pages/payment/link-payable.ts";
import { makeFindPayable } from "../pages/payment/order-payable.ts";
import { makeTakeReport } from "../pages/payment/policy-reports.ts";
import { paymentRoutes } from "../pages/payment/routes.ts";
import { walletRoutes } from "../pages/payment/wallet-routes.ts";
import { makeCardTries, makePageTries } from "../screening/page-tries.ts";
import { makeProofs } from "../screening/proof-of-work.ts";
import {
  routeFindOfReceipt,
  routeTakeNonce,
  routeTallies,
} from "../storage/cells/routed-stores.ts";
import { findWellKnownFile } from "../storage/configuration/well-known-files.ts";
import { routeLinks } from "../storage/orders/payment-links.ts";
import { browserReturnOf } from "../views/result.ts";
import type { Wallets } from "../wallets/wallets.ts";
import type { Engine } from "./engine.ts";
import type { Resources } from "./resources.ts";
import type { EdgeServices } from "./services.ts";

type Parts = Pick<Clients, "addressOf"> & {
  readonly services: EdgeServices;
  readonly engine: Pick<Engine, "accept" | "findExisting">;
  readonly wallets: Pick<Wallets, "sessions">;
  /** The script that plays wallets, in staging. */
  readonly walletSheet: string | undefined;
};

export function pageRoutes(resources: Resources, parts: Parts): readonly HttpRoute[] {
  const { config, log, clock, cells, vault, configuration } = resources;
  const { addressOf } = parts;
  const { threeds, paymentPages, printDate, querying } = parts.services;
  const { pathWord, pageLogoFile: logoFile } = config;
  const theme = openTheme({
    name: config.pageName,
    host: URL.parse(config.baseUrl)?.host ?? "",
    accent: config.pageAccent,
    logoFile,
    isRehearsal: config.rehearsal,
    onBadLogo: (cause) => log("page.logo_unusable", { file: logoFile, cause }),
  });
  const findReceipt = makeFindReceipt({
    findEndpoint: (id) => configuration.current().endpoints.get(id),
    readReceiptId: vault.readReceiptId,
    findOfReceipt: routeFindOfReceipt(cells),
  });
  const receipts = { find: querying(findReceipt) };
  return [
    ...cardholderRoutes({
      pathWord,
      threeds,
      returnOf(order: Order) {
        const endpoint = configuration.getEndpoint(order.endpointId);
        const sign = (text: string) => signFor(endpoint.merchant, text);
        return browserReturnOf(order, { sign, merchantName: shopNameOf(endpoint) });
      },
      theme,
      payPageOf: paymentPages.urlOf,
      embedOriginsOf: ({ page, endpointId }) =>
        (page && configuration.getEndpoint(endpointId).settings.embedOrigins) ?? [],
    }),
    ...paymentPageRoutes(resources, parts, theme),
    receiptRoute({ pathWord, receipts, theme, printDate, clock, addressOf }),
  ];
}

function paymentPageRoutes(resources: Resources, parts: Parts, theme: Theme) {
  const { config, clock, log, metrics, database, vault, baseUrl } = resources;
  const { services, addressOf } = parts;
  const { paymentPages, threeds, printDate, querying } = services;
  const { sessions } = parts.wallets;
  const paymentLinks = openLinks(resources, parts);
  const pageTries = openTries(resources, parts);
  const walletMethods = {
    walleta: config.walletaMethod,
    walletb: config.walletbMethod,
    hasIdentity: sessions.hasIdentity,
  };
  const common = { pageTries, addressOf, walletMethods };
  const find = makeFindPage({
    ...common,
    paymentLinks,
    paymentPages,
    isLink: (token) => vault.readLinkToken(token) !== undefined,
    findOrder: makeFindPayable({ ...common, pages: paymentPages, threeds, clock }),
    pathWord: config.pathWord,
    printDate,
    isSecure: () => baseUrl().startsWith("https:"),
  });
  const isTooFast = makeNetworkLimit({ perSecond: config.paymentPostsPerSecond }, clock, addressOf);
  const pages = paymentRoutes({
    theme,
    assets: makeAssets(parts.walletSheet),
    operator: config.pageName,
    addressOf,
    find,
    isTooFast,
    takeReport: makeTakeReport({
      clock,
      addressOf,
      onViolation: ({ directive }) => metrics.policyReports.inc({ directive }),
      onSummary: (violation, count) => log("page.policy_violated", { violation, count }),
    }),
    findCode: makeFindCode(paymentLinks, baseUrl),
  });
  const domain = () => URL.parse(baseUrl())?.hostname ?? "";
  const wallets = walletRoutes({
    find,
    isTooFast,
    askSession: (merchant, asked) => sessions.ask(merchant, { ...asked, domain: domain() }),
    findFile: querying((name: string) => findWellKnownFile(database.query, name)),
  });
  return [...pages, ...wallets];
}

function openLinks(
  { clock, cells, vault, configuration, hold }: Resources,
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

/** The bounds on card testing. */
function openTries({ config, clock, cells, vault, log }: Resources, { services }: Parts) {
  const { querying } = services;
  const lasting = { retryMs: config.acceptRetryMs };
  const takeNonce = routeTakeNonce(cells, { clock, windowMs: config.oauthWindowMs, ...lasting });
  const refusals = makeSummary(clock, (of, count) => log("page.tries_refused", { of, count }));
  const tries = makePageTries({
    limits: {
      perLink: config.linkTriesMax,
      perAddress: config.addressTriesMax,
      perCard: config.cardTriesMax,
      windowMs: config.triesWindowMs,
      proofBits: config.proofBits,
    },
    store: routeTallies(cells, lasting),
    digestSubject: vault.digestSubject,
    clock,
    proofs: makeProofs({ tokenOf: vault.tokenOf, isToken: vault.isToken, takeNonce, clock }),
  });
  const { look, check, admit } = makeCardTries(tries, { ...vault, onRefused: refusals.add });
  return { look: querying(look), check: querying(check), admit: querying(admit) };
}
