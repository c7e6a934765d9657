/**
 * Rotation of the vault's keys while payments go on. It can be interrupted at any step: the next
 * run finds in the tables where to go on. Cards, secrets and the keys of pending card data are
 * sealed again, and the old keys are destroyed. A key of digests is kept for repeats of old
 * requests. The fingerprint key is replaced by itself, because cards get other hash ids. Files that
 * were encrypted to the old key of transfers are refused. The keys of receivers' secrets, receipts,
 * links and counts stay: merchants would have to exchange every secret, printed links would end,
 * and counts would start again.
 */
import type { CardId, MerchantId } from "../values/ids.ts";
import { type Keys, type NewKey, type OpenKey, open, type Purpose, seal } from "./keys.ts";
import {
  cardContext,
  openWithAny,
  type PendingCardRow,
  pendingKeyContext,
  type SealedCard,
} from "./vault.ts";

type SealedSecret = {
  readonly id: string;
  readonly context: string;
  readonly sealed: Uint8Array;
};

export type RotationStore = {
  /** Retires the purposes' current keys and adds the next ones, all together. */
  replace(next: readonly NewKey[]): Promise<void>;
  readonly cells: readonly CellRotation[];
  listSecrets(): Promise<readonly SealedSecret[]>;
  /** Writes the secret if it has not changed since it was read. */
  resealSecret(secret: SealedSecret, sealed: Uint8Array): Promise<void>;
  /** Returns how long it takes until the last of these keys has been retired for `graceMs`. */
  graceLeftMs(keyIds: readonly number[], graceMs: number): Promise<number>;
  /** Returns keys for digests that were retired so long ago that no repeat is expected. */
  listOldDigestKeys(keepMs: number): Promise<readonly number[]>;
  /** A key that seals a card of any cell is not destroyed. */
  destroy(keyId: number): Promise<"destroyed" | "in_use">;
};

/** The tables of one cell that name keys. */
type CellRotation = {
  countCards(keyIds: readonly number[]): Promise<number>;
  listCards(
    keyId: number,
    after: { readonly merchantId: MerchantId; readonly cardId: CardId } | undefined,
    limit: number,
  ): Promise<readonly SealedCard[]>;
  /** Writes the cards that are still under `from`, and returns their number. */
  resealCards(from: number, cards: readonly SealedCard[]): Promise<number>;
  listPending(keyId: number): Promise<readonly PendingKey[]>;
  resealPending(from: number, keys: readonly PendingKey[]): Promise<void>;
};

type PendingKey = Pick<PendingCardRow, "context" | "sealedKey" | "keyId">;

type Rotation = {
  readonly keys: Keys;
  /** If absent, all purposes whose keys are replaced together. */
  readonly purposes?: readonly Purpose[];
  readonly store: RotationStore;
  /** Makes new keys even if an earlier rotation has kept keys whose cards cannot be opened. */
  readonly anew?: boolean;
  /** The time for which a node may not have been notified of the new key. */
  readonly graceMs: number;
  /** The time after a rotation for which repeats of earlier requests are recognised. */
  readonly keepDigestsMs: number;
  /** Waits until the nodes have been notified. Without it, the next run continues after that. */
  readonly pause?: (durationMs: number) => Promise<void>;
  readonly report: (progress: string) => void;
};

const destroyedAtOnce: readonly Purpose[] = ["cards", "secrets", "held", "transfers"];
const rotated: readonly Purpose[] = [...destroyedAtOnce, "digests"];
const pageSize = 500;
const reportEveryMs = 1000;

/** Retired keys are `kept` if a card or a secret under them cannot be opened. */
export async function rotateKeys(rotation: Rotation) {
  const { keys, store, report, graceMs, purposes = rotated } = rotation;
  await keys.reload();
  const own = destroyedAtOnce.filter((purpose) => purposes.includes(purpose));
  const retiredKeys = () => own.flatMap((purpose) => retiredOf(keys, purpose));
  // The key of pending card data is also replaced by itself, every day.
  const isBegun = own.some((purpose) => {
    return (purpose !== "held" || own.length === 1) && retiredOf(keys, purpose).length > 0;
  });
  if (!isBegun || rotation.anew === true) await makeNext(rotation);
  else report("Going on with the rotation that was begun");

  const retired = retiredKeys().map(({ id }) => id);
  let cards = await resealAll(rotation);
  const graceLeftMs = await store.graceLeftMs(retired, graceMs);
  if (graceLeftMs > 0 && rotation.pause === undefined) return { cards, destroyed: [], kept: [] };
  if (graceLeftMs > 0 && rotation.pause !== undefined) {
    report(`Waiting ${Math.ceil(graceLeftMs / 1000)} s for nodes that may still use the old keys`);
    await rotation.pause(graceLeftMs);
  }

  const destroyed: number[] = [];
  for (const id of retired) {
    let found: number;
    do {
      found = await resealAll(rotation);
      cards += found;
      // If a standby that took over lacks the next keys, this one is in use again.
      if (!retiredKeys().some((key) => key.id === id)) break;
      if (purposes.includes("secrets") && (await isSealing(rotation, id))) break;
      if ((await store.destroy(id)) === "destroyed") destroyed.push(id);
    } while (!destroyed.includes(id) && found > 0);
  }
  const kept = retired.filter((id) => !destroyed.includes(id));
  if (!purposes.includes("digests")) return { cards, destroyed, kept };
  for (const id of await store.listOldDigestKeys(rotation.keepDigestsMs)) {
    if ((await store.destroy(id)) === "destroyed") destroyed.push(id);
  }
  return { cards, destroyed, kept };
}

