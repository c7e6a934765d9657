/** Builds the HTTP edges: merchant interface, pages, portal, documentation, health, staging. */
import { join } from "node:path";
import type { Gates } from "../acquirers/gates.ts";
import { makeReportToOrder } from "../administration/installation/operator-events.ts";
import type { Opened } from "../administration/session.ts";
import { baseUrlOf, signedUrlsOf } from "../config/config.ts";
import { partsOf } from "../config/settings.ts";
import { makeCards } from "../engine/cards.ts";
import { makeFindReceipt } from "../engine/find.ts";
import { noSuchFile } from "../http/built-files.ts";
import { clientAddressOf, findClientAddress, makeIsTrusted } from "../http/client-network.ts";
import { healthRoutes } from "../http/health.ts";
import { makeRateLimit, makeSummary } from "../http/rate-limit.ts";
import type { HttpRequest, HttpRoute } from "../http/router.ts";
import { type Bounds, makeServer, makeStorageGuard, type RefusalCause } from "../http/server.ts";
import type { ServerTls } from "../http/tls.ts";
import { signFor } from "../merchant-api/control.ts";
import { operations } from "../merchant-api/operations/index.ts";
import type { PipelineDependencies } from "../merchant-api/pipeline.ts";
import type { RefusedRequests } from "../merchant-api/refused-requests.ts";
import { makeAnswerError, merchantRoutes } from "../merchant-api/routes.ts";
import { shopNameOf } from "../orders/merchant.ts";
import type { Order } from "../orders/order.ts";
import { receiptRoute } from "../pages/cardholder/receipts.ts";
import { cardholderRoutes } from "../pages/cardholder/routes.ts";
import { documentationRoutes } from "../pages/documentation.ts";
import { openTheme } from "../pages/operator-theme.ts";
import type { LiveHold } from "../storage/backup/installation-hold.ts";
import {
  routeFindOfReceipt,
  routeReferences,
  routeStoreRequest,
  routeTakeNonce,
} from "../storage/cells/routed-stores.ts";
import {
  type LiveConfiguration,
  noteOldControlKey,
} from "../storage/configuration/configuration.ts";
import type { IndexQueue } from "../storage/portal/index-queue.ts";
import type { RefusedStore } from "../storage/portal/refused-requests.ts";
import { isUnavailable } from "../storage/server/faults.ts";
import type { MerchantId } from "../values/ids.ts";
import { makePrintDate } from "../values/time.ts";
import { newCardRefId } from "../vault/seal.ts";
import { browserReturnOf } from "../views/result.ts";
import type { Callbacks } from "./callbacks.ts";
import type { Engine } from "./engine.ts";
import { paymentPageRoutes } from "./payment-pages.ts";
import { portalRoutes } from "./portal.ts";
import { makeCheckReadiness } from "./readiness.ts";
import type { Resources } from "./resources.ts";
import type { Services } from "./services.ts";
import type { StagingParts } from "./staging-parts.ts";
import type { ThreeDs } from "./threeds.ts";
import type { Wallets } from "./wallets.ts";

type Dependencies = Resources & {
  readonly configuration: LiveConfiguration;
  readonly gates: Gates;
  readonly node: { readonly name: string };
  readonly engine: Engine;
  readonly threeds: ThreeDs;
  readonly wallets: Wallets;
  /** The public address. */
  readonly baseUrl: () => string;
  readonly callbacks: Callbacks;
  readonly hold: LiveHold;
  readonly indexQueue: IndexQueue;
  readonly refused: RefusedRequests;
  readonly refusedStore: RefusedStore;
  readonly staging?: StagingParts | undefined;
  /** Where the gateway speaks TLS itself. */
  readonly tls: ServerTls | undefined;
  readonly shareMetrics?: ShareMetrics | undefined;
  readonly opened?: Opened | undefined;
};

/** Where several processes share the port: how one of them reads the figures of all. */
export type ShareMetrics = (
  own: Resources["metrics"]["registry"],
  node: string,
) => () => Promise<string>;

export type HttpServers = ReturnType<typeof makeHttpServers>;

