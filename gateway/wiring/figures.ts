/**
 * What `/metrics` shows when it is scraped, and the certificate of the merchant port, whose files
 * are watched as well.
 */
import { statfs } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { certificateFilesOf, type Gates } from "../acquirers/gates.ts";
import {
  type CertificateTexts,
  daysLeft,
  readCertificateFiles,
} from "../certificates/certificate-files.ts";
import { readResultsCertificate } from "../directory-api/results-server.ts";
import { openTls, type ServerTls } from "../http/tls.ts";
import type { LiveHold } from "../storage/backup/installation-hold.ts";
import { countOverdueCallbacks } from "../storage/schema/examine.ts";
import type { Directories } from "../threeds/directories.ts";
import { type Clock, later } from "../values/time.ts";
import type { Engine } from "./engine.ts";
import type { HttpServers } from "./http.ts";
import { holdFigures } from "./node.ts";
import type { Resources } from "./resources.ts";
import type { Screening } from "./screening.ts";

type Watched = Resources & {
  readonly engine: Engine;
  readonly gates: Gates;
  readonly directories: Directories;
  readonly screening: Screening;
  readonly servers: HttpServers;
  readonly tls: ServerTls | undefined;
  readonly hold: LiveHold;
};

export function watchFigures(watched: Watched): void {
  const { metrics, clock, engine, gates, directories, servers, tls } = watched;
  metrics.watch({
    inFlight: () => engine.runner.count,
    clockSkewMs: clock.skewMs,
    inDoubt: engine.countInDoubt,
    callbacksOverdue: () => countOverdue(watched),
    diskFree: () => findDiskFree(watched.config),
    ...gateFigures(gates, clock),
    certificateDays: () => certificateDays(watched),
    certificateUnusable: () => (tls?.isUsable() === false ? 1 : 0),
    unfinishedBytes: servers.countUnfinishedBytes,
    cardRanges: directories.countRanges,
    listEntries: watched.screening.countEntries,
    isRehearsal: () => (watched.config.rehearsal ? 1 : 0),
    ...holdFigures(watched, watched.hold),
  });
}

const overdueMs = 60_000;

async function countOverdue({ cells, clock }: Watched): Promise<number> {
  const before = later(clock.now(), -overdueMs);
  const stores = cells.stores(({ node }) => node.query);
  const counts = await stores.each((query) => countOverdueCallbacks(query, before));
  return counts.reduce((sum, each) => sum + each, 0);
}

async function findDiskFree({ dataDir, logFile }: Resources["config"]): Promise<number> {
  const folders = [resolve(dataDir), ...(logFile === "" ? [] : [dirname(resolve(logFile))])];
  const found = await Promise.all(folders.map((folder) => statfs(folder)));
  return Math.min(...found.map(({ bavail, bsize }) => bavail * bsize));
}

/** Nothing where the gateway does not speak TLS itself. */
export async function openMerchantTls({ config, log }: Resources): Promise<ServerTls | undefined> {
  const { tlsCertificateFile: certificateFile, tlsKeyFile: keyFile } = config;
  if (certificateFile === "") return undefined;
  return openTls({
    certificateFile,
    keyFile,
    handshakeTimeoutMs: config.headerTimeoutMs,
    onFault: (cause) => log("http.certificate_unusable", { cause }),
    onRenewed: () => log("http.certificate_renewed", { file: certificateFile }),
  });
}

/** Of the ports' own certificates, and of those that directory servers are shown. */
async function certificateDays({ config, clock, directories, tls }: Watched) {
  const now = clock.now();
  const results = await readResultsCertificate(config).catch(() => undefined);
  const days = new Map<string, number>();
  const add = (of: string, left: number | undefined) => left !== undefined && days.set(of, left);
  add("merchant port", tls?.daysLeft(now));
  add("results port", daysLeft(results?.certificate, now));
  for (const { server, certificates } of directories.list()) {
    add(`directory ${server.name}`, daysLeft(certificates.cert, now));
  }
  return days;
}

function gateFigures(gates: Gates, clock: Pick<Clock, "now">) {
  const countOf = (which: "up" | "wanted") => () =>
    new Map([...gates.connections()].map(([gate, count]) => [gate, count[which]]));
  return {
    connectionsUp: countOf("up"),
    connections: countOf("wanted"),
    /** Of the files as they are now: the next connection shows them. */
    async gateCertificateDays(): Promise<ReadonlyMap<string, number>> {
      const days = new Map<string, number>();
      for (const { name, settings } of gates.list()) {
        if (settings.tls !== true || settings.tlsCertificateFile === undefined) continue;
        const { cert } = await readCertificateFiles(certificateFilesOf(settings)).catch(
          () => noFiles,
        );
        const left = daysLeft(cert, clock.now());
        if (left !== undefined) days.set(name, left);
      }
      return days;
    },
  };
}

const noFiles: CertificateTexts = {};
