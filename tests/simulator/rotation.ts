/**
 * An operator who rotates the vault's keys while orders run, as `gw key rotate` does: with its
 * lock, in a separate process, which may end in the middle. The next rotation continues it.
 */
import {
  makeKeyStore,
  makeRotationStore,
  takeRotationLock,
} from "../../gateway/storage/cards/vault-keys.ts";
import { openKeys } from "../../gateway/vault/keys.ts";
import { rotateKeys } from "../../gateway/vault/rotate-keys.ts";
import { readSettings } from "./configuration.ts";
import type { VaultKeyRecord } from "./database-model.ts";
import type { DatabaseServer } from "./database-server.ts";
import { masterKey } from "./node.ts";
import type { Story } from "./story.ts";
import { SimulatedProcess, type VirtualTime } from "./virtual-time.ts";

type World = {
  readonly time: VirtualTime;
  readonly server: DatabaseServer;
  readonly story: Story;
};

const { keyGraceMs, repeatDays } = readSettings();
const againMs = 10_000;

export function makeRotation({ time, server, story }: World) {
  return { begin, finish, isUnderWay };

  /** Begins a rotation whose process ends after this time, at any point. */
  function begin(forMs: number): void {
    const process = new SimulatedProcess("rotation");
    time.after(0, process, () => {
      rotate(process).catch((error) => story.tell(`the rotation fails: ${error.message}`));
    });
    time.after(forMs, time.world, () => {
      process.isAlive = false;
      server.endSessionsOf(process);
    });
  }

  /** Continues until no rotation is incomplete. */
  function finish(): void {
    if (isUnderWay()) begin(2 * keyGraceMs);
    time.after(2 * keyGraceMs + againMs, time.world, finish);
  }

  /**
   * Whether a rotation is incomplete. Keys for digests are kept for as long as repeats are
   * recognised.
   */
  function isUnderWay(): boolean {
    const isLeft = ({ purpose, sealed, retiredAt }: VaultKeyRecord) =>
      purpose !== "digests" && sealed !== null && retiredAt !== null;
    return server.tables.vaultKeys.values().some(isLeft);
  }

  async function rotate(process: SimulatedProcess): Promise<void> {
    const database = server.connect();
    const lock = await takeRotationLock(database);
    if (lock === undefined) return story.tell("a rotation is under way already");
    try {
      const { destroyed, kept } = await rotateKeys({
        keys: await openKeys(masterKey, makeKeyStore(database.query)),
        store: makeRotationStore(database, [database]),
        graceMs: keyGraceMs,
        keepDigestsMs: repeatDays * 86_400_000,
        pause: (durationMs) =>
          new Promise((resolve) => void time.after(durationMs, process, resolve)),
        report: (progress) => story.tell(`rotation: ${progress}`),
      });
      story.tell(`rotation: destroyed ${destroyed.join(", ")}, kept ${kept.join(", ") || "none"}`);
    } finally {
      await lock.release();
    }
  }
}
