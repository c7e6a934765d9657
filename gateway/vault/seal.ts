/**
 * Sealing with AES-256-GCM: nonce, tag and ciphertext in one piece of bytes. The context (whose
 * card it is, what a key is for) is authenticated with it, so that a sealed thing moved to another
 * place does not open there.
 */
import { createCipheriv, createDecipheriv, type KeyObject } from "node:crypto";
import { takeRandom } from "./nonces.ts";

const algorithm = "aes-256-gcm";
const nonceBytes = 12;
const tagBytes = 16;
export const keyBytes = 32;

export type SealingKey = KeyObject | Uint8Array;

export function seal(key: SealingKey, plain: Uint8Array | string, context: string): Buffer {
  const nonce = takeRandom(nonceBytes);
  const cipher = createCipheriv(algorithm, key, nonce, { authTagLength: tagBytes });
  cipher.setAAD(Buffer.from(context));
  const bytes = typeof plain === "string" ? Buffer.from(plain) : plain;
  const sealed = cipher.update(bytes);
  // In this mode nothing is left for the end; it only makes the tag.
  cipher.final();
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
}

/** Throws when the key or the context is another, or a bit has changed. */
export function open(key: SealingKey, sealed: Uint8Array, context: string): Buffer {
  const nonce = sealed.subarray(0, nonceBytes);
  const tag = sealed.subarray(nonceBytes, nonceBytes + tagBytes);
  const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength: tagBytes });
  decipher.setAAD(Buffer.from(context));
  decipher.setAuthTag(tag);
  const body = sealed.subarray(nonceBytes + tagBytes);
  return Buffer.concat([decipher.update(body), decipher.final()]);
}
