/**
 * The vault's keys, and sealing and HMAC with them. Each purpose has its own random key, stored
 * sealed by the key-encryption key and opened in memory only, as a key object, which is never
 * printed by mistake. After a rotation the keys are read again, and destroyed ones are removed from
 * memory.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hash,
  type KeyObject,
  randomBytes,
  randomFillSync,
} from "node:crypto";
import { asCardId, asCardRefId, type CardId, type CardRefId } from "../values/ids.ts";

/**
 * `held` seals the keys of pending card data and of digests of CVVs. The secrets of merchants'
 * receivers are derived from `webhooks`. `screening` is for counted values, `receipts` and `links`
 * for the ids of receipts and the tokens of payment links. `transfers` decrypts the files of cards
 * that other gateways encrypt to this installation.
 */
const purposes = [
  ...(["cards", "fingerprints", "digests", "secrets", "held", "webhooks"] as const),
  ...(["screening", "receipts", "links", "transfers"] as const),
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
  /** Leaves out destroyed keys. The newest key of each purpose is the last. */
  list(): Promise<readonly SealedKey[]>;
  /** Does nothing if the purpose already has a key. */
  add(key: NewKey): Promise<void>;
};

export type OpenKey = { readonly id: number; readonly key: KeyObject };

export type Keys = Awaited<ReturnType<typeof openKeys>>;

export class WrongMasterKey extends Error {}

