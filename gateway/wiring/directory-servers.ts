/**
 * The ways to and from directory servers, wired together: what is configured, the card ranges, and
 * the port on which results arrive. Part of what `main.ts` wires.
 */
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Config } from "../config/config.ts";
import {
  type Identity,
  type ResultsServer,
  startResultsServer,
} from "../directory-api/results-server.ts";
import { every } from "../engine/claim.ts";
import type { Log } from "../observability/log.ts";
import { makeRangeStore } from "../storage/card-ranges.ts";
import type { Database } from "../storage/database.ts";
import { loadDirectories } from "../storage/directories.ts";
import { type Directories, makeDirectories } from "../threeds/directories/directories.ts";
import type { TakeResult } from "../threeds/version2/take-result.ts";
import type { Clock } from "../values/time.ts";

export type DirectoryLinks = {
  readonly directories: Directories;
  /** Where the named directory server posts results. */
  resultsUrl(directory: string): string;
  /** What is configured may have changed. */
  reload(): Promise<void>;
  /** From now on results are taken, and the ranges kept up to date. */
  open(takeResult: TakeResult): Promise<void>;
  stop(): Promise<void>;
};

type Dependencies = {
  readonly config: Config;
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
};

/** How often a node looks whether any directory server's ranges are due. */
const lookEveryMs = 5_000;
/** How long the start waits for the very first ranges, without which no card takes part. */
const firstRangesMs = 3_000;

export async function makeDirectoryLinks(dependencies: Dependencies): Promise<DirectoryLinks> {
  const { config, database, clock, log } = dependencies;
  const directories = makeDirectories({
    ...{ store: makeRangeStore(database, clock), clock },
    timeoutMs: config.directoryTimeoutMs,
    everyMs: config.cardRangesEveryMs,
    allowHttp: config.environment === "staging",
    warn: (directory, cause) => log("directory.failed", { directory, cause }),
  });
  const update = async () => directories.update(await loadDirectories(database.query));
  await update();
  const trusted = () => directories.list().map(({ certificates: { ca } }) => ca);
  const refresh = async () => {
    const before = trusted();
    await directories.refresh().catch((error) => {
      log("directory.refresh_failed", { err: error });
    });
    // Files that could not be read at the start may be there now: those who post are let in then.
    if (!isDeepStrictEqual(before, trusted())) results?.update();
  };
  let results: ResultsServer | undefined;
  let stopLooking = async () => {};

  return {
    directories,
    resultsUrl(directory) {
      const port = results?.port ?? config.resultsPort;
      const place = config.resultsUrl || `https://${config.host}:${port}`;
      return `${place.replace(/\/+$/, "")}/results/${encodeURIComponent(directory)}`;
    },

    async reload() {
      try {
        await update();
        if (results !== undefined) await renewResults(results, dependencies);
      } catch (error) {
        log("directory.reload_failed", { err: error });
      }
      await refresh();
    },

    async open(takeResult) {
      results = await startResults(dependencies, directories, takeResult);
      const refreshed = refresh();
      if (directories.lacksRanges()) await atMost(firstRangesMs, refreshed);
      stopLooking = every(lookEveryMs, refresh, () => undefined);
    },

    async stop() {
      const looked = stopLooking();
      await results?.stop();
      // Whoever asks for ranges is called off by this, and not waited for.
      await directories.stop();
      await looked;
    },
  };
}

/** Whatever is wrong with the files, those who are let in are up to date. */
async function renewResults(results: ResultsServer, { config, log }: Dependencies): Promise<void> {
  const keep = (error: unknown) => {
    log("directory.certificate_reload_failed", { err: error });
    return undefined;
  };
  const own = await readOwnCertificate(config).catch(keep);
  try {
    results.update(own);
  } catch (error) {
    keep(error);
    results.update();
  }
}

async function atMost(durationMs: number, task: Promise<void>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, durationMs);
  await Promise.race([task, promise]);
  clearTimeout(timer);
}

/** Nothing without a certificate: challenges then cannot be finished, and the log says so. */
async function startResults(
  { config, clock, log }: Dependencies,
  directories: Directories,
  takeResult: TakeResult,
): Promise<ResultsServer | undefined> {
  const own = await readOwnCertificate(config);
  if (own === undefined) {
    if (directories.list().length > 0) {
      log("directory.certificate_missing", {});
    }
    return undefined;
  }
  return startResultsServer({
    ...{ own, clock, host: config.host, port: config.resultsPort, takeResult },
    authorities: () =>
      new Map(
        directories
          .list()
          .filter(({ certificates: { ca } }) => ca !== "")
          .map(({ server: { name, settings }, certificates: { ca } }) => {
            return [name, { certificates: ca, name: settings.resultsName }];
          }),
      ),
    onRefused: (cause, count) => log("directory.connection_refused", { cause, count }),
    onCrash: (error) => log("directory.result_failed", { err: error }),
  });
}

async function readOwnCertificate(config: Config): Promise<Identity | undefined> {
  const staged = join(resolve(config.dataDir), "bank", "tls");
  const isStaged = config.environment === "staging" && config.resultsCertificateFile === "";
  const [certificateFile, keyFile] = isStaged
    ? [join(staged, "gateway.pem"), join(staged, "gateway.key")]
    : [config.resultsCertificateFile, config.resultsKeyFile];
  if (certificateFile === "") return undefined;
  try {
    const [certificate, key] = [
      await readFile(certificateFile, "utf8"),
      await readFile(keyFile, "utf8"),
    ];
    return { certificate, key };
  } catch (error) {
    // A staging gateway without the sandbox bank has none, and needs none.
    if (isStaged) return undefined;
    throw error;
  }
}
