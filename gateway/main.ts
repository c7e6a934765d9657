/**
 * The gateway, wired together: from an open database to listening sockets. The import starts
 * nothing, and two gateways in one process share nothing.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Opened } from "./administration/session.ts";
import { partsOf } from "./config/settings.ts";
import { type Ports, readClients } from "./http/ports.ts";
import { openMerchantTls } from "./http/tls.ts";
import type { StagingParts } from "./staging/parts.ts";
import { startBackgroundJobs } from "./wiring/background-jobs.ts";
import {
  connectDirectoryServers,
  makeCallbacks,
  makeIssuers,
  makeScreening,
  makeWallets,
} from "./wiring/capabilities.ts";
import { makeEngine, makeThreeDs, openGates } from "./wiring/engine.ts";
import {
  judgeReadiness,
  openPorts,
  type ShareMetrics,
  serveDocumentation,
  stagingRoutes,
  watchFigures,
  watchHealth,
} from "./wiring/http.ts";
import { keepRefusedRequests, merchantInterface } from "./wiring/merchant-interface.ts";
import { type NodeContextOptions, openNodeContext } from "./wiring/node-context.ts";
import { pageRoutes } from "./wiring/pages.ts";
import { makeIndex, openPortalStore, portalRoutes } from "./wiring/portal.ts";
import { guarded, makeServices } from "./wiring/services.ts";

export type { ShareMetrics } from "./wiring/http.ts";

/** `staging` is given in staging only. */
type GatewayOptions = NodeContextOptions & {
  readonly staging?: StagingParts | undefined;
  /** Where several processes share the port: how one of them reads the figures of all. */
  readonly shareMetrics?: ShareMetrics | undefined;
  /** The installation with the rights of the login that started the node, for the portal. */
  readonly opened?: Opened | undefined;
};

export type Gateway = Ports & {
  readonly url: string;
  readonly node: string;
  /** Runs what is due until nothing is due and no order is in flight. */
  settle(): Promise<void>;
  /** Looks once for due orders, without waiting for those that it starts. */
  claimDue(): Promise<number>;
  /** Shares what this node has seen of its gates, and judges them. */
  shareHealth(): Promise<void>;
  /** Deletes and destroys what is due to be, now. */
  cleanUp(): Promise<void>;
  /** The number of orders that a stop waits for. */
  countInFlight(): number;
  stop(): Promise<void>;
};

