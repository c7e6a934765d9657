/** The background jobs of a node: claiming due work, and deleting what has expired. */
import { makeDestroyRemovedCards } from "../engine/cards.ts";
import { every } from "../engine/claim.ts";
import type { EventName } from "../observability/events.ts";
import { makeDestroyCards, makeReferenceStore } from "../storage/cards.ts";
import { dropPartitions, makePartitions, type PartitionedTable } from "../storage/partitions.ts";
import { hours, type Instant, later, monthStart } from "../values/time.ts";
import type { Callbacks } from "./callbacks.ts";
import type { Engine } from "./engine.ts";
import type { Resources } from "./resources.ts";

/** How often expired pending card data and old callbacks are deleted. */
const deleteEveryMs = 10_000;
const partitionsEveryMs = hours(1);
/** In how many statements at most: a thousand callbacks a second. */
const deletionsMax = 20;

type Workers = Resources & { readonly engine: Engine; readonly callbacks: Callbacks };

export function startBackgroundJobs(workers: Workers): () => Promise<unknown> {
  const { config, clock, log, engine, pendingCards, digests, callbacks } = workers;
  const start = (everyMs: number, task: () => Promise<unknown>, failed: EventName) =>
    every(everyMs, task, (error) => log(failed, { err: error }));
  const destroyRemovedCards = makeDestroyRemovedCards({
    store: makeReferenceStore(workers.database.query),
    destroyCards: makeDestroyCards(workers.vaultDatabase.query),
    clock,
    keepMs: config.removedCardKeepMs,
  });
  const destroyRemoved = async () => {
    const count = await destroyRemovedCards();
    if (count > 0) log("vault.removed_cards_destroyed", { count });
  };
  const destroyExpired = async () => {
    await digests.destroyExpired();
    await pendingCards.destroyExpired(clock.now());
  };
  const stops = [
    start(config.claimEveryMs, engine.claims.claimDue, "order.claim_failed"),
    start(config.claimEveryMs, callbacks.claimDue, "callback.claim_failed"),
    start(deleteEveryMs, destroyExpired, "vault.pending_cards_delete_failed"),
    start(deleteEveryMs, destroyRemoved, "vault.removed_cards_destroy_failed"),
    start(deleteEveryMs, () => deleteSome(callbacks), "callback.delete_failed"),
    start(partitionsEveryMs, () => keepPartitions(workers), "storage.partitions_failed"),
  ];
  return () => Promise.all(stops.map((stop) => stop()));
}

/** Makes the partitions of the next months, and drops those that are older than what is kept. */
export async function keepPartitions(
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
