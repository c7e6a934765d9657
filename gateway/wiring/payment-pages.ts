/** The payment pages of orders and of payment links, with the bounds on card testing. */

import { makePaymentLinks } from "../engine/payment-links.ts";
import type { PaymentPages } from "../engine/payment-page.ts";
import { networkOf } from "../http/client-network.ts";
import { makeRateLimit, makeSummary } from "../http/rate-limit.ts";
import type { HttpRequest, HttpRoute } from "../http/router.ts";
import type { makeStorageGuard } from "../http/server.ts";
import type { Theme } from "../pages/design.ts";
import { makeAssets } from "../pages/payment/assets.ts";
import { makeFindLink } from "../pages/payment/link-payable.ts";
import { makeFindPayable } from "../pages/payment/order-payable.ts";
import { readViolations } from "../pages/payment/policy-reports.ts";
import { type FindPayable, paymentRoutes } from "../pages/payment/routes.ts";
import { walletRoutes } from "../pages/payment/wallet-routes.ts";
import { type Demand, makePageTries, type TryPlace } from "../screening/page-tries.ts";
import { makeProofs } from "../screening/proof-of-work.ts";
import type { LiveHold } from "../storage/backup/installation-hold.ts";
import { routeTakeNonce, routeTallies } from "../storage/cells/routed-stores.ts";
import type { LiveConfiguration } from "../storage/configuration/configuration.ts";
import { findWellKnownFile } from "../storage/configuration/well-known-files.ts";
import { routeLinks } from "../storage/orders/payment-links.ts";
import { Failure } from "../values/failure.ts";
import { renderQrSvg } from "../values/qr-code.ts";
import type { Engine } from "./engine.ts";
import type { Resources } from "./resources.ts";
import type { LinkServices, Services } from "./services.ts";
import type { Wallets } from "./wallets.ts";

type Dependencies = Resources & {
  readonly configuration: LiveConfiguration;
  readonly engine: Pick<Engine, "accept" | "findExisting">;
  readonly hold: LiveHold;
  readonly wallets: Pick<Wallets, "sessions">;
  /** The script that plays wallets, in staging. */
  readonly walletSheet?: string | undefined;
  /** The public address. */
  readonly baseUrl: () => string;
};

type Guard = ReturnType<typeof makeStorageGuard>;

type Edge = Pick<Services, "paymentPages" | "threeds" | "printDate"> & {
  readonly querying: Guard;
  readonly theme: Theme;
  readonly addressOf: (request: HttpRequest) => string;
};

export function paymentPageRoutes(dependencies: Dependencies, edge: Edge): readonly HttpRoute[] {
  const { config, clock, vault } = dependencies;
  const { paymentPages, threeds, theme, printDate, addressOf } = edge;
  const services = makeLinkServices(dependencies, edge);
  const { sessions } = dependencies.wallets;
  const walletMethods = {
    walleta: config.walletaMethod,
    walletb: config.walletbMethod,
    hasIdentity: sessions.hasIdentity,
  };
  const shared = { ...services, addressOf, walletMethods };
  const findOrder = makeFindPayable({ ...shared, pages: paymentPages, threeds, clock });
  const isSecure = () => dependencies.baseUrl().startsWith("https:");
  const receipt = { pathWord: config.pathWord, printDate };
  const findLink = makeFindLink({ ...shared, ...receipt, paymentPages, findOrder, isSecure });
  const isLink = (token: string) => vault.readLinkToken(token) !== undefined;
  const { take } = makeRateLimit<string>({ perSecond: config.paymentPostsPerSecond }, clock);
  const shownPage: FindPayable = (token, request) =>
    (isLink(token) ? findLink : findOrder)(token, request);
  const isTooFast = (request: HttpRequest) => take(networkOf(addressOf(request)) ?? "") > 0;
  const pages = paymentRoutes({
    theme,
    assets: makeAssets(dependencies.walletSheet),
    operator: config.pageName,
    addressOf,
    find: shownPage,
    isTooFast,
    takeReport: makeTakeReport(dependencies, addressOf),
    async findCode(token) {
      const found = await services.paymentLinks.find(token);
      if (found === undefined || found instanceof Failure) return found;
      return renderQrSvg(`${dependencies.baseUrl()}/pay/${token}`);
    },
  });
  const domain = () => URL.parse(dependencies.baseUrl())?.hostname ?? "";
  const wallets = walletRoutes({
    find: shownPage,
    isTooFast,
    askSession: (merchant, asked) => sessions.ask(merchant, { ...asked, domain: domain() }),
    findFile: edge.querying((name: string) => findWellKnownFile(dependencies.database.query, name)),
  });
  return [...pages, ...wallets];
}

/** A page with an injected script sends one for each try; an address is heard once a second. */
const reports = { perSecond: 1, burst: 10 };

function makeTakeReport({ clock, log, metrics }: Dependencies, addressOf: Edge["addressOf"]) {
  const { take } = makeRateLimit<string>(reports, clock);
  const summary = makeSummary(clock, (violation, count) =>
    log("page.policy_violated", { violation, count }),
  );
  return (request: HttpRequest) => {
    if (take(networkOf(addressOf(request)) ?? "") > 0) return;
    for (const { directive, blocked } of readViolations(request.body)) {
      metrics.policyReports.inc({ directive });
      summary.add(`${directive} ${blocked}`);
    }
  };
}

function makeLinkServices(
  dependencies: Dependencies,
  { querying, paymentPages }: Pick<Edge, "querying" | "paymentPages">,
): LinkServices {
  const { config, clock, cells, vault, configuration, engine, log } = dependencies;
  const { refusing } = dependencies.hold;
  const lasting = { retryMs: config.acceptRetryMs };
  const links = makePaymentLinks({
    store: routeLinks(cells),
    readLinkToken: vault.readLinkToken,
    tokens: vault,
    clock,
    findEndpoint: (id) => configuration.current().endpoints.get(id),
    accept: engine.accept,
    findExisting: engine.findExisting,
    termsOf: (paymentPages satisfies Pick<PaymentPages, "termsOf">).termsOf,
  });
  const takeNonce = routeTakeNonce(cells, { clock, windowMs: config.oauthWindowMs, ...lasting });
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
  const refusals = makeSummary(clock, (of, count) => log("page.tries_refused", { of, count }));
  const noting = (place: TryPlace, demand: Demand): void => {
    if (demand.waitS === undefined) return;
    refusals.add(place.linkId === undefined ? "an IP address or a card" : `link ${place.linkId}`);
  };
  return {
    paymentLinks: {
      find: querying(links.find),
      begin: querying(refusing(links.begin)),
    },
    pageTries: {
      look: querying(tries.look),
      check: querying(async (place, proof) => {
        const checked = await tries.check(place, proof);
        noting(place, checked);
        return checked;
      }),
      admit: querying(async (order, place, { paid }, shown) => {
        const number = paid.kind === "card" ? paid.number : undefined;
        const card = number && vault.cardDigest(number);
        const earlierCard = number && vault.cardNames(place.merchantId, number).at(-1)?.digest;
        const demand = await tries.admit(order, { ...place, card, earlierCard }, shown);
        noting(place, demand);
        return demand;
      }),
    },
  };
}
