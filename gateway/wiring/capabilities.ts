/**
 * Builds the parts that supply facts for orders: issuers, directory servers, wallets, screening.
 */
import { makeAddressRules, makeLookup, makeResolve } from "../callbacks/addresses.ts";
import { openCallbacks } from "../callbacks/callbacks.ts";
import { allowsHttp } from "../config/config.ts";
import { partsOf, signingWindowMaxMs } from "../config/settings.ts";
import { openResultsServer } from "../directory-api/results-server.ts";
import { makeSummary } from "../http/bounds.ts";
import { type IssuerRange, openIssuers } from "../issuers/issuers.ts";
import { signFor } from "../merchant-api/control.ts";
import { makeObserveOrders } from "../observability/observe.ts";
import { openScreening } from "../screening/screening.ts";
import { loadWalletKeys } from "../storage/cards/wallets.ts";
import { routeCallbacks, routeTallies, routeTokens } from "../storage/cells/routed-stores.ts";
import { loadDirectories, makeRangeStore } from "../storage/configuration/directories.ts";
import { makeIssuerStore } from "../storage/configuration/issuer-ranges.ts";
import { makeListStore } from "../storage/screening/screening-lists.ts";
import { eciOfToken } from "../threeds/authentication-outcome.ts";
import type { ReceiveResult } from "../threeds/challenge-result.ts";
import { openDirectories } from "../threeds/directories.ts";
import { portsOf } from "../wallets/merchant-session.ts";
import { openWallets } from "../wallets/wallets.ts";
import type { NodeContext } from "./node-context.ts";

/** `builtIn` names the issuers of the sandbox's test cards, by ranges of card numbers. */
export function makeIssuers({ database, log }: NodeContext, builtIn: readonly IssuerRange[] = []) {
  return openIssuers({
    store: makeIssuerStore(database),
    builtIn,
    onError: (error) => log("bin_table.reload_failed", { err: error }),
  });
}

export async function connectDirectoryServers({ config, database, clock, log, hold }: NodeContext) {
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
  const { authorities } = directories;
  const isNeeded = () => directories.list().length > 0;
  const results = await openResultsServer({ settings: config, clock, authorities, isNeeded, log });

  return {
    directories,
    resultsUrl: results.urlOf,

    /** Reads directory servers' settings and certificates again, because they may have changed. */
    async reload(): Promise<void> {
      await directories.reload(results.renew);
      // Card ranges are refreshed in the background: a directory server may take minutes to answer.
      void directories.refresh().then(results.update);
    },

    async start(receiveResult: ReceiveResult): Promise<void> {
      results.serve(receiveResult);
      // Certificate files that could not be read when the node started are read again.
      await directories.start(results.update);
    },

    async stop(): Promise<void> {
      await results.stop();
      // When the node stops, requests for card ranges that still run are aborted.
      await directories.stop();
    },
  };
}

/** The gateway's requests for wallet payment sessions must not go to the operator's own network. */
export function makeWallets(context: NodeContext) {
  const { config, clock, log, metrics, cells, vaultDatabase, vault } = context;
  const hosts = partsOf(config.walletaHosts);
  const rules = makeAddressRules({
    ports: portsOf(hosts),
    // In staging, the sandbox on this machine simulates the wallet's host.
    allowsLoopback: config.environment === "staging",
    privateNetworks: [],
    names: [],
  });
  const refusals = makeSummary(clock, (cause, count) =>
    log("wallet.session_refused", { cause, count }),
  );
  return openWallets({
    settings: config,
    signingWindowMaxMs,
    clock,
    log,
    digest: vault.digest,
    readKeys: () => loadWalletKeys(vaultDatabase.query, vault.openSecret),
    ...routeTokens(cells, clock, { retryMs: config.acceptRetryMs }),
    eciOf: (wallet, { number }) => eciOfToken(wallet, number.network),
    observe: (wallet, tookMs) => metrics.walletMs.observe({ wallet }, tookMs),
    hosts,
    findUrlFault: (url) => rules.findUrlFault(url),
    lookup: makeLookup(rules, makeResolve(rules.isNamed)),
    onSessionRefused: refusals.add,
  });
}

/** In staging, `networks` gives test addresses a country, so that rules can be tried. */
export function makeScreening(
  { cells, config, configuration, database, log, metrics, vault }: NodeContext,
  networks: readonly (readonly [network: string, country: string])[] = [],
) {
  const onBatch = makeObserveOrders(log, metrics).onBatch("screen");
  return openScreening({
    store: routeTallies(cells, { onBatch, retryMs: config.acceptRetryMs }),
    listStore: makeListStore(database),
    currentRules: configuration.current,
    countries: { file: config.ipCountryFile, builtIn: networks },
    cardGuessesMax: config.cardGuessesMax,
    digestSubject: vault.digestSubject,
    countingKey: vault.countingKey,
    log,
  });
}

export function makeCallbacks(context: NodeContext) {
  const { config, clock, log, metrics, cells, vault, node, hold, configuration } = context;
  const callbacks = openCallbacks({
    settings: config,
    clock,
    log,
    store: routeCallbacks(cells, node),
    getEndpoint: configuration.getEndpoint,
    secretFor: vault.secretFor,
    sign: signFor,
    observe: (outcome, durationMs) => metrics.callbackMs.observe({ outcome }, durationMs),
  });
  return { ...callbacks, claimDue: hold.unless(callbacks.claimDue, 0) };
}
