/**
 * The vault's keys. Each purpose has a key of its own, made at random, kept in the database sealed
 * by the key-encryption key, and open only in the memory of this process, as key objects: those
 * cannot be printed by mistake, and are prepared once instead of for every card.
 */
import { createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import { keyBytes, open, seal } from "./seal.ts";
import type { KeyStore } from "./vault.ts";

export const purposes = ["cards", "fingerprints", "digests", "secrets"] as const;
export type Purpose = (typeof purposes)[number];

export type Keys = {
  /** The key that new things are sealed with. */
  current(purpose: Purpose): { readonly id: number; readonly key: KeyObject };
  /** The key with which an older thing was sealed. */
  get(id: number): KeyObject;
};

export class WrongMasterKey extends Error {}

/** Makes the keys that are missing, then opens them all. */
export async function openKeys(masterKey: Uint8Array, store: KeyStore): Promise<Keys> {
  const kept = await store.list();
  const missing = purposes.filter(
    (purpose) => !kept.some((key) => key.purpose === purpose && !key.retired),
  );
  for (const purpose of missing) {
    await store.add(purpose, seal(masterKey, randomBytes(keyBytes), purpose));
  }

  const opened = (await store.list()).map(({ id, purpose, sealed, retired }) => {
    try {
      return { id, purpose, retired, key: createSecretKey(open(masterKey, sealed, purpose)) };
    } catch {
      throw new WrongMasterKey("the key-encryption key does not open the keys in the database");
    }
  });
  const byId = new Map(opened.map((key) => [key.id, key.key]));
  const current = new Map(opened.filter(({ retired }) => !retired).map((k) => [k.purpose, k]));
  return {
    current(purpose) {
      const key = current.get(purpose);
      if (key === undefined) throw new Error(`no key for ${purpose}`);
      return key;
    },
    get(id) {
      const key = byId.get(id);
      if (key === undefined) throw new Error(`no key ${id}`);
      return key;
    },
  };
}