const builtDocumentation = join(import.meta.dirname, "../../docs-site/dist");

/** For calls that other bounds limit: `GW_IN_FLIGHT_MAX`, or the waiting order itself. */
export const guarded = makeStorageGuard(isUnavailable);
type Guard = typeof guarded;

/** The merchant port and, where they are set, those of the portal and of health and figures. */
export function makeHttpServers(dependencies: Dependencies) {
  const { config, log, clock, metrics, configuration, staging, node } = dependencies;
  const { pathWord, fieldWord, lineFeeds } = config;
  const wire = { fieldWord, lineFeeds };
  const querying = makeStorageGuard(isUnavailable, config.queriesInFlightMax);
  const services = servicesOf(dependencies, querying);

  const access = accessOf(dependencies, querying);
  const checkReadiness = makeCheckReadiness(dependencies);
  const describeLinks = () => {
    const connections = [...dependencies.gates.connections()];
    return Object.fromEntries(
      connections.map(([gate, { up, wanted }]) => [gate, `${up} of ${wanted}`]),
    );
  };
  const findState = async () => ({
    configuration: configuration.current(),
    missing: (await checkReadiness()).missing,
  });
  const findMerchant = (login: string) =>
    configuration.current().merchants.find((each) => each.login === login);
  const { registry } = metrics;
  const { shareMetrics = () => () => registry.metrics() } = dependencies;
  const health = healthRoutes({
    checkReadiness,
    describeLinks,
    registry: { contentType: registry.contentType, metrics: shareMetrics(registry, node.name) },
  });
  let ports = { port: config.port, portalPort: config.port };
  const portalParts = { ...dependencies, services, checkReadiness, ports: () => ports };
  const servers = openServers(dependencies, {
    portal: inside(dependencies, portalRoutes(portalParts)),
    health,
    answerError: makeAnswerError({ pathWord, wire, log }),
    others: [
      ...merchantRoutes({
        operations,
        pathWord,
        wire,
        services,
        clock,
        log,
        metrics,
        ...access,
        isBusy: dependencies.isBusy,
        keepRefused: dependencies.refused.keep,
        addressOf: addressOf(dependencies),
        storeRequest: routeStoreRequest(dependencies.cells, { retryMs: config.acceptRetryMs }),
      }),
      ...pageRoutes(services, dependencies, querying),
      ...documentationRoutes(builtDocumentation, async () => ({
        GATEWAY: dependencies.baseUrl(),
        ...(await staging?.documentValues?.()),
      })),
      ...(staging?.routes?.({
        findState,
        clock,
        callbacks: dependencies.callbacks,
        findMerchant,
        report: makeReportToOrder(dependencies),
      }) ?? []),
    ],
  });
  return {
    ...servers,
    async listen() {
      const listening = await servers.listen();
      ports = listening;
      return listening;
    },
  };
}

type Served = {
  readonly portal: readonly HttpRoute[];
  readonly health: readonly HttpRoute[];
  /** What is always on the merchant port. */
  readonly others: readonly HttpRoute[];
  readonly answerError: Parameters<typeof makeServer>[0]["answerError"];
};

function openServers(dependencies: Dependencies, { portal, health, others, answerError }: Served) {
  const { config, tls } = dependencies;
  const bounds = boundsOf(dependencies);
  const isSecure = baseUrlOf(config, 0).startsWith("https://");
  const open = (routes: readonly HttpRoute[]) =>
    makeServer({
      routes,
      bounds,
      answerError,
      isSecure,
      ...(tls && { open: (times, receive) => tls.open(times, receive, bounds.onRefused) }),
    });
  // In production, figures are on the operator's own port or on none.
  const isPublic = ({ path }: HttpRoute) => config.environment === "staging" || path !== "/metrics";
  const merchants = open([
    ...(config.portalPort === "" ? portal : []),
    ...others,
    ...(config.adminPort === "" ? health.filter(isPublic) : []),
  ]);
  const portals = config.portalPort === "" ? undefined : open(portal);
  const admin =
    config.adminPort === ""
      ? undefined
      : makeServer({ routes: health, bounds: adminBounds, isSecure: false, answerError });
  return {
    async listen() {
      const { host, adminHost } = config;
      const adminPort = await admin?.listen({ host: adminHost, port: Number(config.adminPort) });
      const portalPort = await portals?.listen({ host, port: Number(config.portalPort) });
      const port = await merchants.listen({ host, port: config.port });
      return { port, adminPort: adminPort ?? "", portalPort: portalPort ?? port } as const;
    },
    close: () => Promise.all([merchants.close(), portals?.close(), admin?.close()]),
    countUnfinishedBytes: () =>
      merchants.countUnfinishedBytes() + (portals?.countUnfinishedBytes() ?? 0),
  };
}

