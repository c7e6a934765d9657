/**
 * The vault's keys. Each purpose has a random key of its own, stored sealed by the key-encryption
 * key and open only in memory, as key objects: those are not printed by mistake, and are prepared
 * once instead of for every card. After a rotation they are read again, and destroyed ones leave
 * the memory too.
 */
import { createHmac, createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import { keyBytes, open, seal } from "./seal.ts";

/**
 * `held` seals the keys of pending card data and of digests of CVVs. From `webhooks` the secrets of
 * merchants' receivers are derived. `screening` is for what payments are counted by, `receipts` and
 * `links` for the ids of receipts and the tokens of payment links.
 */
export const purposes = [
  ...(["cards", "fingerprints", "digests", "secrets", "held", "webhooks"] as const),
  ...(["screening", "receipts", "links"] as const),
] as const;
export type Purpose = (typeof purposes)[number];

export type SealedKey = {
  readonly id: number;
  readonly purpose: string;
  readonly sealed: Buffer;
  readonly retired: boolean;
};

export type NewKey = Omit<SealedKey, "retired">;

export type KeyStore = {
  /** Without destroyed keys; of each purpose the newest is the last. */
  list(): Promise<readonly SealedKey[]>;
  /** Does nothing when the purpose has a key already. */
  add(key: NewKey): Promise<void>;
};

export type OpenKey = { readonly id: number; readonly key: KeyObject };

export type Keys = Awaited<ReturnType<typeof openKeys>>;

export class WrongMasterKey extends Error {}

/** Opens all keys. */
export async function openKeys(masterKey: Uint8Array, store: KeyStore) {
  let opened: readonly (OpenKey & Pick<SealedKey, "purpose" | "retired">)[] = [];
  let current: ReadonlyMap<string, OpenKey> = new Map();
  let reloading = Promise.resolve();
  await load();

  return {
    /** The key that seals new values. */
    current(purpose: Purpose): OpenKey {
      const key = current.get(purpose);
      if (key === undefined) throw new Error(`no key for ${purpose}`);
      return key;
    },
    /** The key that sealed an older value; absent when this process does not have it. */
    find: (id: number) => opened.find((key) => key.id === id)?.key,
    /** All of a purpose, the newest first. */
    list: (purpose: Purpose): readonly OpenKey[] =>
      opened.filter((key) => key.purpose === purpose).toReversed(),
    /**
     * Opens keys that were made elsewhere, and drops those that were destroyed. One after the
     * other, so that an older answer never replaces a newer one. Unlike other reloads it rejects:
     * a rotation must not go on with the previous keys.
     */
    reload,
    /** The next key of a purpose, for the database. */
    sealNew: (purpose: Purpose) => newKey(masterKey, purpose),
    /** False when the keys were sealed by another key-encryption key since this process started. */
    async isSealedByOwn(): Promise<boolean> {
      const [first] = await store.list();
      try {
        return first === undefined || openKey(masterKey, first) !== undefined;
      } catch {
        return false;
      }
    },
    /** Whether the database has these keys: a standby that took over may lack the newest. */
    async confirm(ids: readonly number[]): Promise<boolean> {
      await reload();
      return ids.every((id) => opened.some((key) => key.id === id));
    },
  };

  function reload(): Promise<void> {
    reloading = reloading.then(load, load);
    return reloading;
  }

  /** An open key stays open: its row may be sealed by the next key-encryption key already. */
  async function load(): Promise<void> {
    const known = new Map(opened.map((key) => [key.id, key.key]));
    opened = (await listComplete(masterKey, store)).map((sealed) => {
      const { id, purpose, retired } = sealed;
      return { id, purpose, retired, key: known.get(id) ?? openKey(masterKey, sealed) };
    });
    const inUse = opened.filter(({ retired }) => !retired);
    current = new Map(inUse.map((key) => [key.purpose, key]));
  }
}

/**
 * Lists the keys, and makes those that are missing first: at the first start, and when a standby
 * that took over lacks even the first keys.
 */
async function listComplete(masterKey: Uint8Array, store: KeyStore): Promise<readonly SealedKey[]> {
  const kept = await store.list();
  const missing = purposes.filter(
    (purpose) => !kept.some((key) => key.purpose === purpose && !key.retired),
  );
  if (missing.length === 0) return kept;
  // A wrong key-encryption key must not add a key that the right one cannot open.
  if (kept[0] !== undefined) openKey(masterKey, kept[0]);
  for (const purpose of missing) await store.add(newKey(masterKey, purpose));
  return store.list();
}

function openKey(masterKey: Uint8Array, { sealed, purpose }: SealedKey): KeyObject {
  try {
    return createSecretKey(open(masterKey, sealed, purpose));
  } catch {
    throw new WrongMasterKey("the key-encryption key does not open the keys in the database");
  }
}

/**
 * The id is a check value of the key. A number from a sequence would be given to another key after
 * a standby has taken over that lacks the first one, which processes still have in memory. No key
 * has the id 0, which marks a deleted digest.
 */
export function newKey(masterKey: Uint8Array, purpose: Purpose): NewKey {
  const key = randomBytes(keyBytes);
  const check = createHmac("sha256", key).update(`id/${purpose}`).digest().readUInt32BE();
  return { id: check >>> 1 || 1, purpose, sealed: seal(masterKey, key, purpose) };
}

/** The same key, sealed by another key-encryption key. */
export function rewrapKey(
  { purpose, sealed }: Pick<SealedKey, "purpose" | "sealed">,
  masterKeys: { readonly from: Uint8Array; readonly to: Uint8Array },
): Buffer {
  const key = open(masterKeys.from, sealed, purpose);
  try {
    return seal(masterKeys.to, key, purpose);
  } finally {
    key.fill(0);
  }
}
