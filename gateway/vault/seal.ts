/**
 * Sealing with AES-256-GCM, and random bytes for nonces and ids. A sealed value is nonce, tag and
 * ciphertext in one buffer. Its context (the owner of a card, the purpose of a key) is
 * authenticated, so that a sealed value that was moved elsewhere does not open there.
 */
import { createCipheriv, createDecipheriv, type KeyObject, randomFillSync } from "node:crypto";
import { asCardId, asCardRefId, type CardId, type CardRefId } from "../values/ids.ts";

const algorithm = "aes-256-gcm";
const nonceBytes = 12;
const tagBytes = 16;
const cipherOptions = { authTagLength: tagBytes };
export const keyBytes = 32;
/** The size of the keys of receipts and links: one block of AES-128 each. */
export const blockKeyBytes = 16;

type SealingKey = KeyObject | Uint8Array;

export function seal(key: SealingKey, plain: Uint8Array | string, context: string): Buffer {
  const nonce = takeRandom(nonceBytes);
  const cipher = createCipheriv(algorithm, key, nonce, cipherOptions);
  cipher.setAAD(Buffer.from(context));
  const sealed = typeof plain === "string" ? cipher.update(plain, "utf8") : cipher.update(plain);
  // In this mode it adds no bytes and only makes the tag.
  cipher.final();
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
}

/** Throws when the key or the context is another, or a bit has changed. */
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

/** From a pool, because a system call for twelve bytes costs as much as one for thousands. */
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

/**
 * Makes the id of a card from the payment page. A card that comes with an order has the order's id,
 * which is shorter.
 */
export function newCardId(): CardId {
  return asCardId(randomId());
}

function randomId(): string {
  return String(cardRefIdMin + (takeRandom(8).readBigUInt64BE() >> 2n));
}
