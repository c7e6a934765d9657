/** The two keys of a message, which sender and recipient derive from each other's public key. */
import { Buffer } from "node:buffer";
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  diffieHellman,
  hkdfSync,
  type KeyObject,
} from "node:crypto";
import { sender, type Version, versionRules } from "./token.ts";

export type MessageKeys = { readonly cipherKey: Buffer; readonly macKey: Buffer };

/** The key pair is used once, so its counter may start anywhere; the wallet starts at zero. */
const counter = Buffer.alloc(16);

/** `point` is the ephemeral public key as it was sent, whichever side asks. */
export function deriveKeys(
  point: Buffer,
  pair: { readonly privateKey: KeyObject; readonly publicKey: KeyObject },
  version: Version,
): MessageKeys {
  const { keyBytes } = versionRules[version];
  // Always 32 bytes: leading zeros of the coordinate are part of it.
  const secret = diffieHellman(pair);
  const material = Buffer.concat([point, secret]);
  const derived = Buffer.from(hkdfSync("sha256", material, "", sender, 2 * keyBytes));
  return { cipherKey: derived.subarray(0, keyBytes), macKey: derived.subarray(keyBytes) };
}

export function makeTag({ macKey }: MessageKeys, encrypted: Buffer): Buffer {
  return createHmac("sha256", macKey).update(encrypted).digest();
}

export function encrypt({ cipherKey }: MessageKeys, plaintext: Buffer, version: Version): Buffer {
  const cipher = createCipheriv(versionRules[version].cipher, cipherKey, counter);
  return Buffer.concat([cipher.update(plaintext), cipher.final()]);
}

export function decrypt({ cipherKey }: MessageKeys, encrypted: Buffer, version: Version): Buffer {
  const decipher = createDecipheriv(versionRules[version].cipher, cipherKey, counter);
  return Buffer.concat([decipher.update(encrypted), decipher.final()]);
}
