/**
 * The gateway, wired together: from an open database to listening sockets. Nothing is started on
 * import, and nothing is shared between two gateways in one process.
 */
import type { AddressInfo } from "node:net";
import { makeGates, type StartAcquirer } from "./acquirers/gates.ts";
import { makeIso8583Acquirer } from "./acquirers/iso8583-host/connector.ts";
import { dialects } from "./acquirers/iso8583-host/dialects/dialects.ts";
import { systemClock } from "./clock.ts";
import { baseUrlOf, type Config } from "./config.ts";
import { isReadyOf } from "./doers.ts";
import { type EdgeNeeds, makeEdges } from "./edges.ts";
import { makeEngine } from "./engine.ts";
import { type Issuers, openIssuers } from "./issuers/live-issuers.ts";
import type { Log } from "./log/log.ts";
import { makeMetrics } from "./log/metrics.ts";
import { makeObserveOrders } from "./log/observe.ts";
import { findMissingGates } from "./orders/route.ts";
import { makeReferenceStore } from "./storage/card-references.ts";
import type { Database } from "./storage/database.ts";
import { makeCountInDoubt } from "./storage/find-orders.ts";
import { makeIssuerStore } from "./storage/issuer-ranges.ts";
import { openConfiguration } from "./storage/live-configuration.ts";
import { takePresence } from "./storage/presence.ts";
import { makeFindSealedCard, makeKeyStore } from "./storage/vault-tables.ts";
import type { Clock } from "./values/time.ts";
import { openKeys } from "./vault/keys.ts";
import { newReceiptId } from "./vault/receipt-ids.ts";
import { newCardRefId } from "./vault/reference-ids.ts";
import { makeVault, type Vault } from "./vault/vault.ts";
import { type Cards, makeCards } from "./work/cards.ts";
import { every } from "./work/every.ts";

export type GatewayOptions = {
  readonly config: Config;
  /** The vault reaches its tables by connections of its own. */
  readonly databases: { readonly node: Database; readonly vault: Database };
  readonly masterKey: Uint8Array;
  readonly log: Log;
  readonly clock?: Clock;
  readonly welcome?: EdgeNeeds["welcome"];
};

export type Gateway = {
  readonly url: string;
  readonly port: number;
  readonly node: string;
  /** Does what is due until nothing is due and nothing is in hand. */
  settle(): Promise<void>;
  /** One look at what is due, without waiting for what it starts. */
  claimDue(): Promise<number>;
  stop(): Promise<void>;
};

export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { config, log, clock = systemClock } = options;
  const { node: database, vault: vaultDatabase } = options.databases;
  const keys = await openKeys(options.masterKey, makeKeyStore(vaultDatabase.query));
  const vault = makeVault(keys, makeFindSealedCard(vaultDatabase.hot));
  const metrics = makeMetrics({
    inFlight: () => engine.carry.count,
    inDoubt: makeCountInDoubt(database.query),
  });

  const gates = makeGates(makeStartAcquirer());
  const configuration = await openConfiguration({
    query: database.query,
    openSecret: vault.openSecret,
    onChange: ({ gates: changed }) => gates.update(changed.values()),
    onError: (error) => log.error({ err: error }, "could not read the configuration again"),
  });
  const issuers = await openIssuerTable(database, options);
  const presence = await takePresence(database, {
    names: [config.nodeName, `${config.nodeName}-${process.pid}`],
    onConfiguration() {
      // Keys first: what they seal may have been sealed anew.
      void reloadKeys().then(configuration.reload);
      void issuers.reload();
    },
    onLost: (error) => log.warn({ error: error.message }, "lost the presence connection"),
    retryMs: 1000,
  });
  const engine = makeEngine({
    ...{ config, database, node: presence.node, clock, vault },
    getEndpoint: configuration.getEndpoint,
    findAcquirer: gates.find,
    findIssuer: issuers.find,
    newReceiptId,
    ...makeObserveOrders(log, metrics),
  });
  gates.update(configuration.current().gates.values());

  const cards = makeCardReferences(database, { config, vault, clock });
  const server = makeEdges({
    ...options,
    database,
    ...{ clock, engine, cards, metrics, configuration, findMissing },
  });
  await server.listen({ host: config.host, port: config.port }).catch(async (error) => {
    await leave();
    throw error;
  });
  await engine.work.claimOwn();
  const stopLooking = every(config.claimEveryMs, engine.work.claimDue, (error) =>
    log.warn({ err: error }, "could not look for due work"),
  );

  const { port } = server.server.address() as AddressInfo;
  return {
    url: baseUrlOf(config, port),
    port,
    node: presence.node,
    claimDue: engine.work.claimDue,
    async settle() {
      do await idle();
      while ((await engine.work.claimDue()) > 0);
    },
    /** First no new work, then what is in hand, then the links it needs. */
    async stop() {
      const looked = stopLooking();
      engine.waits.end();
      await server.close();
      // A database that is away holds a look and a step up for as long as it takes; we leave then.
      await Promise.race([looked.then(idle), delay(config.drainMs)]);
      await leave();
    },
  };

  /** Nothing is in hand, and nothing that a bank has told is still to be written. */
  async function idle(): Promise<void> {
    await engine.late.idle();
    while (engine.carry.count > 0) {
      await engine.carry.idle();
      await engine.late.idle();
    }
  }

  /** One that cannot be opened leaves the others as they are: the next notice tries again. */
  async function reloadKeys(): Promise<void> {
    await keys.reload().catch((error) => {
      log.error({ err: error }, "could not read the vault's keys again");
    });
  }

  async function leave(): Promise<void> {
    await gates.stop();
    await presence.stop();
  }

  function makeStartAcquirer(): StartAcquirer {
    return ({ name, kind, settings }) =>
      makeIso8583Acquirer({
        dialect: dialects[kind],
        settings,
        clock,
        answerTimeoutMs: config.answerTimeoutMs,
        limits: { echoAfterMs: config.echoAfterMs, drainMs: config.drainMs },
        log: (event, facts) => log.info({ gate: name, ...facts }, event),
        onLateApproval: (approval) => {
          const { reference } = approval;
          log.warn({ gate: name, reference }, "an approval came too late");
          engine.late.report(approval).catch((error) => {
            log.error({ err: error, reference }, "a late approval could not be recorded");
          });
        },
        observe: {
          answered: (mti, answerMs) => metrics.acquirerMs.observe({ gate: name, mti }, answerMs),
        },
      });
  }

  async function findMissing(): Promise<Record<string, string>> {
    const missing: Record<string, string> = {};
    await database.query("select 1").catch((error) => {
      missing["database"] = error.message;
    });
    const endpoints = configuration.current().endpoints.values();
    const isReady = isReadyOf({ findAcquirer: gates.find });
    for (const gate of findMissingGates(endpoints, isReady)) {
      missing[`gate ${gate}`] = "not signed on";
    }
    return missing;
  }
}

function openIssuerTable(database: Database, { config, log }: GatewayOptions): Promise<Issuers> {
  return openIssuers({
    store: makeIssuerStore(database),
    builtIn: config.environment === "staging",
    onError: (error) => log.error({ err: error }, "could not read the BIN table again"),
  });
}

function makeCardReferences(
  database: Database,
  { config, vault, clock }: { config: Config; vault: Vault; clock: Clock },
): Cards {
  return makeCards({
    store: makeReferenceStore(database.hot, { batchMax: 256, inFlightMax: 1 }),
    revealCard: vault.reveal,
    newReferenceId: newCardRefId,
    clock,
    graceMs: config.cardReferenceGraceMs,
  });
}

function delay(durationMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, durationMs).unref());
}
