/** Builds what `/metrics` shows when it is scraped. */
import { readGateCertificates } from "../acquirers/gates.ts";
import { daysLeft } from "../certificates/certificate-files.ts";
import { readResultsCertificate } from "../directory-api/results-server.ts";
import type { HttpPorts } from "../http/ports.ts";
import type { ServerTls } from "../http/tls.ts";
import { findLeastFree, linkFigures, listDays, orNone } from "../observability/metrics.ts";
import type { Screening } from "../screening/screening.ts";
import { findLatestBackup } from "../storage/backup/backups.ts";
import { countOverdue, countWatchedEntries } from "../storage/schema/examine.ts";
import type { Directories } from "../threeds/directories.ts";
import { later } from "../values/time.ts";
import type { Engine } from "./engine.ts";
import type { Resources } from "./resources.ts";

type Parts = {
  readonly engine: Engine;
  readonly directories: Directories;
  readonly screening: Pick<Screening, "countEntries">;
  readonly ports: HttpPorts;
  readonly tls: ServerTls | undefined;
};

const overdueMs = 60_000;

export function watchFigures(resources: Resources, parts: Parts): void {
  const { config, clock, metrics, cells, database, gates, hold } = resources;
  const { engine, directories, screening, ports, tls } = parts;
  metrics.watch({
    inFlight: () => engine.runner.count,
    clockSkewMs: clock.skewMs,
    inDoubt: engine.countInDoubt,
    callbacksOverdue: () => countOverdue(cells, later(clock.now(), -overdueMs)),
    diskFree: () => findLeastFree(config),
    ...linkFigures(gates.connections),
    async gateCertificateDays() {
      const read = await readGateCertificates(gates.list());
      return listDays(read.map(([name, cert]) => [name, daysLeft(cert, clock.now())]));
    },
    certificateDays: () => findCertificateDays(resources, parts),
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

/** Of the ports' own certificates, and of those that directory servers are shown. */
async function findCertificateDays(
  { config, clock }: Resources,
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
