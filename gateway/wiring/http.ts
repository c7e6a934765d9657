/**
 * Builds the routes besides merchant interface and portal: health, metrics, documentation, staging.
 */
import { join } from "node:path";
import { readGateCertificates } from "../acquirers/gates.ts";
import { makeReportToOrder } from "../administration/installation/operator-events.ts";
import type { Callbacks } from "../callbacks/callbacks.ts";
import { daysLeft } from "../certificates/certificate-files.ts";
import { baseUrlOf } from "../config/config.ts";
import { partsOf } from "../config/settings.ts";
import { readResultsCertificate } from "../directory-api/results-server.ts";
import { makeSummary } from "../http/bounds.ts";
import { type Clients, type HttpPorts, healthRoutes, makePorts } from "../http/ports.ts";
import type { HttpRoute } from "../http/router.ts";
import type { ServerTls } from "../http/tls.ts";
import { makeAnswerError } from "../merchant-api/routes.ts";
import { findLeastFree, linkFigures, listDays, orNone } from "../observability/metrics.ts";
import { makeCheckReadiness, type Readiness } from "../observability/readiness.ts";
import { documentationRoutes } from "../pages/documentation.ts";
import type { Screening } from "../screening/screening.ts";
import type { StagingParts } from "../staging/parts.ts";
import { findLatestBackup } from "../storage/backup/backups.ts";
import { loadDirectories } from "../storage/configuration/directories.ts";
import { countOverdue, countWatchedEntries } from "../storage/schema/examine.ts";
import type { Directories } from "../threeds/directories.ts";
import { findFileFaults } from "../threeds/directory-client.ts";
import { later } from "../values/time.ts";
import type { Engine } from "./engine.ts";
import type { NodeContext } from "./node-context.ts";

/** Returns a function that collects the metrics of all processes that share the port. */
export type ShareMetrics = (
  own: NodeContext["metrics"]["registry"],
  node: string,
) => () => Promise<string>;

type Served = Pick<Parameters<typeof makePorts>[0], "merchants" | "portal" | "health"> & {
  readonly tls: ServerTls | undefined;
  readonly clients: Clients;
};

export function openPorts({ config, clock, log, metrics }: NodeContext, served: Served) {
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
  { config, database, keys, configuration, gates, hold }: NodeContext,
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
  { metrics: { registry }, node, gates }: NodeContext,
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
  { baseUrl }: NodeContext,
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

/** In production, there are no staging routes. */
export function stagingRoutes(
  context: NodeContext,
  staging: StagingParts | undefined,
  { callbacks, findMissing }: Shown,
): readonly HttpRoute[] {
  const { configuration, clock } = context;
  const { current, getEndpoint } = configuration;
  const now = async () => clock.now();
  const routes = staging?.routes?.({
    clock,
    callbacks,
    findState: async () => ({ configuration: current(), missing: await findMissing() }),
    findMerchant: (login) => current().merchants.find((each) => each.login === login),
    report: makeReportToOrder({ ...context, now }, getEndpoint),
  });
  return routes ?? [];
}

type Parts = {
  readonly engine: Engine;
  readonly directories: Directories;
  readonly screening: Pick<Screening, "countEntries">;
  readonly ports: HttpPorts;
  readonly tls: ServerTls | undefined;
};

const overdueMs = 60_000;

/** The values are measured each time `/metrics` is read. */
export function watchFigures(context: NodeContext, parts: Parts): void {
  const { config, clock, metrics, cells, database, gates, hold } = context;
  const { engine, directories, screening, ports, tls } = parts;
  metrics.watch({
    inFlight: () => engine.runner.count,
    clockSkewMs: clock.skewMs,
    inDoubt: engine.countInDoubt,
    callbacksOverdue: () => countOverdue(cells, later(clock.now(), -overdueMs)),
    diskFree: () => findLeastFree(config),
    ...linkFigures(gates.connections),
    gateShares: () =>
      new Map([...context.health.report()].map(([gate, { share }]) => [gate, share])),
    async gateCertificateDays() {
      const read = await readGateCertificates(gates.list());
      return listDays(read.map(([name, cert]) => [name, daysLeft(cert, clock.now())]));
    },
    certificateDays: () => findCertificateDays(context, parts),
    certificateUnusable: () => Number(tls?.isUsable() === false),
    unfinishedBytes: ports.countUnfinishedBytes,
    cardRanges: directories.countRanges,
    listEntries: screening.countEntries,
    isRehearsal: () => Number(config.rehearsal),
    backupAgeS: () => orNone(async () => (await findLatestBackup(database.query))?.ageS),
    auditEntries: () => countWatchedEntries(database.query).catch(() => new Map()),
    onHold: () => Number(hold.current() !== undefined),
  });
}

/** Returns how many days the certificates of ports and for directory servers are still valid. */
async function findCertificateDays(
  { config, clock }: NodeContext,
  { directories, tls }: Parts,
): Promise<ReadonlyMap<string, number>> {
  const now = clock.now();
  const results = await readResultsCertificate(config).catch(() => undefined);
  return listDays([
    ["merchant port", tls?.daysLeft(now)],
    ["results port", daysLeft(results?.certificate, now)],
    ...directories.list().map(({ server, certificates }) => {
      return [`directory ${server.name}`, daysLeft(certificates.cert, now)] as const;
    }),
  ]);
}
