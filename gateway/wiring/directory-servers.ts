/** Builds the connections to and from directory servers: requests, card ranges, results. */
import { allowsHttp } from "../config/config.ts";
import {
  openResultsServer,
  readResultsCertificate,
  resultsUrlOf,
} from "../directory-api/results-server.ts";
import { every } from "../engine/claim.ts";
import { loadDirectories, makeRangeStore } from "../storage/configuration/directories.ts";
import type { ReceiveResult } from "../threeds/challenge-result.ts";
import { type Directories, openDirectories } from "../threeds/directories.ts";
import type { Resources } from "./resources.ts";

/** How often a node looks for card ranges that are due. */
const lookEveryMs = 5_000;
/** How long the start waits for the first ranges, without which no card is enrolled. */
const firstRangesMs = 3_000;

export async function openDirectoryServers(resources: Resources) {
  const { config, database, clock, log, hold } = resources;
  const directories = await openDirectories({
    load: () => loadDirectories(database.query),
    store: makeRangeStore(database, clock),
    clock,
    timeoutMs: config.directoryTimeoutMs,
    everyMs: config.cardRangesEveryMs,
    rangesMibMax: config.cardRangesMibMax,
    allowHttp: allowsHttp(config),
    mayRefresh: () => hold.current() === undefined,
    warn: (directory, cause) => log("directory.failed", { directory, cause }),
    onReloadError: (error) => log("directory.reload_failed", { err: error }),
    onRefreshError: (error) => log("directory.refresh_failed", { err: error }),
  });
  const results = await openResults(resources, directories);
  const resultsUrl =
    config.resultsUrl || `https://${config.host}:${results?.port ?? config.resultsPort}`;
  let stopLooking = async () => {};
  let reloading = Promise.resolve();

  return {
    directories,
    /** Where the directory server posts results. */
    resultsUrl: (directory: string) => resultsUrlOf(resultsUrl, directory),

    /** The configuration or the certificate files may have changed. */
    async reload(): Promise<void> {
      reloading = reloading.then(reload);
      await reloading;
      // Not awaited: a directory server may take minutes to send its ranges.
      void refresh();
    },

    /** From now on results are received and card ranges refreshed. */
    async start(receiveResult: ReceiveResult): Promise<void> {
      results?.serve(receiveResult);
      await directories.refreshFirst(firstRangesMs);
      stopLooking = every(lookEveryMs, refresh, () => undefined);
    },

    async stop(): Promise<void> {
      const stopped = stopLooking();
      await results?.stop();
      // Cancels requests for ranges that are in flight.
      await directories.stop();
      await stopped;
    },
  };

  /** One after the other, so that an older answer never replaces a newer one. Never rejects. */
  async function reload(): Promise<void> {
    await directories.reload();
    await results?.renew(() => readResultsCertificate(config));
  }

  async function refresh(): Promise<void> {
    await directories.refresh();
    // A certificate authority that could not be read at the start may be known now.
    results?.update();
  }
}

function openResults({ config, clock, log }: Resources, directories: Directories) {
  return openResultsServer({
    settings: config,
    clock,
    host: config.host,
    port: config.resultsPort,
    authorities: directories.authorities,
    isNeeded: () => directories.list().length > 0,
    onMissing: () => log("directory.certificate_missing", {}),
    onRefused: (cause, count) => log("directory.connection_refused", { cause, count }),
    onRenewError: (error) => log("directory.certificate_reload_failed", { err: error }),
    onCrash: (error) => log("directory.result_failed", { err: error }),
  });
}
