/** The background jobs of a node: claiming due work, and deleting what has expired. */
import { every } from "../engine/claim.ts";
import type { EventName } from "../observability/events.ts";
import type { Callbacks } from "./callbacks.ts";
import type { Engine } from "./engine.ts";
import type { Resources } from "./resources.ts";

/** How often expired pending card data and old callbacks are deleted. */
const deleteEveryMs = 10_000;
/** In how many statements at most: a thousand callbacks a second. */
const deletionsMax = 20;

type Workers = Resources & { readonly engine: Engine; readonly callbacks: Callbacks };

export function startBackgroundJobs(workers: Workers): () => Promise<unknown> {
  const { config, clock, log, engine, pendingCards, callbacks } = workers;
  const start = (everyMs: number, task: () => Promise<unknown>, failed: EventName) =>
    every(everyMs, task, (error) => log(failed, { err: error }));
  const destroyExpired = () => pendingCards.destroyExpired(clock.now());
  const stops = [
    start(config.claimEveryMs, engine.claims.claimDue, "order.claim_failed"),
    start(config.claimEveryMs, callbacks.claimDue, "callback.claim_failed"),
    start(deleteEveryMs, destroyExpired, "vault.pending_cards_delete_failed"),
    start(deleteEveryMs, () => deleteSome(callbacks), "callback.delete_failed"),
  ];
  return () => Promise.all(stops.map((stop) => stop()));
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
