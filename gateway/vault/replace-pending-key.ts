/**
 * Replaces the key of pending card data every day, so that bytes which the disk or a snapshot still
 * has open for a day at the most. One of several nodes does it.
 */
import type { Keys } from "./keys.ts";
import { type RotationStore, rotateKeys } from "./rotate-keys.ts";

type Dependencies = {
  readonly keys: Keys;
  /** Whether the key is a day old. */
  readonly isDue: () => Promise<boolean>;
  /** Returns undefined while another node replaces it. */
  readonly takeLock: () => Promise<{ release(): Promise<void> } | undefined>;
  readonly openStore: () => RotationStore;
  /** For how long another node may still seal with the old key. */
  readonly graceMs: number;
  readonly onReplaced: (replaced: {
    readonly key: number;
    readonly destroyed: readonly number[];
  }) => void;
};

/** Ends without waiting: the next run destroys the old key. */
export function makeReplacePendingKey(dependencies: Dependencies): () => Promise<void> {
  const { keys, isDue, takeLock, openStore, graceMs, onReplaced } = dependencies;
  return async () => {
    await keys.reload();
    const isBegun = keys.list("held").length > 1;
    if (!isBegun && !(await isDue())) return;
    const lock = await takeLock();
    if (lock === undefined) return;
    try {
      if (!(await keys.isSealedByOwn())) return;
      const { destroyed } = await rotateKeys({
        keys,
        purposes: ["held"],
        graceMs,
        keepDigestsMs: 0,
        store: openStore(),
        report: () => undefined,
      });
      if (destroyed.length > 0) onReplaced({ key: keys.current("held").id, destroyed });
    } finally {
      await lock.release();
    }
  };
}
