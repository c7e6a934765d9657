/** Builds the connections to and from directory servers: requests, card ranges, results. */

import { allowsHttp } from "../config/config.ts";
import {
  type ResultsServer,
  readResultsCertificate,
  startResultsServer,
} from "../directory-api/results-server.ts";
import { every } from "../engine/claim.ts";
import type { LiveHold } from "../storage/backup/installation-hold.ts";
import { loadDirectories, makeRangeStore } from "../storage/configuration/directories.ts";
import type { ReceiveResult } from "../threeds/challenge-result.ts";
import { type Directories, openDirectories } from "../threeds/directories.ts";
import type { Resources } from "./resources.ts";

/** How often a node looks for card ranges that are due. */
const lookEveryMs = 5_000;
/** How long the start waits for the first ranges, without which no card is enrolled. */
const firstRangesMs = 3_000;

export async function openDirectoryServers(resources: Resources & { readonly hold: LiveHold }) {
  const { config, database, clock, log, hold } = resources;
  const directories = await openDirectories({
    load: () => loadDirectories(database.query),
    store: makeRangeStore(database, clock),
    clock,
    timeoutMs: config.directoryTimeoutMs,
    everyMs: config.cardRangesEveryMs,
    rangesMibMax: config.cardRangesMibMax,
    allowHttp: allowsHttp(config),
    warn: (directory, cause) => log("directory.failed", { directory, cause }),
    onReloadError: (error) => log("directory.reload_failed", { err: error }),
    onRefreshError: (error) => log("directory.refresh_failed", { err: error }),
  });
  const results = await startResults(resources, directories);
  const resultsUrl =
    config.resultsUrl || `https://${config.host}:${results?.port ?? config.resultsPort}`;
  let stopLooking = async () => {};
  let reloading = Promise.resolve();

  return {
    directories,
    /** Where the directory server posts results. */
    resultsUrl: (directory: string) =>
      `${resultsUrl.replace(/(?<!\/)\/+$/, "")}/results/${encodeURIComponent(directory)}`,

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
      if (hold.current() === undefined) await directories.refreshFirst(firstRangesMs);
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
    if (hold.current() === undefined) await directories.refresh();
    // A certificate authority that could not be read at the start may be known now.
    results?.update();
  }
}

/** Undefined without a certificate: challenges then cannot be finished. */
async function startResults(
  { config, clock, log }: Resources,
  directories: Directories,
): Promise<ResultsServer | undefined> {
  const own = await readResultsCertificate(config);
  if (own === undefined) {
    if (directories.list().length > 0) log("directory.certificate_missing", {});
    return undefined;
  }
  return startResultsServer({
    own,
    clock,
    host: config.host,
    port: config.resultsPort,
    authorities: directories.authorities,
    onRefused: (cause, count) => log("directory.connection_refused", { cause, count }),
    onRenewError: (error) => log("directory.certificate_reload_failed", { err: error }),
    onCrash: (error) => log("directory.result_failed", { err: error }),
  });
}
