/**
 * The vault's keys. Each purpose has a key of its own, made at random, kept in the database sealed
 * by the key-encryption key, and open only in the memory of this process, as key objects: those
 * cannot be printed by mistake, and are prepared once instead of for every card. After a rotation
 * they are read again, and what was destroyed meanwhile is forgotten here too.
 */
import { createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import { keyBytes, open, seal } from "./seal.ts";

export const purposes = ["cards", "fingerprints", "digests", "secrets", "held"] as const;
export type Purpose = (typeof purposes)[number];

/** One that is destroyed is no longer in the list. */
export type SealedKey = {
  readonly id: number;
  readonly purpose: string;
  readonly sealed: Buffer;
  readonly retired: boolean;
};

export type KeyStore = {
  list(): Promise<readonly SealedKey[]>;
  /** Does nothing when the purpose has a key already. */
  add(purpose: string, sealed: Buffer): Promise<void>;
};

export type OpenKey = { readonly id: number; readonly key: KeyObject };

export type Keys = {
  /** The key that new things are sealed with. */
  current(purpose: Purpose): OpenKey;
  /** The key with which an older thing was sealed; nothing when it is not known here. */
  find(id: number): KeyObject | undefined;
  /** All of a purpose, the newest first. */
  list(purpose: Purpose): readonly OpenKey[];
  /** Learns the keys that were made elsewhere, and forgets those that were destroyed. */
  reload(): Promise<void>;
};

export class WrongMasterKey extends Error {}

/** Makes the keys that are missing, then opens them all. */
export async function openKeys(masterKey: Uint8Array, store: KeyStore): Promise<Keys> {
  await addMissing(masterKey, store);
  let opened = await openAll(masterKey, store, []);
  let current = currentOf(opened);
  let reloading = Promise.resolve();
  const reload = async () => {
    opened = await openAll(masterKey, store, opened);
    current = currentOf(opened);
  };
  return {
    current(purpose) {
      const key = current.get(purpose);
      if (key === undefined) throw new Error(`no key for ${purpose}`);
      return key;
    },
    find: (id) => opened.find((key) => key.id === id)?.key,
    list: (purpose) => opened.filter((key) => key.purpose === purpose).toReversed(),
    // One after the other: an answer that comes late must not undo a newer one.
    reload: () => (reloading = reloading.then(reload, reload)),
  };
}

export function sealKey(masterKey: Uint8Array, key: Uint8Array, purpose: string): Buffer {
  return seal(masterKey, key, purpose);
}

/** Sealed by another key-encryption key; the key itself stays. */
export function rewrapKey(
  { purpose, sealed }: Pick<SealedKey, "purpose" | "sealed">,
  masterKeys: { readonly from: Uint8Array; readonly to: Uint8Array },
): Buffer {
  const key = open(masterKeys.from, sealed, purpose);
  try {
    return sealKey(masterKeys.to, key, purpose);
  } finally {
    key.fill(0);
  }
}

export function makeSealedKey(masterKey: Uint8Array, purpose: Purpose): Buffer {
  return sealKey(masterKey, randomBytes(keyBytes), purpose);
}

type Opened = OpenKey & { readonly purpose: string; readonly retired: boolean };

async function addMissing(masterKey: Uint8Array, store: KeyStore): Promise<void> {
  const kept = await store.list();
  const missing = purposes.filter(
    (purpose) => !kept.some((key) => key.purpose === purpose && !key.retired),
  );
  // A wrong key-encryption key must not leave a key behind that the right one cannot open.
  if (kept[0] !== undefined && missing.length > 0) openKey(masterKey, kept[0]);
  for (const purpose of missing) await store.add(purpose, makeSealedKey(masterKey, purpose));
}

/**
 * A key that is open stays so: the key-encryption key may have been changed in the database while
 * this process still has the one before.
 */
async function openAll(
  masterKey: Uint8Array,
  store: KeyStore,
  known: readonly Opened[],
): Promise<readonly Opened[]> {
  const byId = new Map(known.map((key) => [key.id, key.key]));
  return (await store.list()).map((sealed) => {
    const { id, purpose, retired } = sealed;
    return { id, purpose, retired, key: byId.get(id) ?? openKey(masterKey, sealed) };
  });
}

function openKey(masterKey: Uint8Array, { sealed, purpose }: SealedKey): KeyObject {
  try {
    return createSecretKey(open(masterKey, sealed, purpose));
  } catch {
    throw new WrongMasterKey("the key-encryption key does not open the keys in the database");
  }
}

function currentOf(opened: readonly Opened[]): ReadonlyMap<string, Opened> {
  return new Map(opened.filter(({ retired }) => !retired).map((key) => [key.purpose, key]));
}