export async function openKeys(masterKey: Uint8Array, store: KeyStore) {
  let opened: readonly (OpenKey & Pick<SealedKey, "purpose" | "retired">)[] = [];
  let current: ReadonlyMap<string, OpenKey> = new Map();
  let reloading = Promise.resolve();
  await load();

  return {
    current(purpose: Purpose): OpenKey {
      const key = current.get(purpose);
      if (key === undefined) throw new Error(`no key for ${purpose}`);
      return key;
    },
    /** Returns the key that sealed an older value; undefined if this process does not have it. */
    find: (id: number) => opened.find((key) => key.id === id)?.key,
    list: (purpose: Purpose): readonly OpenKey[] =>
      opened.filter((key) => key.purpose === purpose).toReversed(),
    /**
     * Opens keys that another process has made, and removes destroyed ones. Calls run one after the
     * other, so that an older result never replaces a newer one. A failure rejects, because a
     * rotation must not continue with the previous keys.
     */
    reload,
    sealNew: (purpose: Purpose) => newKey(masterKey, purpose),
    /** Returns false if another key-encryption key has sealed the keys since this process began. */
    async isSealedByOwn(): Promise<boolean> {
      const [first] = await store.list();
      try {
        return first === undefined || openKey(masterKey, first) !== undefined;
      } catch {
        return false;
      }
    },
    /** Returns whether the database has the keys: a standby that took over may lack the newest. */
    async confirm(ids: readonly number[]): Promise<boolean> {
      await reload();
      return ids.every((id) => opened.some((key) => key.id === id));
    },
  };

  function reload(): Promise<void> {
    reloading = reloading.then(load, load);
    return reloading;
  }

  /** An open key stays open, even if the next key-encryption key has sealed its row already. */
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

/** A standby that took over may lack even the first keys, which are made then. */
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
 * The id is a check value of the key. A standby that took over without the first key could give a
 * number from a sequence to another key, while processes still have the first in memory. The id 0
 * marks a deleted digest.
 */
export function newKey(masterKey: Uint8Array, purpose: Purpose): NewKey {
  const key = randomBytes(keyBytes);
  const check = createHmac("sha256", key).update(`id/${purpose}`).digest().readUInt32BE();
  return { id: check >>> 1 || 1, purpose, sealed: seal(masterKey, key, purpose) };
}

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

const algorithm = "aes-256-gcm";
const nonceBytes = 12;
const tagBytes = 16;
const cipherOptions = { authTagLength: tagBytes };
export const keyBytes = 32;
/** The size of the keys of receipts and links: one block of AES-128 each. */
export const blockKeyBytes = 16;

type SealingKey = KeyObject | Uint8Array;

/**
 * AES-256-GCM: nonce, tag and ciphertext in one buffer. The context (a card's owner, a key's
 * purpose) is authenticated, so that a sealed value that was moved elsewhere does not open there.
 */
export function seal(key: SealingKey, plain: Uint8Array | string, context: string): Buffer {
  const nonce = takeRandom(nonceBytes);
  const cipher = createCipheriv(algorithm, key, nonce, cipherOptions);
  cipher.setAAD(Buffer.from(context));
  const sealed = typeof plain === "string" ? cipher.update(plain, "utf8") : cipher.update(plain);
  // In this mode the call adds no bytes and only makes the tag.
  cipher.final();
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
}

/** Throws if the key or the context differs, or a bit has changed. */
export function open(key: SealingKey, sealed: Uint8Array, context: string): Buffer {
  const nonce = sealed.subarray(0, nonceBytes);
  const tag = sealed.subarray(nonceBytes, nonceBytes + tagBytes);
  const decipher = createDecipheriv(algorithm, key, nonce, cipherOptions);
  decipher.setAAD(Buffer.from(context));
  decipher.setAuthTag(tag);
  const body = sealed.subarray(nonceBytes + tagBytes);
  return Buffer.concat([decipher.update(body), decipher.final()]);
}

const pool = Buffer.allocUnsafeSlow(8192);
let next = pool.length;

/** A system call for twelve random bytes costs as much as one for thousands, so a pool has them. */
function takeRandom(count: number): Buffer {
  if (next + count > pool.length) {
    randomFillSync(pool);
    next = 0;
  }
  const taken = Buffer.from(pool.subarray(next, next + count));
  pool.fill(0, next, next + count);
  next += count;
  return taken;
}

const cardRefIdMin = 10n ** 18n;

/** Sixty-two random bits above a minimum: always nineteen digits, which cannot be guessed. */
export function newCardRefId(): CardRefId {
  return asCardRefId(randomId());
}

/** The id of a card from the payment page. Other cards have their order's id, which is shorter. */
export function newCardId(): CardId {
  return asCardId(randomId());
}

function randomId(): string {
  return String(cardRefIdMin + (takeRandom(8).readBigUInt64BE() >> 2n));
}

const blockBytes = 64;
const digestBytes = 32;

type Pads = {
  readonly inner: Buffer;
  readonly outer: Buffer;
};

/** The pads of each key, which are removed together with it. */
const prepared = new WeakMap<KeyObject, Pads>();

const nothing = new Uint8Array();

const scratch = Buffer.alloc(8192);
/** A character takes at most three bytes in UTF-8. */
const lengthMax = Math.floor((scratch.length - blockBytes) / 3);

/**
 * HMAC-SHA-256 of `before` and the text, as two one-shot hashes with pads that are prepared once
 * for each key (RFC 2104). It takes 40 % of the time of `createHmac`, mostly because it allocates
 * less memory outside of the heap: 4 % of a sale's processor time, as a sale needs three.
 */
export function hmac(key: KeyObject, text: string, before: Uint8Array = nothing): Buffer {
  if (before.length + text.length > lengthMax) {
    return createHmac("sha256", key).update(before).update(text).digest();
  }
  const { inner, outer } = padsOf(key);
  scratch.set(inner);
  scratch.set(before, blockBytes);
  const textAt = blockBytes + before.length;
  const end = textAt + scratch.write(text, textAt);
  outer.write(hash("sha256", scratch.subarray(0, end), "latin1"), blockBytes, "latin1");
  // The text is erased, because requests contain card numbers.
  scratch.fill(0, 0, end);
  return Buffer.from(hash("sha256", outer, "latin1"), "latin1");
}

/** A destroyed key must not stay in memory until it is collected. */
export function erasePads(key: KeyObject): void {
  const pads = prepared.get(key);
  pads?.inner.fill(0);
  pads?.outer.fill(0);
  prepared.delete(key);
}

/** The vault's keys are shorter than a block. A longer key would have to be hashed before. */
function padsOf(key: KeyObject): Pads {
  const known = prepared.get(key);
  if (known !== undefined) return known;
  const secret = key.export();
  const pads = {
    inner: Buffer.alloc(blockBytes, 0x36),
    outer: Buffer.alloc(blockBytes + digestBytes, 0x5c),
  };
  for (const [index, byte] of secret.entries()) {
    pads.inner.writeUInt8(byte ^ 0x36, index);
    pads.outer.writeUInt8(byte ^ 0x5c, index);
  }
  secret.fill(0);
  prepared.set(key, pads);
  return pads;
}
