/** What a node does again and again. Part of what `main.ts` wires. */

import type { Config } from "../config/config.ts";
import { every } from "../engine/every.ts";
import type { Log } from "../observability/log.ts";
import type { Clock } from "../values/time.ts";
import type { PendingCards } from "../vault/pending-cards.ts";
import type { Callbacks } from "./callbacks.ts";
import type { Engine } from "./engine.ts";

/** How often held cards whose time is over are destroyed. */
const destroyEveryMs = 10_000;
/** How often old callbacks are deleted, and in how many statements at most: a thousand a second. */
const deleteEveryMs = 10_000;
const deletionsMax = 20;

type Workers = {
  readonly engine: Engine;
  readonly held: PendingCards;
  readonly callbacks: Callbacks;
};

/** Looks for work that is due, and destroys what was kept for long enough. */
export function startBackgroundJobs(
  { engine, held, callbacks }: Workers,
  { config, clock, log }: { config: Config; clock: Clock; log: Log },
): () => Promise<unknown> {
  const stops = [
    every(config.claimEveryMs, engine.work.claimDue, (error) =>
      log("order.claim_failed", { err: error }),
    ),
    every(config.claimEveryMs, callbacks.claimDue, (error) =>
      log("callback.claim_failed", { err: error }),
    ),
    every(
      destroyEveryMs,
      () => held.destroyExpired(clock.now()),
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

/** Until nothing is left, or enough was done for now: a node that stops waits for it. */
export async function deleteSome(callbacks: Pick<Callbacks, "deleteOld">): Promise<void> {
  for (let count = 0; count < deletionsMax; count += 1) {
    if ((await callbacks.deleteOld()) === 0) return;
  }
}

/** Nothing is in hand, and nothing that a bank has told is still to be written. */
export async function idleOf({ late, runner }: Engine): Promise<void> {
  await late.idle();
  while (runner.count > 0) {
    await runner.idle();
    await late.idle();
  }
}
