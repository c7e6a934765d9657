/**
 * The gateway, wired together: from an open database to listening sockets. Nothing is started on
 * import, and nothing is shared between two gateways in one process.
 */
import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import { makeGates } from "./acquirers/gates.ts";
import { baseUrlOf, type Config } from "./config/config.ts";
import { type Cards, makeCards } from "./engine/cards.ts";
import { type Issuers, openIssuers } from "./issuers/issuers.ts";
import type { Log } from "./observability/log.ts";
import { makeMetrics } from "./observability/metrics.ts";
import { makeObserveOrders } from "./observability/observe.ts";
import { makeFindSealedCard, makePendingCardStore, makeReferenceStore } from "./storage/cards.ts";
import { type LiveConfiguration, openConfiguration } from "./storage/configuration.ts";
import type { Database } from "./storage/database.ts";
import { makeCountInDoubt } from "./storage/find-orders.ts";
import { makeIssuerStore } from "./storage/issuer-ranges.ts";
import { takePresence } from "./storage/presence.ts";
import { makeKeyStore } from "./storage/vault-keys.ts";
import type { Clock } from "./values/time.ts";
import { systemClock } from "./values/time.ts";
import { openKeys } from "./vault/keys.ts";
import { makePendingCards } from "./vault/pending-cards.ts";
import { newCardRefId } from "./vault/seal.ts";
import { makeVault, type Vault } from "./vault/vault.ts";
import { makeStartAcquirer } from "./wiring/acquirers.ts";
import { deleteSome, idleOf, startBackgroundJobs } from "./wiring/background-jobs.ts";
import { makeCallbacks } from "./wiring/callbacks.ts";
import { openDirectoryServers } from "./wiring/directory-servers.ts";
import { makeEngine } from "./wiring/engine.ts";
import { makeHttpServer, type StagingParts } from "./wiring/http.ts";
import { makeCheckReadiness } from "./wiring/readiness.ts";
import { makeThreeDs } from "./wiring/threeds.ts";
import { openWallets } from "./wiring/wallets.ts";

export type GatewayOptions = {
  readonly config: Config;
  /** The vault reaches its tables by connections of its own. */
  readonly databases: { readonly node: Database; readonly vault: Database };
  readonly masterKey: Uint8Array;
  readonly log: Log;
  readonly clock?: Clock;
  /** Given in staging only. */
  readonly staging?: StagingParts | undefined;
};

export type Gateway = {
  readonly url: string;
  readonly port: number;
  readonly node: string;
  /** Runs what is due until nothing is due and no order is in flight. */
  settle(): Promise<void>;
  /** Looks once for due orders, without waiting for those that it starts. */
  claimDue(): Promise<number>;
  stop(): Promise<void>;
};

