/** The background jobs of a node: claiming due work, and deleting what has expired. */
import type { Gates } from "../acquirers/gates.ts";
import { every } from "../engine/claim.ts";
import { makeRetention } from "../engine/retention.ts";
import type { ServerTls } from "../http/tls.ts";
import type { EventName } from "../observability/events.ts";
import { makeReportFailures } from "../observability/log.ts";
import type { LiveHold } from "../storage/backup/installation-hold.ts";
import { claimDueExchanges, postponeExchange } from "../storage/cards/delivered-keys.ts";
import { makeRetentionStore } from "../storage/cards/retention.ts";
import type { LiveConfiguration } from "../storage/configuration/configuration.ts";
import { type Audit, signNewest } from "../storage/people/audit.ts";
import {
  dropPartitions,
  makePartitions,
  type PartitionedTable,
} from "../storage/schema/partitions.ts";
import { makeDeleteTallies } from "../storage/screening/tallies.ts";
import type { NodeName } from "../storage/server/presence.ts";
import type { MerchantId } from "../values/ids.ts";
import { hours, type Instant, later, monthStart } from "../values/time.ts";
import type { Callbacks } from "./callbacks.ts";
import type { Engine } from "./engine.ts";
import type { OrderIndexJob } from "./order-index.ts";
import { makeCleanPendingCards } from "./pending-keys.ts";
import { makeDeleteExpired } from "./portal.ts";
import type { RefusedJob } from "./refused-requests.ts";
import type { Resources } from "./resources.ts";

/** How often expired pending card data, orders in memory and old callbacks are deleted. */
const deleteEveryMs = 10_000;
const partitionsEveryMs = hours(1);
const [askEveryMs, cleanEveryMs] = [60_000, 60_000];
const signEveryMs = 10_000;
/** In how many statements at most: a thousand callbacks a second. */
const deletionsMax = 20;

type Workers = Resources & {
  readonly engine: Engine;
  readonly callbacks: Callbacks;
  readonly orderIndex: OrderIndexJob;
  readonly refused: RefusedJob;
  readonly configuration: LiveConfiguration;
  readonly node: NodeName;
  /** Reads again what the operator may have changed: a notice of it may have been lost. */
  readonly reload: () => Promise<void>;
  readonly gates: Gates;
  readonly audit: Audit;
  readonly tls: ServerTls | undefined;
  readonly hold: LiveHold;
};

export function startBackgroundJobs(workers: Workers) {
  const { config, clock, log, engine, pendingCards, digests, callbacks, tls, hold } = workers;
  const { orderIndex } = workers;
  const start = (everyMs: number, task: () => Promise<unknown>, failed: EventName) =>
    every(everyMs, task, makeReportFailures(log, failed));
  /** Not while the installation is on hold. */
  const startWork = (everyMs: number, task: () => Promise<unknown>, failed: EventName) =>
    start(everyMs, hold.unless(task, undefined), failed);
  const flushUnlessHeld = hold.unless(orderIndex.flush, undefined);
  const writeUnlessHeld = hold.unless(orderIndex.write, undefined);
  /** Several times a second: without an order to write it does not even look for a hold. */
  const writeIndex = async () => (orderIndex.hasWaiting() ? writeUnlessHeld() : undefined);
  const destroyCards = makeCardRetention(workers);
  const tallies = workers.cells.stores(({ node }) => makeDeleteTallies(node.query));
  const deleteOldTallies = () => tallies.each((deletePage) => deletePage(clock.now()));
  const destroyExpired = async () => {
    engine.forgetEnded();
    await digests.destroyExpired();
    await pendingCards.destroyExpired(clock.now());
  };
  const cleanPendingCards = makeCleanPendingCards(workers);
  const nodes = workers.cells.stores(({ node }) => node);
  const keepAllPartitions = () =>
    nodes.each((database) => keepPartitions({ ...workers, database }));
  const stops = [
    start(config.claimEveryMs, engine.claims.claimDue, "order.claim_failed"),
    start(config.claimEveryMs, callbacks.claimDue, "callback.claim_failed"),
    start(config.reloadEveryMs, workers.reload, "configuration.reload_failed"),
    start(config.clockEveryMs, makeMeasureClock(workers), "node.clock_unmeasured"),
    start(deleteEveryMs, destroyExpired, "vault.pending_cards_delete_failed"),
    startWork(cleanEveryMs, cleanPendingCards, "vault.pending_cards_clean_failed"),
    startWork(deleteEveryMs, destroyCards, "vault.removed_cards_destroy_failed"),
    startWork(deleteEveryMs, () => deleteSome(callbacks), "callback.delete_failed"),
    startWork(deleteEveryMs, deleteOldTallies, "screening.delete_failed"),
    start(orderIndex.writeEveryMs, writeIndex, "portal.index_failed"),
    startWork(config.portalIndexEveryMs, orderIndex.catchUp, "portal.index_failed"),
    startWork(deleteEveryMs, makeDeleteExpired(workers), "portal.delete_failed"),
    startWork(config.portalIndexEveryMs, workers.refused.run, "portal.requests_unkept"),
    startWork(partitionsEveryMs, keepAllPartitions, "storage.partitions_failed"),
    startWork(askEveryMs, () => askForDueKeys(workers), "acquirer.mac_key_unasked"),
    start(signEveryMs, () => signAudit(workers), "audit.sign_failed"),
    ...(tls ? [start(config.tlsReloadEveryMs, tls.reload, "http.certificate_unusable")] : []),
  ];
  return {
    stop: () => Promise.all(stops.map((stop) => stop())),
    /** When it fails, the next sweep of a running node finds them in the history. */
    indexRest: () => flushUnlessHeld().catch(() => undefined),
    /** Deletes and destroys at once what is due to be: a condemned card by the second run. */
    async cleanUp(): Promise<void> {
      await keepAllPartitions();
      await destroyExpired();
      await cleanPendingCards();
      await destroyCards();
      await destroyCards();
      await deleteOldTallies();
      await orderIndex.flush();
      await orderIndex.catchUp();
      await workers.refused.run();
    },
  };
}

