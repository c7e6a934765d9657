/** The background jobs of a node: claiming due work, and deleting what has expired. */
import type { Config } from "../config/config.ts";
import { every } from "../engine/claim.ts";
import type { Log } from "../observability/log.ts";
import type { Clock } from "../values/time.ts";
import type { PendingCards } from "../vault/pending-cards.ts";
import type { Callbacks } from "./callbacks.ts";
import type { Engine } from "./engine.ts";

/** How often expired pending card data is destroyed. */
const destroyEveryMs = 10_000;
/** How often old callbacks are deleted, and in how many statements at most: a thousand a second. */
const deleteEveryMs = 10_000;
const deletionsMax = 20;

type Workers = {
  readonly engine: Engine;
  readonly pendingCards: PendingCards;
  readonly callbacks: Callbacks;
};

export function startBackgroundJobs(
  { engine, pendingCards, callbacks }: Workers,
  { config, clock, log }: { config: Config; clock: Clock; log: Log },
): () => Promise<unknown> {
  const stops = [
    every(config.claimEveryMs, engine.claims.claimDue, (error) =>
      log("order.claim_failed", { err: error }),
    ),
    every(config.claimEveryMs, callbacks.claimDue, (error) =>
      log("callback.claim_failed", { err: error }),
    ),
    every(
      destroyEveryMs,
      () => pendingCards.destroyExpired(clock.now()),
      (error) => log("vault.pending_cards_delete_failed", { err: error }),
    ),
    every(
      deleteEveryMs,
      () => deleteSome(callbacks),
      (error) => log("callback.delete_failed", { err: error }),
    ),
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