/**
 * For clients of `GW_PORTAL_NETWORKS` alone; others are told nothing, and send no body. A proxy
 * that names no client could pass on any, even if its own address is in the networks.
 */
function inside(dependencies: Dependencies, routes: readonly HttpRoute[]): readonly HttpRoute[] {
  const { portalNetworks, trustedProxies, proxyHeader } = dependencies.config;
  const networks = partsOf(portalNetworks);
  if (networks.length === 0) return routes;
  const isInside = makeIsTrusted(networks);
  const isTrusted = makeIsTrusted(partsOf(trustedProxies));
  const refusalFor = (request: HttpRequest) => {
    const client = findClientAddress(request, isTrusted, proxyHeader);
    if (client === undefined) return unnamedClient;
    return isInside(client) ? undefined : noSuchFile;
  };
  return routes.map((route) => ({
    ...route,
    answerEarly(request) {
      const refusal = refusalFor(request);
      return refusal === undefined ? route.answerEarly?.(request) : Promise.resolve(refusal);
    },
  }));
}

const unnamedClient = { ...noSuchFile, status: 403, body: "the proxy names no client\n" };

/** A scraper and a few probes. */
const adminBounds = { connectionsMax: 100, bodyBytesMax: 0, idleTimeoutMs: 10_000 };

function boundsOf({ config, clock, log, metrics, tls }: Dependencies) {
  const summary = makeSummary(clock, (cause, count) => log("http.refused", { cause, count }));
  const isTrusted = makeIsTrusted(partsOf(config.trustedProxies));
  const onRefused = (cause: RefusalCause) => {
    metrics.httpRefused.inc({ cause });
    summary.add(cause);
  };
  const proxiesOnly = config.environment === "production" && tls === undefined;
  return { ...config, isTrusted, proxiesOnly, onRefused } satisfies Partial<Bounds>;
}

function servicesOf(dependencies: Dependencies, querying: Guard): Services {
  const { config, clock, cells, vault, engine, wallets, callbacks, configuration } = dependencies;
  const { refusing } = dependencies.hold;
  const threeds = dependencies.threeds.makeBrowserAuthentication(engine.reports);
  const cards = makeCards({
    store: routeReferences(cells),
    findCard: vault.findCard,
    clock,
    fingerprint: vault.fingerprint,
    newReferenceId: newCardRefId,
    graceMs: config.cardReferenceGraceMs,
  });
  const pages = engine.makePages({
    openWallet: wallets.open,
    stepOf: threeds.stepOf,
    baseUrl: dependencies.baseUrl,
  });
  return {
    orders: {
      accept: guarded(refusing(engine.accept)),
      findRepeat: querying(engine.findRepeat),
      find: querying(engine.find),
      followUp: guarded(refusing(engine.followUp)),
      waitForResult: guarded(engine.waits.wait),
    },
    cards: {
      register: querying(refusing(cards.register)),
      findRegistered: querying(cards.findRegistered),
      find: querying(cards.find),
      findCardData: querying(cards.findCardData),
      remove: querying(refusing(cards.remove)),
    },
    threeds: {
      stepOf: threeds.stepOf,
      pathOf: threeds.pathOf,
      find: querying(threeds.find),
      uploadMethod: querying(refusing(threeds.uploadMethod)),
      uploadChallenge: querying(refusing(threeds.uploadChallenge)),
      uploadPares: querying(refusing(threeds.uploadPares)),
    },
    paymentPages: {
      termsOf: pages.termsOf,
      urlOf: pages.urlOf,
      tokenOf: pages.tokenOf,
      findFaults: pages.findFaults,
      find: querying(pages.find),
      pay: guarded(refusing(pages.pay)),
    },
    wallets: { open: querying(refusing(wallets.open)) },
    findAddressFault: callbacks.findAddressFault,
    tellsChargebacks: ({ endpointId }) =>
      configuration.getEndpoint(endpointId).settings.tellsChargebacks === true,
    printDate: makePrintDate(config.zone),
  };
}