/** Makes the partitions of the next months, and drops those that are older than what is kept. */
async function keepPartitions(
  resources: Pick<Resources, "config" | "clock" | "database" | "log">,
): Promise<void> {
  const { config, clock, database, log } = resources;
  const { historyKeepMonths: months, callbackKeepDays: days } = config;
  const now = clock.now();
  const made = await makePartitions(database, now);
  const dropped: string[] = [];
  const drop = async (table: PartitionedTable, before: Instant) =>
    dropped.push(...(await dropPartitions(database, table, before)));
  if (months > 0) await drop("order_history", monthStart(now, -months));
  if (months > 0) await drop("requests", monthStart(now, -months));
  if (days > 0) await drop("callback_attempts", later(now, -days * hours(24)));
  if (made.length + dropped.length > 0) log("storage.partitions_changed", { made, dropped });
}

/** The head after entries of commands that have no key. */
async function signAudit({ database, signer, publishHead }: Workers): Promise<void> {
  const head = await signNewest(database, signer);
  if (head !== undefined) await publishHead(head);
}

/** Destroys card numbers that are no longer needed, with a line in the log and in the audit. */
function makeCardRetention(
  workers: Omit<
    Workers,
    "engine" | "callbacks" | "orderIndex" | "refused" | "reload" | "tls" | "hold"
  >,
): () => Promise<unknown> {
  const { config, clock, log, metrics, cells, configuration } = workers;
  const keepDaysOf = (id: MerchantId) => {
    const { cardKeepDays, unpaidCardKeepDays } =
      configuration.current().merchants.find((merchant) => merchant.id === id)?.settings ?? {};
    return {
      paid: cardKeepDays ?? config.cardKeepDays,
      unpaid: unpaidCardKeepDays ?? config.unpaidCardKeepDays,
    };
  };
  const shared = {
    clock,
    keepDaysOf,
    removedKeepMs: config.removedCardKeepMs,
    listDays() {
      const days = configuration.current().merchants.map(({ id }) => keepDaysOf(id));
      return [...new Set(days.flatMap(({ paid, unpaid }) => [paid, unpaid]))];
    },
    rules() {
      const own = configuration.current().merchants.flatMap(({ id, settings }) => {
        const { cardKeepDays: paid, unpaidCardKeepDays: unpaid } = settings;
        return paid === undefined && unpaid === undefined ? [] : `${id} ${paid} ${unpaid}`;
      });
      return [config.cardKeepDays, config.unpaidCardKeepDays, ...own.sort()].join("\n");
    },
    async audit(counts: Readonly<Record<string, number>>) {
      await workers.audit.write({ action: "cards destroy", subject: "cards", after: counts });
      log("vault.cards_destroyed", counts);
      if (counts.removed) log("vault.removed_cards_destroyed", { count: counts.removed });
      for (const [why, count] of Object.entries(counts)) metrics.destroyed.inc({ why }, count);
    },
  };
  const stores = cells.stores((databases) =>
    makeRetention({ ...shared, store: makeRetentionStore(databases) }),
  );
  return () => stores.each((retain) => retain());
}

/** A skewed clock is reported once, and again when it was right in between. */
function makeMeasureClock({ config, clock, log }: Resources): () => Promise<void> {
  let isSkewed = false;
  report();
  return async () => {
    await clock.measure();
    report();
  };

  function report(): void {
    const skewMs = clock.skewMs();
    const isSkewedNow = Math.abs(skewMs) > config.clockSkewAlertMs;
    if (isSkewedNow && !isSkewed) log("node.clock_skewed", { skewMs });
    isSkewed = isSkewedNow;
  }
}

/** Asks the hosts whose next key for message authentication is due. */
async function askForDueKeys(
  workers: Pick<Workers, "database" | "clock" | "log" | "gates">,
): Promise<void> {
  const { database, clock, log, gates } = workers;
  for (const id of await claimDueExchanges(database.query, clock.now())) {
    const asked = await gates.find(id)?.askForKey();
    if (asked === "delivered" || asked === "asked") continue;
    log("acquirer.mac_key_unasked", { gate: id, cause: asked?.sentence ?? "it is not running" });
    await postponeExchange(database.query, id, clock.now());
  }
}

/** In bounded portions, because a stopping node waits for the end of a portion. */
export async function deleteSome(callbacks: Pick<Callbacks, "deleteOld">): Promise<void> {
  for (let count = 0; count < deletionsMax; count += 1) {
    if ((await callbacks.deleteOld()) === 0) return;
  }
}

/** Resolves when no order is in flight and every late approval is committed. */
export async function idleOf({ lateApprovals, runner }: Engine): Promise<void> {
  await lateApprovals.idle();
  while (runner.count > 0) {
    await runner.idle();
    await lateApprovals.idle();
  }
}
