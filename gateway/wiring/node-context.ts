/**
 * Opens what all parts of a node use: settings, databases, clock, log, metrics, vault, gates,
 * configuration, and the node's unique name.
 */
import { hostname } from "node:os";
import { makeGates } from "../acquirers/gates.ts";
import { makeGateHealth } from "../acquirers/health.ts";
import { abilitiesOf } from "../acquirers/iso8583-host/connector.ts";
import { baseUrlOf, type Config, nodeNamesOf } from "../config/config.ts";
import type { Ports } from "../http/ports.ts";
import { makeIsBusy } from "../http/rounds.ts";
import { makePublishHead } from "../observability/audit-heads.ts";
import type { Log } from "../observability/log.ts";
import { makeMetrics } from "../observability/metrics.ts";
import { openHold } from "../storage/backup/installation-hold.ts";
import { makeCvvKeyStore, makeKeyStore } from "../storage/cards/vault-keys.ts";
import { type CellDatabases, type CellLocation, makeCells } from "../storage/cells/cells.ts";
import {
  routeFindSealedCard,
  routeHostedFields,
  routePendingCards,
} from "../storage/cells/routed-stores.ts";
import { openConfiguration } from "../storage/configuration/configuration.ts";
import { makeHealthStore } from "../storage/configuration/gate-health.ts";
import { type Actor, makeAudit, openSigner } from "../storage/people/audit.ts";
import { openDatabaseClock, readDatabaseTime } from "../storage/server/database-clock.ts";
import { takePresence } from "../storage/server/presence.ts";
import { type Clock, type Instant, systemClock } from "../values/time.ts";
import { openKeys } from "../vault/keys.ts";
import { makeRequestDigests } from "../vault/request-digests.ts";
import { makePendingCards, makeVault } from "../vault/vault.ts";

export type NodeContextOptions = {
  readonly config: Config;
  /** The databases of the main cell, which also has the tables of the whole installation. */
  readonly databases: CellDatabases;
  readonly openCell: (place: CellLocation) => CellDatabases;
  readonly masterKey: Uint8Array;
  readonly log: Log;
  /** If absent, the machine's clock is used and corrected by the database's time. */
  readonly clock?: Clock;
  /** Reads the time that all nodes share. If absent, the main database's time is used. */
  readonly readTime?: () => Promise<Instant>;
};

export type NodeContext = Awaited<ReturnType<typeof openNodeContext>>;

/** How often a node tests the database connection that reserves its name. */
const presenceCheckMs = 2_000;

/**
 * While the installation is on hold (decision 0050), the node answers status requests, refuses all
 * others with 503, connects to no acquirer and claims no orders.
 */
export async function openNodeContext(options: NodeContextOptions) {
  const stores = await openStores(options);
  const { config, log, clock, cells, database, vault, auditAs } = stores;
  const node = await takePresence(database, {
    names: nodeNamesOf(config),
    waitMs: config.nodeNameWaitMs,
    checkMs: presenceCheckMs,
    onLost: (error) => log("node.presence_lost", { error: error.message }),
    onRenamed: (renamed) => log("node.renamed", renamed),
  });
  const audit = auditAs({ who: `node ${node.name}`, from: hostname() });
  const hold = await openHold({
    database,
    audit,
    onUnknown: (cause) => log("node.server_unknown", { cause }),
    onChange: (held) => (held ? log("node.on_hold", { why: held.why }) : log("node.released", {})),
  });
  const gates = makeGates(clock, () => hold.current() === undefined);
  const configuration = await openConfiguration({
    snapshot: database.snapshot,
    openSecret: vault.openSecret,
    abilitiesOf,
    onChange: (changed) => gates.update(changed.gates.values()),
    onError: (error) => log("configuration.reload_failed", { err: error }),
  });
  cells.follow(configuration);
  const health = makeGateHealth({
    clock,
    node,
    store: makeHealthStore(database.query),
    gates: () => configuration.current().gates.values(),
    onChange: (change) => log("acquirer.health_changed", change),
  });
  let ports: Ports = { ...config, portalPort: config.port };
  return {
    ...stores,
    node,
    audit,
    hold,
    gates,
    health,
    configuration,
    ports: () => ports,
    listensAt(opened: Ports): void {
      ports = opened;
    },
    /** The public address of the merchant interface. */
    baseUrl: () => baseUrlOf(config, ports.port),
  };
}

async function openStores(options: NodeContextOptions) {
  const { config, databases, masterKey, log } = options;
  const clock = await openDatabaseClock({
    clock: options.clock ?? systemClock,
    readTime: options.readTime ?? (() => readDatabaseTime(databases.node.query)),
    onJump: (jumpMs) => log("node.clock_jumped", { jumpMs }),
  });
  const keys = await openKeys(masterKey, makeKeyStore(databases.vault.query));
  const cells = makeCells({
    main: databases,
    open: options.openCell,
    waitMs: config.acceptRetryMs,
    onFailed: (cell, error) => log("cell.failed", { cell, err: error }),
  });
  const retries = { retryMs: config.acceptRetryMs };
  const vault = makeVault(keys, routeFindSealedCard(cells, retries));
  const signer = await openSigner(databases.node.query, vault);
  const metrics = makeMetrics();
  const publishHead = makePublishHead(config, (place, cause) => {
    metrics.headsLost.inc();
    log("audit.head_unpublished", { place, cause });
  });
  const auditAs = (actor: Actor) =>
    makeAudit(databases.node, { actor, signer, publish: publishHead });
  return {
    config,
    log,
    clock,
    keys,
    cells,
    metrics,
    masterKey,
    isBusy: makeIsBusy(),
    database: databases.node,
    vaultDatabase: databases.vault,
    vault,
    signer,
    publishHead,
    auditAs,
    pendingCards: makePendingCards(
      keys,
      routePendingCards(cells, { ...retries, confirmKeys: keys.confirm }),
    ),
    hostedFields: routeHostedFields(cells),
    digests: makeRequestDigests({ keys, clock, store: makeCvvKeyStore(databases.vault.query) }),
  };
}
