/** The key that a token's payload is encrypted with, and the encryption itself. */
import { Buffer } from "node:buffer";
import {
  constants,
  createCipheriv,
  createDecipheriv,
  createHash,
  createPublicKey,
  diffieHellman,
  type KeyObject,
  privateDecrypt,
} from "node:crypto";
import { ciphers, curve, type Version } from "./token.ts";

/** Every key is used once, so the vector may be anything; the wallet takes 16 zero bytes. */
const vector = Buffer.alloc(16);
const tagBytes = 16;

/** Wrapping and unwrapping of the key of RSA_v1. */
export const wrapping = { padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: "sha256" } as const;

/** For EC_v1: a concatenation key derivation of one step, with a name for either party. */
export function deriveKey(
  pair: { readonly privateKey: KeyObject; readonly publicKey: KeyObject },
  merchantIdentifierHash: Buffer,
): Buffer {
  // Always 32 bytes: leading zeros of the coordinate are part of it.
  const secret = diffieHellman(pair);
  return createHash("sha256")
    .update(Buffer.of(0, 0, 0, 1))
    .update(secret)
    .update("\u000did-aes256-GCM", "latin1")
    .update("Apple", "latin1")
    .update(merchantIdentifierHash)
    .digest();
}

/** A P-256 key from SPKI in DER, in its one canonical form. */
export function readEphemeralKey(der: Buffer): KeyObject | undefined {
  try {
    const key = createPublicKey({ key: der, format: "der", type: "spki" });
    const isCanonical = key.export({ format: "der", type: "spki" }).equals(der);
    return isCanonical && key.asymmetricKeyDetails?.namedCurve === curve ? key : undefined;
  } catch {
    return undefined;
  }
}

/** Nothing when it was not wrapped for this key. */
export function unwrapKey(wrapped: Buffer, privateKey: KeyObject): Buffer | undefined {
  const bits = privateKey.asymmetricKeyDetails?.modulusLength ?? 0;
  if (wrapped.length !== Math.ceil(bits / 8)) return undefined;
  try {
    return privateDecrypt({ key: privateKey, ...wrapping }, wrapped);
  } catch {
    return undefined;
  }
}

/** The tag stands at the end. */
export function encrypt(key: Uint8Array, plaintext: Buffer, version: Version): Buffer {
  const cipher = createCipheriv(ciphers[version].name, key, vector, { authTagLength: tagBytes });
  return Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
}

/** Nothing when the tag is wrong, or the plaintext is no text. */
export function decrypt(key: Buffer, encrypted: Buffer, version: Version): string | undefined {
  const { name, keyBytes } = ciphers[version];
  if (key.length !== keyBytes || encrypted.length <= tagBytes) return undefined;
  const decipher = createDecipheriv(name, key, vector, { authTagLength: tagBytes });
  decipher.setAuthTag(encrypted.subarray(-tagBytes));
  try {
    const first = decipher.update(encrypted.subarray(0, -tagBytes));
    const plaintext = Buffer.concat([first, decipher.final()]);
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(plaintext);
  } catch {
    return undefined;
  }
}
