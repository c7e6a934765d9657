/** Starts a node's background jobs, which claim due work and delete data that has expired. */
import { askForDueKeys } from "../acquirers/gates.ts";
import { type Callbacks, sendingOptionsOf } from "../callbacks/callbacks.ts";
import { makeDailyReports } from "../callbacks/daily-reports.ts";
import { makeSenders } from "../callbacks/send.ts";
import { makeKeepRules, makeRetention } from "../engine/retention.ts";
import type { ServerTls } from "../http/tls.ts";
import { beginSignatures } from "../merchant-api/control.ts";
import type { RefusedRequests } from "../merchant-api/refused-requests.ts";
import type { EventName } from "../observability/events.ts";
import { makeReportFailures } from "../observability/log.ts";
import { makeObserveDestroyed } from "../observability/observe.ts";
import type { TransactionReport } from "../report/report.ts";
import { makeDailyReportStore } from "../storage/callbacks/daily-reports.ts";
import { makeDueKeys } from "../storage/cards/delivered-keys.ts";
import { makeRetentionStore } from "../storage/cards/retention.ts";
import { makePendingKeys } from "../storage/cards/vault-keys.ts";
import { signAndPublish } from "../storage/people/audit.ts";
import type { IndexQueue } from "../storage/portal/index-queue.ts";
import type { PortalStore } from "../storage/portal/portal-store.ts";
import { makeKeepPartitions } from "../storage/schema/partitions.ts";
import { makeDeleteTallies } from "../storage/screening/tallies.ts";
import { watchSkew } from "../storage/server/database-clock.ts";
import { every, hours } from "../values/time.ts";
import { makeReplacePendingKey } from "../vault/rotate-keys.ts";
import type { Engine } from "./engine.ts";
import type { NodeContext } from "./node-context.ts";

const deleteEveryMs = 10_000;
const partitionsEveryMs = hours(1);
const [askEveryMs, cleanEveryMs] = [60_000, 60_000];
const signEveryMs = 10_000;
const shareEveryMs = 1_000;
const reportsEveryMs = 30_000;

type Parts = {
  readonly engine: Engine;
  readonly callbacks: Callbacks;
  readonly indexQueue: IndexQueue;
  readonly portalStore: Pick<PortalStore, "deleteExpired">;
  readonly refused: RefusedRequests;
  readonly streamReport: TransactionReport["stream"];
  readonly tls: ServerTls | undefined;
  /** Loads the configuration again, because the notification of a change may have been lost. */
  readonly reload: () => Promise<void>;
};