async function makeNext({ keys, store, report, purposes = rotated }: Rotation): Promise<void> {
  await store.replace(purposes.map(keys.sealNew));
  await keys.reload();
  const made = purposes.map((purpose) => `${keys.current(purpose).id} (${purpose})`);
  report(`Made the keys ${made.join(", ")}; nodes seal with them from now on`);
}

export function retiredOf(keys: Keys, purpose: Purpose): readonly OpenKey[] {
  const { id: current } = keys.current(purpose);
  return keys.list(purpose).filter(({ id }) => id !== current);
}

/** A standby that took over may lack the new keys, and only keys that the database has may seal. */
async function resealAll(rotation: Rotation): Promise<number> {
  const { keys, store, purposes = rotated } = rotation;
  await keys.reload();
  if (purposes.includes("secrets")) await resealSecrets(rotation);
  let cards = 0;
  for (const cell of store.cells) {
    if (purposes.includes("cards")) cards += await resealCell(rotation, cell);
    await resealPending(rotation, cell);
  }
  return cards;
}

async function resealPending({ keys }: Rotation, cell: CellRotation): Promise<void> {
  const to = keys.current("held");
  for (const from of retiredOf(keys, "held")) {
    const pending = await cell.listPending(from.id);
    const anew = pending.flatMap((row) => {
      const sealedKey = sealAgain(row.sealedKey, { from, to }, pendingKeyContext(row.context));
      return sealedKey === undefined ? [] : [{ ...row, keyId: to.id, sealedKey }];
    });
    await cell.resealPending(from.id, anew);
  }
}

async function resealCell({ keys, report }: Rotation, store: CellRotation): Promise<number> {
  const current = keys.current("cards");
  const retired = retiredOf(keys, "cards");
  const total = await store.countCards(retired.map(({ id }) => id));
  if (total === 0) return 0;

  const startedAt = performance.now();
  let [done, reportedAt] = [0, startedAt];
  for (const from of retired) {
    let page = await store.listCards(from.id, undefined, pageSize);
    // The key is confirmed for each page: a standby that takes over may lack the key.
    while (page.length > 0 && (await keys.confirm([current.id]))) {
      done += await store.resealCards(from.id, resealPage(from, current, page));
      if (performance.now() - reportedAt >= reportEveryMs) reportProgress();
      page = await store.listCards(from.id, page.at(-1), pageSize);
    }
  }
  reportProgress();
  return done;

  function reportProgress(): void {
    reportedAt = performance.now();
    const rate = Math.round((done * 1000) / Math.max(1, reportedAt - startedAt));
    report(`Sealed anew: ${done} of ${Math.max(done, total)} cards, ${rate} per second`);
  }
}

/** A card that cannot be opened stays as it is, and its key is kept. */
function resealPage(
  from: OpenKey,
  to: OpenKey,
  page: readonly SealedCard[],
): readonly SealedCard[] {
  return page.flatMap((card) => {
    const context = cardContext(card.merchantId, card.cardId);
    const sealed = sealAgain(card.sealed, { from, to }, context);
    return sealed === undefined ? [] : [{ ...card, keyId: to.id, sealed }];
  });
}

function sealAgain(
  sealed: Uint8Array,
  { from, to }: { readonly from: OpenKey; readonly to: OpenKey },
  context: string,
): Buffer | undefined {
  try {
    const plain = open(from.key, sealed, context);
    const anew = seal(to.key, plain, context);
    plain.fill(0);
    return anew;
  } catch {
    return undefined;
  }
}

async function resealSecrets({ keys, store }: Rotation): Promise<void> {
  const current = keys.current("secrets");
  for (const secret of await store.listSecrets()) {
    const { keyId, plain } = openWithAny(keys.list("secrets"), secret.sealed, secret.context);
    if (keyId === current.id) continue;
    await store.resealSecret(secret, seal(current.key, plain, secret.context));
    plain.fill(0);
  }
}

/** Whether the key seals a secret. For cards, `destroy` checks it. */
async function isSealing({ keys, store }: Rotation, id: number): Promise<boolean> {
  const secrets = await store.listSecrets();
  return secrets.some(
    ({ sealed, context }) => openWithAny(keys.list("secrets"), sealed, context).keyId === id,
  );
}

type ReplacePendingKeyOptions = {
  readonly keys: Keys;
  readonly isDue: () => Promise<boolean>;
  readonly takeLock: () => Promise<{ release(): Promise<void> } | undefined>;
  readonly openStore: () => RotationStore;
  /** The time for which another node may still encrypt with the old key. */
  readonly graceMs: number;
  readonly onReplaced: (replaced: {
    readonly key: number;
    readonly destroyed: readonly number[];
  }) => void;
};

/**
 * Replaces the key of pending card data every day, on one node, so that bytes that remain on the
 * disk or in a snapshot can be opened for a day at most. A run ends without waiting, and the next
 * one destroys the old key.
 */
export function makeReplacePendingKey(options: ReplacePendingKeyOptions): () => Promise<void> {
  const { keys, isDue, takeLock, openStore, graceMs, onReplaced } = options;
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
