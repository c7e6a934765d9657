/** Opens the ports: of merchants and, where they are set, of the portal and of health. */
import { join } from "node:path";
import { makeReportToOrder } from "../administration/installation/operator-events.ts";
import { baseUrlOf, type Config } from "../config/config.ts";
import { partsOf } from "../config/settings.ts";
import { clientAddressOf, makeIsTrusted, onlyInside } from "../http/client-network.ts";
import { healthRoutes, publicHealth } from "../http/health.ts";
import { makeSummary } from "../http/rate-limit.ts";
import type { HttpRequest, HttpRoute } from "../http/router.ts";
import { type Bounds, makeServer, type RefusalCause } from "../http/server.ts";
import type { ServerTls } from "../http/tls.ts";
import { makeAnswerError } from "../merchant-api/routes.ts";
import { makeCheckReadiness, type Readiness } from "../observability/readiness.ts";
import { documentationRoutes } from "../pages/documentation.ts";
import { loadDirectories } from "../storage/configuration/directories.ts";
import { findFileFaults } from "../threeds/directory-client.ts";
import type { Callbacks } from "./callbacks.ts";
import type { Engine } from "./engine.ts";
import type { Resources } from "./resources.ts";
import type { StagingParts } from "./staging-parts.ts";

/** Where several processes share the port: how one of them reads the figures of all. */
export type ShareMetrics = (
  own: Resources["metrics"]["registry"],
  node: string,
) => () => Promise<string>;

export type HttpServers = ReturnType<typeof openServers>;

/** What requests tell of their clients, beside proxies of the operator. */
export function readClients({ trustedProxies, proxyHeader }: Config) {
  const isTrusted = makeIsTrusted(partsOf(trustedProxies));
  return {
    isTrusted,
    proxyHeader,
    addressOf: (request: HttpRequest) => clientAddressOf(request, isTrusted, proxyHeader),
  };
}

export type Clients = ReturnType<typeof readClients>;

type Served = {
  readonly tls: ServerTls | undefined;
  readonly clients: Clients;
  /** What is always on the merchant port. */
  readonly merchants: readonly HttpRoute[];
  readonly portal: readonly HttpRoute[];
  readonly health: readonly HttpRoute[];
};

export function openServers(resources: Resources, { tls, clients, health, ...served }: Served) {
  const { config, log } = resources;
  const { pathWord, fieldWord, lineFeeds } = config;
  const portal = onlyInside(served.portal, partsOf(config.portalNetworks), clients);
  const bounds = boundsOf(resources, tls, clients);
  const isSecure = baseUrlOf(config, 0).startsWith("https://");
  const answerError = makeAnswerError({ pathWord, wire: { fieldWord, lineFeeds }, log });
  const open = (routes: readonly HttpRoute[]) =>
    makeServer({
      routes,
      bounds,
      answerError,
      isSecure,
      ...(tls && { open: (times, receive) => tls.open(times, receive, bounds.onRefused) }),
    });
  const merchants = open([
    ...(config.portalPort === "" ? portal : []),
    ...served.merchants,
    ...(config.adminPort === "" ? publicHealth(health, config.environment) : []),
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

/** A scraper and a few probes. */
const adminBounds = { connectionsMax: 100, bodyBytesMax: 0, idleTimeoutMs: 10_000 };

function boundsOf(
  { config, clock, log, metrics }: Resources,
  tls: ServerTls | undefined,
  { isTrusted }: Clients,
) {
  const summary = makeSummary(clock, (cause, count) => log("http.refused", { cause, count }));
  const onRefused = (cause: RefusalCause) => {
    metrics.httpRefused.inc({ cause });
    summary.add(cause);
  };
  const proxiesOnly = config.environment === "production" && tls === undefined;
  return { ...config, isTrusted, proxiesOnly, onRefused } satisfies Partial<Bounds>;
}

export function judgeReadiness(
  { config, database, keys, configuration, gates, hold }: Resources,
  { probes }: Pick<Engine, "probes">,
): () => Promise<Readiness> {
  return makeCheckReadiness({
    timeoutMs: config.readyTimeoutMs,
    probes,
    endpoints: () => configuration.current().endpoints,
    isReady: gates.isReady,
    whyOnHold: () => hold.current()?.why,
    isSealedByOwn: keys.isSealedByOwn,
    loadDirectories: () => loadDirectories(database.query),
    findFileFaults,
  });
}

export function watchHealth(
  { metrics: { registry }, node, gates }: Resources,
  checkReadiness: () => Promise<Readiness>,
  shareMetrics: ShareMetrics = () => () => registry.metrics(),
): readonly HttpRoute[] {
  const { contentType } = registry;
  return healthRoutes({
    checkReadiness,
    connections: gates.connections,
    registry: { contentType, metrics: shareMetrics(registry, node.name) },
  });
}

const builtDocumentation = join(import.meta.dirname, "../../docs-site/dist");

export function serveDocumentation(
  { baseUrl }: Resources,
  staging: StagingParts | undefined,
): readonly HttpRoute[] {
  return documentationRoutes(builtDocumentation, async () => ({
    GATEWAY: baseUrl(),
    ...(await staging?.documentValues?.()),
  }));
}

type Shown = {
  readonly callbacks: Callbacks;
  readonly findMissing: () => Promise<Readonly<Record<string, string>>>;
};

/** None in production. */
export function stagingRoutes(
  resources: Resources,
  staging: StagingParts | undefined,
  { callbacks, findMissing }: Shown,
): readonly HttpRoute[] {
  const { current } = resources.configuration;
  const routes = staging?.routes?.({
    clock: resources.clock,
    callbacks,
    findState: async () => ({ configuration: current(), missing: await findMissing() }),
    findMerchant: (login) => current().merchants.find((each) => each.login === login),
    report: makeReportToOrder(resources),
  });
  return routes ?? [];
}
