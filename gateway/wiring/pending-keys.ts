/**
 * Leaves no residue of pending card data: the space of its deleted rows is freed every minute, and
 * its key is replaced every day, so that bytes which the disk or a snapshot still has open for a
 * day at the most. Of several nodes one does it.
 */
import { vacuumPendingCards } from "../storage/cards/cards.ts";
import {
  isPendingKeyDue,
  makeRotationStore,
  takeRotationLock,
} from "../storage/cards/vault-keys.ts";
import type { Database } from "../storage/server/database.ts";
import { rotateKeys } from "../vault/rotate-keys.ts";
import type { Resources } from "./resources.ts";

type Workers = Pick<Resources, "database" | "keys" | "log" | "vaultDatabase"> & {
  readonly clock: Pick<Resources["clock"], "now">;
  readonly cells: Pick<Resources["cells"], "databasesOf" | "names">;
  readonly config: Pick<Resources["config"], "keyGraceMs">;
};

export function makeCleanPendingCards(workers: Workers): () => Promise<void> {
  const { cells } = workers;
  return async () => {
    const vaults = cells.names().map((name) => cells.databasesOf(name).vault);
    await rotate(workers, vaults);
    for (const each of vaults) await vacuumPendingCards(each);
  };
}

/** Ends without waiting: the next run destroys the old key. */
async function rotate(workers: Workers, vaults: readonly Database[]): Promise<void> {
  const { config, database, keys, log, vaultDatabase } = workers;
  await keys.reload();
  const isBegun = keys.list("held").length > 1;
  if (!isBegun && !(await isPendingKeyDue(vaultDatabase.query, database.query))) return;
  const lock = await takeRotationLock(vaultDatabase);
  if (lock === undefined) return;
  try {
    if (!(await keys.isSealedByOwn())) return;
    const { destroyed } = await rotateKeys({
      keys,
      purposes: ["held"],
      graceMs: config.keyGraceMs,
      keepDigestsMs: 0,
      store: makeRotationStore(vaultDatabase, vaults),
      report: () => undefined,
    });
    const { id: key } = keys.current("held");
    if (destroyed.length > 0) log("vault.pending_key_replaced", { key, destroyed });
  } finally {
    await lock.release();
  }
}
