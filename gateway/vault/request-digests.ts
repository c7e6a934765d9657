/**
 * Distinguishes a repeated request from another one without storing either (decision 0041). The
 * digest of a request leaves out the CVV, which has a digest of its own, under a key that nodes
 * share for some minutes. Once that key is destroyed, a request that differs from an earlier one
 * only in the CVV counts as its repeat.
 */
import { createSecretKey, type KeyObject, randomBytes, timingSafeEqual } from "node:crypto";
import type { Secret } from "../values/secret.ts";
import { asInstant, type Clock, type Instant, later } from "../values/time.ts";
import { erasePads, hmac, type Keys, keyBytes, open, seal } from "./keys.ts";

/** The text has every field. Of the CVV, it only says whether it was sent. */
type Fingerprint = {
  readonly text: Secret<string>;
  readonly cvv: Secret<string> | undefined;
};

export type RequestDigest = {
  readonly keyId: number;
  readonly digest: Buffer;
  /** The key of the CVV's digest, and the digest; absent without a CVV. */
  readonly cvv: Buffer | undefined;
};

export type CvvKeyRow = {
  readonly slot: number;
  readonly keyId: number;
  readonly sealed: Uint8Array;
};

export type CvvKeyStore = {
  find(slot: number): Promise<CvvKeyRow | undefined>;
  /** Does nothing if another node has stored a key for the slot. */
  add(row: CvvKeyRow, expiresAt: Instant): Promise<void>;
  removeExpired(now: Instant): Promise<void>;
};

type Dependencies = {
  readonly keys: Keys;
  readonly store: CvvKeyStore;
  readonly clock: Pick<Clock, "now">;
};

export type RequestDigests = ReturnType<typeof makeRequestDigests>;

/** A key is used for four minutes and destroyed ten minutes later. */
const slotMs = 240_000;
const lifeMs = 840_000;
const retryEveryMs = 5_000;
const nameBytes = 4;
const macBytes = 16;
/**
 * A key is named by its slot and a check value: a database that lost the slot's key in a crash or a
 * failover gets another one, while a node may still have the first.
 */
const slotsNamed = 1_024;
const checksNamed = 2 ** 22;

type CvvKey = { readonly key: KeyObject; readonly name: number };

export function makeRequestDigests({ keys, store, clock }: Dependencies) {
  const opened = new Map<number, CvvKey>();
  const opening = new Map<number, Promise<CvvKey | undefined>>();
  let failedUntil = asInstant(0);
  return {
    async make({ text, cvv }: Fingerprint): Promise<RequestDigest> {
      const { id: keyId, key } = keys.current("digests");
      const digest = hmac(key, text.reveal());
      if (cvv === undefined) return { keyId, digest, cvv };
      const slot = Math.floor(clock.now() / slotMs);
      // If the key is missing, the payment continues and its CVV is not compared.
      const cvvKey = opened.get(slot) ?? (await findCurrent(slot));
      return { keyId, digest, cvv: cvvKey && digestCvv(cvvKey, digest, cvv.reveal()) };
    },

    async isSame(request: Fingerprint, earlier: RequestDigest): Promise<boolean> {
      const key = await findDigestKey(earlier.keyId);
      if (key === undefined) return false;
      const digest = hmac(key, request.text.reveal());
      if (!timingSafeEqual(digest, earlier.digest)) return false;
      // As the texts are equal, either both requests have a CVV or neither has.
      return earlier.cvv === undefined || isSameCvv(request, digest, earlier.cvv);
    },

    async destroyExpired(): Promise<void> {
      const now = clock.now();
      for (const [slot, { key }] of opened) {
        if (!isOver(slot, now)) continue;
        erasePads(key);
        opened.delete(slot);
      }
      await store.removeExpired(now);
    },
  };

  async function isSameCvv({ cvv }: Fingerprint, request: Buffer, earlier: Buffer) {
    const name = earlier.readUInt32BE();
    const slot = slotOf(name, clock.now());
    const isDestroyed = isOver(slot, clock.now());
    const known = isDestroyed ? undefined : (opened.get(slot) ?? (await openSlot(slot, false)));
    // The key of the digest is destroyed, although the slot may have another.
    if (known?.name !== name) return true;
    const mac = macOf(known.key, request, cvv?.reveal() ?? "");
    return timingSafeEqual(mac, earlier.subarray(nameBytes));
  }

  /** Without the key, payments continue. After a failed attempt, they do not wait for the next. */
  async function findCurrent(slot: number): Promise<CvvKey | undefined> {
    if (clock.now() < failedUntil) return undefined;
    return openSlot(slot, true).catch(() => {
      failedUntil = later(clock.now(), retryEveryMs);
      return undefined;
    });
  }

  /** After a failure or for a missing key, the next attempt looks again. */
  function openSlot(slot: number, makesOne: boolean): Promise<CvvKey | undefined> {
    const known = opening.get(slot);
    if (known !== undefined) return known;
    const loading = loadSlot(slot, makesOne).finally(() => opening.delete(slot));
    opening.set(slot, loading);
    return loading;
  }

  async function loadSlot(slot: number, makesOne: boolean): Promise<CvvKey | undefined> {
    let row = await store.find(slot);
    if (row === undefined && makesOne) {
      await store.add(newKey(slot), expiryOf(slot));
      row = await store.find(slot);
    }
    if (row === undefined) return undefined;
    const sealing = await findKey(row.keyId);
    if (sealing === undefined) return undefined;
    const key = createSecretKey(open(sealing, row.sealed, contextOf(slot)));
    const found = { key, name: nameOf(slot, key) };
    opened.set(slot, found);
    return found;
  }

  function newKey(slot: number): CvvKeyRow {
    const { id: keyId, key } = keys.current("held");
    return { slot, keyId, sealed: seal(key, randomBytes(keyBytes), contextOf(slot)) };
  }

  /** No key has the id zero, which means that the digest was deleted. */
  async function findDigestKey(id: number): Promise<KeyObject | undefined> {
    return id === 0 ? undefined : findKey(id);
  }

  /** An unknown key may come from a rotation of which this node was not notified yet. */
  async function findKey(id: number): Promise<KeyObject | undefined> {
    const known = keys.find(id);
    if (known !== undefined) return known;
    await keys.reload();
    return keys.find(id);
  }
}

function digestCvv({ key, name }: CvvKey, request: Buffer, cvv: string): Buffer {
  const digest = Buffer.allocUnsafe(nameBytes + macBytes);
  digest.writeUInt32BE(name);
  macOf(key, request, cvv).copy(digest, nameBytes);
  return digest;
}

/** The name has 22 bits of a check value and 10 bits of the slot. */
function nameOf(slot: number, key: KeyObject): number {
  const check = hmac(key, "name").readUInt32BE() % checksNamed;
  return check * slotsNamed + (slot % slotsNamed);
}

/** Returns the latest slot that the name fits. The clock of the node that made it may be ahead. */
function slotOf(name: number, now: Instant): number {
  const latest = Math.floor(now / slotMs) + 1;
  return latest - ((latest - (name % slotsNamed)) % slotsNamed);
}

/** The code covers the request's digest, so that equal CVVs of two orders cannot be recognised. */
function macOf(key: KeyObject, request: Buffer, cvv: string): Buffer {
  return hmac(key, cvv, request).subarray(0, macBytes);
}

function expiryOf(slot: number): Instant {
  return asInstant(slot * slotMs + lifeMs);
}

function isOver(slot: number, now: Instant): boolean {
  return now >= expiryOf(slot);
}

function contextOf(slot: number): string {
  return `cvv-key/${slot}`;
}
