/** The merchant's keys, the content key of a token, and the encryption itself. */
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
import { readBer, tags } from "../shared/asn1.ts";
import { decodeText, readPublicKey } from "../shared/wallet.ts";
import { merchantIdentifierExtension, readPem } from "./verify-signature.ts";

export type MerchantKey = {
  /**
   * The certificate in PEM. One that the wallet issued contains the hash of the merchant
   * identifier.
   */
  readonly certificate: string;
  readonly privateKey: KeyObject;
  /** The identifier, for a certificate that does not contain the hash. */
  readonly merchantIdentifier?: string;
};

export type Version = keyof typeof ciphers;

/** The ciphers. `keyField` contains the ephemeral public key or the wrapped key. */
export const ciphers = {
  EC_v1: { name: "aes-256-gcm", keyBytes: 32, keyField: "ephemeralPublicKey" },
  RSA_v1: { name: "aes-128-gcm", keyBytes: 16, keyField: "wrappedKey" },
} as const;

export function isVersion(value: unknown): value is Version {
  return typeof value === "string" && Object.hasOwn(ciphers, value);
}

/** The vector may be constant because every key is used once. The wallet uses 16 zero bytes. */
const vector = Buffer.alloc(16);
const tagBytes = 16;

/** The parameters for wrapping and unwrapping the key of RSA_v1. */
export const wrapping = { padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: "sha256" } as const;

/** Finds the key by the token's `publicKeyHash`. */
export function findMerchantKey(
  keys: readonly MerchantKey[],
  publicKeyHash: Buffer,
): MerchantKey | undefined {
  return keys.find(({ privateKey: key }) => {
    return key.type === "private" && hashPublicKey(createPublicKey(key)).equals(publicKeyHash);
  });
}

export function hashPublicKey(publicKey: KeyObject): Buffer {
  const der = publicKey.export({ format: "der", type: "spki" });
  return createHash("sha256").update(der).digest();
}

export function hashMerchantIdentifier(identifier: string): Buffer {
  return createHash("sha256").update(identifier, "utf8").digest();
}

/**
 * Returns the hash of the merchant identifier. The certificate takes precedence over the settings.
 */
export function findMerchantIdentifierHash(key: MerchantKey): Buffer | undefined {
  const extension = readPem(key.certificate)?.extensions.get(merchantIdentifierExtension);
  const text = extension && readBer(extension);
  const hex = text?.tag === tags.utf8String ? text.content.toString("latin1") : "";
  if (/^[0-9a-f]{64}$/i.test(hex)) return Buffer.from(hex, "hex");
  const { merchantIdentifier } = key;
  return merchantIdentifier === undefined ? undefined : hashMerchantIdentifier(merchantIdentifier);
}

/** Derives the key of EC_v1 by the one-step concatenation key derivation of NIST SP 800-56A. */
export function deriveKey(
  pair: { readonly privateKey: KeyObject; readonly publicKey: KeyObject },
  merchantIdentifierHash: Buffer,
): Buffer {
  return createHash("sha256")
    .update(Buffer.of(0, 0, 0, 1))
    .update(diffieHellman(pair))
    .update("\u000did-aes256-GCM", "latin1")
    .update("Apple", "latin1")
    .update(merchantIdentifierHash)
    .digest();
}

/** Reads a P-256 key, in its canonical encoding only. */
export function readEphemeralKey(der: Buffer): KeyObject | undefined {
  const key = readPublicKey(der);
  return key?.export({ format: "der", type: "spki" }).equals(der) ? key : undefined;
}

/** Unwraps the key of RSA_v1. Returns undefined if it was wrapped for another key. */
export function unwrapKey(wrapped: Buffer, privateKey: KeyObject): Buffer | undefined {
  const bits = privateKey.asymmetricKeyDetails?.modulusLength ?? 0;
  if (wrapped.length !== Math.ceil(bits / 8)) return undefined;
  try {
    return privateDecrypt({ key: privateKey, ...wrapping }, wrapped);
  } catch {
    return undefined;
  }
}

/** Encrypts. The tag follows the ciphertext. */
export function encrypt(key: Uint8Array, plaintext: Buffer, version: Version): Buffer {
  const cipher = createCipheriv(ciphers[version].name, key, vector, { authTagLength: tagBytes });
  return Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
}

/** Returns undefined if the tag is wrong, or the plaintext is not UTF-8. */
export function decrypt(key: Buffer, encrypted: Buffer, version: Version): string | undefined {
  const { name, keyBytes } = ciphers[version];
  if (key.length !== keyBytes || encrypted.length <= tagBytes) return undefined;
  const decipher = createDecipheriv(name, key, vector, { authTagLength: tagBytes });
  decipher.setAuthTag(encrypted.subarray(-tagBytes));
  try {
    const first = decipher.update(encrypted.subarray(0, -tagBytes));
    return decodeText(Buffer.concat([first, decipher.final()]));
  } catch {
    return undefined;
  }
}