export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { staging, shareMetrics, opened } = options;
  // The certificate of the merchant port, where the node speaks TLS itself.
  const tls = await openMerchantTls(options.config, options.log);
  // Opens what every part uses: settings, log, clock, databases, vault, gates and configuration.
  const context = await openNodeContext(options);
  const { config, log, cells, node, hold, gates, configuration, baseUrl } = context;
  // Finds the issuer of a card.
  const issuers = await makeIssuers(context, staging?.ranges);
  // Judges payments by lists, countries and rules.
  const screening = await makeScreening(context, staging?.networks);
  // Exchanges card ranges and results with directory servers.
  const directoryServers = await connectDirectoryServers(context);
  const { directories, resultsUrl } = directoryServers;
  // Decrypts the payment data of wallets.
  const wallets = await makeWallets(context);
  // Authenticates cardholders.
  const threeds = makeThreeDs(context, { directories, resultsUrl });
  // Notifies merchants.
  const callbacks = makeCallbacks(context);
  // Fills the tables that the portal searches.
  const indexQueue = makeIndex(context);
  // Accepts orders, runs their effects and claims those that are due.
  const engine = makeEngine(context, {
    ...screening,
    threeds,
    findIssuer: issuers.find,
    openWallet: wallets.open,
    onStep: [callbacks.start, indexQueue.onStep],
  });
  // Reads and writes for the portal.
  const portalStore = openPortalStore(context, engine);
  // Connects to the acquirers.
  openGates(context, engine.lateApprovals);
  gates.update(configuration.current().gates.values());
  // Answers merchants, cardholders and the portal's users.
  const { refused, ports, streamReport } = openEdges();
  watchFigures(context, { engine, directories, screening, ports, tls });
  await open();
  // Claims due work, and deletes what has expired.
  const jobs = startBackgroundJobs(context, {
    tls,
    engine,
    callbacks,
    indexQueue,
    portalStore,
    refused,
    streamReport,
    reload,
  });
  node.follow(() => void reload());
  const { claimDue } = engine.claims;
  const own = { url: baseUrl(), ...context.ports(), node: node.name };
  const countInFlight = () => engine.runner.count;
  const { exchange: shareHealth } = context.health;
  return { ...own, claimDue, settle, shareHealth, countInFlight, stop, cleanUp: jobs.cleanUp };

  /** Builds what listens: the merchant interface, pages, the portal, documentation, health. */
  function openEdges() {
    const clients = readClients(partsOf(config.trustedProxies), config.proxyHeader);
    const { addressOf } = clients;
    const services = makeServices(context, { engine, threeds, wallets, callbacks });
    const refused = keepRefusedRequests(context);
    const checkReadiness = judgeReadiness(context, engine);
    const findMissing = async () => (await checkReadiness()).missing;
    const ports = openPorts(context, {
      tls,
      clients,
      health: watchHealth(context, checkReadiness, shareMetrics),
      portal: portalRoutes(context, {
        indexQueue,
        store: portalStore,
        requests: refused.store,
        services,
        findMissing,
        opened,
        staging,
        clients,
      }),
      merchants: [
        ...merchantInterface(context, { services, refused, addressOf }),
        ...pageRoutes(context, {
          services,
          engine,
          wallets,
          walletSheet: staging?.walletSheet,
          addressOf,
        }),
        ...serveDocumentation(context, staging),
        ...stagingRoutes(context, staging, { callbacks, findMissing }),
      ],
    });
    return { ports, refused, streamReport: services.streamReport };
  }

  async function settle(): Promise<void> {
    do {
      await engine.idle();
      await callbacks.idle();
    } while ((await engine.claims.claimDue()) + (await callbacks.claimDue()) > 0);
    await context.health.exchange();
    await callbacks.deleteOld();
    await indexQueue.flush();
    await refused.flush();
    await jobs.sendReports();
  }

  /** First no new work, then the orders in flight, then the links that they need. */
  async function stop(): Promise<void> {
    const stopped = jobs.stop();
    engine.waits.end();
    await ports.close();
    // While the database is unreachable, claims and commits wait for it: the node stops without
    // them.
    const done = stopped.then(engine.idle).then(jobs.indexRest);
    await Promise.race([done, delay(config.drainMs, undefined, { ref: false })]);
    await close();
    for (const { reference } of engine.lateApprovals.stop()) {
      log("acquirer.late_approval_lost", { reference });
    }
  }

  /** A node that cannot claim the orders of its last run listens no longer. */
  async function open(): Promise<void> {
    try {
      await directoryServers.start(
        guarded(hold.refusing(threeds.makeReceiveResult(engine.reports))),
      );
      context.listensAt(await ports.listen());
      if (hold.current() === undefined) await engine.claims.claimOwn();
    } catch (error) {
      await ports.close();
      await close();
      throw error;
    }
  }

  /** Each part reads one answer after the other, so that an older one never replaces a newer. */
  async function reload(): Promise<void> {
    // Keys first: a rotation may have sealed the other secrets under a new key.
    const secrets = context.keys
      .reload()
      .catch((error) => log("vault.keys_reload_failed", { err: error }))
      .then(() => hold.look())
      .catch((error) => log("configuration.reload_failed", { err: error }))
      .then(() => Promise.all([configuration.reload(), wallets.reload()]))
      .catch((error) => log("configuration.reload_failed", { err: error }));
    const others = [issuers.reload(), screening.reload(), directoryServers.reload()];
    await Promise.all([secrets, ...others]);
  }

  async function close(): Promise<void> {
    const orderIds = { stop: engine.closeOrderIds };
    for (const part of [callbacks, wallets, directoryServers, gates, orderIds, node]) {
      await part.stop();
    }
    await cells.close();
  }
}
