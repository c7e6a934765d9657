/** Builds what the ports answer beside merchants and the portal: health, documents, staging. */
import { join } from "node:path";
import { makeReportToOrder } from "../administration/installation/operator-events.ts";
import type { Callbacks } from "../callbacks/callbacks.ts";
import { baseUrlOf } from "../config/config.ts";
import { partsOf } from "../config/settings.ts";
import { makeSummary } from "../http/bounds.ts";
import { type Clients, healthRoutes, makePorts } from "../http/ports.ts";
import type { HttpRoute } from "../http/router.ts";
import type { ServerTls } from "../http/tls.ts";
import { makeAnswerError } from "../merchant-api/routes.ts";
import { makeCheckReadiness, type Readiness } from "../observability/readiness.ts";
import { documentationRoutes } from "../pages/documentation.ts";
import type { StagingParts } from "../staging/parts.ts";
import { loadDirectories } from "../storage/configuration/directories.ts";
import { findFileFaults } from "../threeds/directory-client.ts";
import type { Engine } from "./engine.ts";
import type { Resources } from "./resources.ts";

/** Where several processes share the port: how one of them reads the figures of all. */
export type ShareMetrics = (
  own: Resources["metrics"]["registry"],
  node: string,
) => () => Promise<string>;

type Served = Pick<Parameters<typeof makePorts>[0], "merchants" | "portal" | "health"> & {
  readonly tls: ServerTls | undefined;
  readonly clients: Clients;
};

export function openPorts({ config, clock, log, metrics }: Resources, served: Served) {
  const summary = makeSummary(clock, (cause, count) => log("http.refused", { cause, count }));
  return makePorts({
    ...served,
    settings: config,
    portalNetworks: partsOf(config.portalNetworks),
    isSecure: baseUrlOf(config, 0).startsWith("https://"),
    answerError: makeAnswerError({ pathWord: config.pathWord, wire: config, log }),
    onRefused(cause) {
      metrics.httpRefused.inc({ cause });
      summary.add(cause);
    },
  });
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
  readonly findMissing: () => Promise<Readiness["missing"]>;
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