export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { config, log, clock = systemClock } = options;
  const { node: database } = options.databases;
  const { keys, vault, pendingCards } = await openVault(options.masterKey, options.databases.vault);
  const metrics = makeMetrics();
  let { port } = config;
  const gates = makeGates();
  const configuration = await readConfiguration();
  const issuers = await openIssuerTable(database, options);
  const links = await openDirectoryServers({ config, database, clock, log });
  const wallets = await openWallets({ ...options, clock, metrics, vault });
  const presence = await takePresence(database, {
    names: [config.nodeName, `${config.nodeName}-${process.pid}`],
    onConfiguration: reload,
    onLost: (error) => log("node.presence_lost", { error: error.message }),
    retryMs: 1000,
  });
  const { getEndpoint } = configuration;
  const threeds = makeThreeDs({
    ...{ config, clock, vault, pendingCards, configuration },
    ...{ directories: links.directories, resultsUrl: links.resultsUrl },
    baseUrl: () => baseUrlOf(config, port),
    warn: (facts, cause) => log("threeds.failed", { ...facts, cause }),
  });
  const shared = { ...options, clock, metrics, database, vault, getEndpoint, node: presence.node };
  const callbacks = makeCallbacks(shared);
  const engine = makeEngine({
    ...{ ...shared, threeds, observe: makeObserveOrders(log, metrics) },
    ...{ findAcquirer: gates.find, findIssuer: issuers.find, sendCallback: callbacks.tell },
  });
  metrics.watch({ inFlight: () => engine.runner.count, inDoubt: makeCountInDoubt(database.query) });
  gates.open(makeStartAcquirer({ ...options, clock, metrics, ...engine }));
  gates.update(configuration.current().gates.values());
  const checkReadiness = makeCheckReadiness(database, configuration, gates);
  const cards = makeCardReferences(database, { config, vault, clock });
  const server = makeHttpServer({
    ...options,
    threeds: threeds.makeBrowserAuthentication(engine.reports),
    callbackRules: callbacks.rules,
    ...{ database, clock, engine, cards, wallets, metrics, configuration, checkReadiness },
  });
  await listen();
  await engine.claims.claimOwn();
  const stopLooking = startBackgroundJobs(
    { engine, pendingCards, callbacks },
    { config, clock, log },
  );

  return {
    ...{ url: baseUrlOf(config, port), port, node: presence.node },
    ...{ claimDue: engine.claims.claimDue, settle, stop },
  };

  async function settle(): Promise<void> {
    do {
      await idleOf(engine);
      await callbacks.idle();
    } while ((await engine.claims.claimDue()) + (await callbacks.claimDue()) > 0);
    await deleteSome(callbacks);
  }

  /** First no new work, then the orders in flight, then the links that they need. */
  async function stop(): Promise<void> {
    const looked = stopLooking();
    engine.waits.end();
    await server.close();
    // While the database is away, claims and commits wait for it: the node stops without them.
    const done = looked.then(() => idleOf(engine));
    await Promise.race([done, delay(config.drainMs)]);
    await leave();
  }

  function readConfiguration(): Promise<LiveConfiguration> {
    return openConfiguration({
      query: database.query,
      openSecret: vault.openSecret,
      onChange: ({ gates: changed }) => gates.update(changed.values()),
      onError: (error) => log("configuration.reload_failed", { err: error }),
    });
  }

  async function listen(): Promise<void> {
    try {
      await links.start(threeds.makeReceiveResult(engine.reports));
      await server.listen({ host: config.host, port: config.port });
      // Kept, because a closing server no longer knows its port.
      port = portOf(server);
    } catch (error) {
      await leave();
      throw error;
    }
  }

  function reload(): void {
    // Keys first: a rotation may have sealed the other secrets under a new key.
    void keys
      .reload()
      .catch((error) => log("vault.keys_reload_failed", { err: error }))
      .then(() => Promise.all([configuration.reload(), wallets.reload()]));
    void issuers.reload();
    void links.reload();
  }

  async function leave(): Promise<void> {
    await callbacks.stop();
    await wallets.stop();
    await links.stop();
    await gates.stop();
    await presence.stop();
  }
}

async function openVault(masterKey: Uint8Array, { query, hot }: Database) {
  const keys = await openKeys(masterKey, makeKeyStore(query));
  const vault = makeVault(keys, makeFindSealedCard(hot));
  return {
    keys,
    vault,
    pendingCards: makePendingCards(keys, makePendingCardStore(query)),
  };
}

async function openIssuerTable(
  database: Database,
  { staging, log }: GatewayOptions,
): Promise<Issuers> {
  return openIssuers({
    store: makeIssuerStore(database),
    builtIn: staging?.ranges ?? [],
    onError: (error) => log("bin_table.reload_failed", { err: error }),
  });
}

function makeCardReferences(
  database: Database,
  { config, vault, clock }: { config: Config; vault: Vault; clock: Clock },
): Cards {
  return makeCards({
    store: makeReferenceStore(database.hot),
    findCard: vault.findCard,
    newReferenceId: newCardRefId,
    clock,
    graceMs: config.cardReferenceGraceMs,
  });
}

function portOf({ server }: FastifyInstance): number {
  return (server.address() as AddressInfo).port;
}

function delay(durationMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, durationMs).unref());
}