type Access = Pick<PipelineDependencies, "findEntryPoint" | "oauth" | "takeToken" | "noteOldKey">;

const noteEveryMs = 60_000;

function accessOf(
  { config, cells, clock, configuration, database, log }: Dependencies,
  querying: Guard,
): Access {
  const windowMs = config.oauthWindowMs;
  const takeNonce = routeTakeNonce(cells, { clock, windowMs, retryMs: config.acceptRetryMs });
  const limitOf = (perSecond: number) => makeRateLimit<MerchantId>({ perSecond }, clock);
  const transactions = limitOf(config.transactionsPerSecond);
  const queries = limitOf(config.questionsPerSecond);
  const notedAt = new Map<MerchantId, number>();
  return {
    findEntryPoint(form, id) {
      const { endpointById, groupById } = configuration.current();
      return (form === "group" ? groupById : endpointById).get(id);
    },
    oauth: {
      windowMs,
      takeNonce: querying(takeNonce),
      baseUrls: (port) => signedUrlsOf(config, port),
    },
    noteOldKey,
    takeToken: (isQuery, merchant) => (isQuery ? queries : transactions).take(merchant),
  };

  /** Once a minute for each merchant: it tells an operator when the old key may be dropped. */
  function noteOldKey(merchant: MerchantId): void {
    const now = clock.now();
    if (now - (notedAt.get(merchant) ?? 0) < noteEveryMs) return;
    notedAt.set(merchant, now);
    noteOldControlKey(database.query, merchant).catch((error) =>
      log("request.old_key_unnoted", { err: error }),
    );
  }
}

/** The client's own address. */
function addressOf({ config }: Dependencies) {
  const isTrusted = makeIsTrusted(partsOf(config.trustedProxies));
  return (request: HttpRequest) => clientAddressOf(request, isTrusted, config.proxyHeader);
}

/** The pages of 3-D Secure, the return to the shop, and receipts. */
function pageRoutes(
  { threeds, paymentPages, printDate }: Services,
  dependencies: Dependencies,
  querying: Guard,
): readonly HttpRoute[] {
  const { config, log, clock, configuration, cells, vault } = dependencies;
  const pages = { ...dependencies, walletSheet: dependencies.staging?.walletSheet };
  const { pathWord, pageLogoFile: logoFile } = config;
  const theme = openTheme({
    name: config.pageName,
    host: URL.parse(config.baseUrl)?.host ?? "",
    accent: config.pageAccent,
    logoFile,
    isRehearsal: config.rehearsal,
    onBadLogo: (cause) => log("page.logo_unusable", { file: logoFile, cause }),
  });
  const returnOf = (order: Order) => {
    const endpoint = configuration.getEndpoint(order.endpointId);
    const sign = (text: string) => signFor(endpoint.merchant, text);
    return browserReturnOf(order, { sign, merchantName: shopNameOf(endpoint) });
  };
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
      returnOf,
      theme,
      payPageOf: paymentPages.urlOf,
      embedOriginsOf: ({ page, endpointId }) =>
        (page && configuration.getEndpoint(endpointId).settings.embedOrigins) ?? [],
    }),
    ...paymentPageRoutes(pages, {
      paymentPages,
      threeds,
      querying,
      theme,
      printDate,
      addressOf: addressOf(dependencies),
    }),
    receiptRoute({
      pathWord,
      receipts,
      theme,
      printDate,
      clock,
      addressOf: addressOf(dependencies),
    }),
  ];
}