export function startBackgroundJobs(context: NodeContext, parts: Parts) {
  const { config, clock, log, cells, database, gates, health, hold } = context;
  const { engine, callbacks, indexQueue, refused, tls } = parts;
  const start = (everyMs: number, task: () => Promise<unknown>, failed: EventName) =>
    every(everyMs, task, makeReportFailures(log, failed));
  /** Starts a task that does nothing while the installation is on hold. */
  const startWork = (everyMs: number, task: () => Promise<unknown>, failed: EventName) =>
    start(everyMs, hold.unless(task, undefined), failed);
  const destroyExpired = async () => {
    engine.forgetEnded();
    await context.digests.destroyExpired();
    await context.pendingCards.destroyExpired(clock.now());
    await context.hostedFields.removeExpired(clock.now());
  };
  const cleanPendingCards = makeCleanPendingCards(context);
  const destroyCards = makeDestroyCards(context);
  const tallies = cells.stores(({ node }) => makeDeleteTallies(node.query));
  const deleteOldTallies = () => tallies.each((deletePage) => deletePage(clock.now()));
  const measureClock = watchSkew(clock, config.clockSkewAlertMs, (skewMs) =>
    log("node.clock_skewed", { skewMs }),
  );
  const keepPartitions = makeKeepPartitions(cells, config, (made, dropped) =>
    log("storage.partitions_changed", { made, dropped }),
  );
  const keepAllPartitions = () => keepPartitions(clock.now());
  const signAudit = () => signAndPublish(database, context.signer, context.publishHead);
  const dueKeys = makeDueKeys(database.query, clock);
  const askForKeys = () =>
    askForDueKeys(gates, dueKeys, (gate, cause) =>
      log("acquirer.mac_key_unasked", { gate, cause }),
    );
  const deleteExpired = () => parts.portalStore.deleteExpired(clock.now());
  const writeIndex = indexQueue.whenWaiting(hold.unless(indexQueue.write, undefined));
  const flushIndex = hold.unless(indexQueue.flush, undefined);
  const reports = makeReports(context, parts);
  const stops = [
    start(config.claimEveryMs, engine.claims.claimDue, "order.claim_failed"),
    start(config.claimEveryMs, callbacks.claimDue, "callback.claim_failed"),
    start(Math.max(shareEveryMs, config.claimEveryMs), health.exchange, "acquirer.health_unshared"),
    start(config.reloadEveryMs, parts.reload, "configuration.reload_failed"),
    start(config.clockEveryMs, measureClock, "node.clock_unmeasured"),
    start(deleteEveryMs, destroyExpired, "vault.pending_cards_delete_failed"),
    startWork(cleanEveryMs, cleanPendingCards, "vault.pending_cards_clean_failed"),
    startWork(deleteEveryMs, destroyCards, "vault.removed_cards_destroy_failed"),
    startWork(deleteEveryMs, callbacks.deleteOld, "callback.delete_failed"),
    startWork(deleteEveryMs, deleteOldTallies, "screening.delete_failed"),
    start(indexQueue.writeEveryMs, writeIndex, "portal.index_failed"),
    startWork(config.portalIndexEveryMs, indexQueue.catchUp, "portal.index_failed"),
    startWork(deleteEveryMs, deleteExpired, "portal.delete_failed"),
    startWork(config.portalIndexEveryMs, refused.run, "portal.requests_unkept"),
    startWork(partitionsEveryMs, keepAllPartitions, "storage.partitions_failed"),
    startWork(askEveryMs, askForKeys, "acquirer.mac_key_unasked"),
    startWork(Math.max(reportsEveryMs, config.claimEveryMs), reports.run, "report.day_failed"),
    start(signEveryMs, signAudit, "audit.sign_failed"),
    ...(tls ? [start(config.tlsReloadEveryMs, tls.reload, "http.certificate_unusable")] : []),
  ];
  return {
    stop(): Promise<unknown> {
      reports.stop();
      return Promise.all(stops.map((stop) => stop()));
    },
    /** Sends merchants their daily reports that are due now. */
    sendReports: hold.unless(reports.run, undefined),
    /** Adds orders that the portal's index lacks. If this fails, a background job does so later. */
    indexRest: () => flushIndex().catch(() => undefined),
    /** `destroyCards` runs twice: each run destroys the cards that the previous run condemned. */
    async cleanUp(): Promise<void> {
      await keepAllPartitions();
      await destroyExpired();
      await cleanPendingCards();
      await destroyCards();
      await destroyCards();
      await deleteOldTallies();
      await indexQueue.flush();
      await indexQueue.catchUp();
      await refused.run();
    },
  };
}

/** Makes the job that sends merchants their daily transaction reports. */
function makeReports(context: NodeContext, { callbacks, streamReport }: Parts) {
  const { config, clock, log, database, configuration } = context;
  const { findAddressFault } = callbacks;
  return makeDailyReports({
    store: makeDailyReportStore(database.query),
    clock,
    zone: config.zone,
    timeoutMs: config.callbackTimeoutMs,
    retry: { gapsMs: config.callbackRetryGapsMs, random: Math.random },
    merchants: () => configuration.current().merchants,
    endpointsOf: ({ id }) =>
      [...configuration.current().endpoints.values()].filter(({ merchant }) => merchant.id === id),
    findAddressFault,
    senders: makeSenders(sendingOptionsOf(config)),
    stream: streamReport,
    beginSignatures,
    log,
  });
}

/** Replaces the key of pending card data daily and vacuums its table. */
function makeCleanPendingCards(context: NodeContext): () => Promise<void> {
  const { config, log, keys, cells, database, vaultDatabase } = context;
  const pendingKeys = makePendingKeys(vaultDatabase, database, cells);
  const replaceKey = makeReplacePendingKey({
    ...pendingKeys,
    keys,
    graceMs: config.keyGraceMs,
    onReplaced: (replaced) => log("vault.pending_key_replaced", replaced),
  });
  return async () => {
    await replaceKey();
    await pendingKeys.vacuum();
  };
}

function makeDestroyCards(context: NodeContext): () => Promise<unknown> {
  const { config, clock, log, metrics, cells, audit, configuration } = context;
  const observe = makeObserveDestroyed(log, metrics);
  const stores = cells.stores((databases) =>
    makeRetention({
      ...makeKeepRules(config, () => configuration.current().merchants),
      clock,
      store: makeRetentionStore(databases),
      removedKeepMs: config.removedCardKeepMs,
      async audit(counts) {
        await audit.write({ action: "cards destroy", subject: "cards", after: counts });
        observe(counts);
      },
    }),
  );
  return () => stores.each((destroy) => destroy());
}
