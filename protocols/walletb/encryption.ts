/** P-256 public keys in both encodings of the wallet, and a message's keys, tag and cipher. */
import { Buffer } from "node:buffer";
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  diffieHellman,
  hkdfSync,
  type KeyObject,
} from "node:crypto";
import { readPublicKey } from "../shared/wallet.ts";
import { sender, type Version } from "./token.ts";

// biome-ignore format: a table
const ciphers = {
  ECv1: { keyBytes: 16, name: "aes-128-ctr" },
  ECv2: { keyBytes: 32, name: "aes-256-ctr" },
} as const satisfies Readonly<Record<Version, unknown>>;

const pointBytes = 65;
/** SPKI of a P-256 key before the point. */
const spkiHead = Buffer.from("3059301306072a8648ce3d020106082a8648ce3d030107034200", "hex");
/** Every key is used once, so the counter may be constant: the wallet starts at zero. */
const counter = Buffer.alloc(16);

/** From the uncompressed point: 04, x, y. Undefined if it is not on the curve. */
export function readPoint(point: Buffer): KeyObject | undefined {
  const isUncompressed = point.length === pointBytes && point[0] === 4;
  return isUncompressed ? readPublicKey(Buffer.concat([spkiHead, point])) : undefined;
}

export function writePublicKey(key: KeyObject): Buffer {
  return key.export({ format: "der", type: "spki" });
}

/** The point is the end of SPKI. */
export function writePoint(key: KeyObject): Buffer {
  return Buffer.from(writePublicKey(key).subarray(-pointBytes));
}

export type MessageKeys = { readonly cipherKey: Buffer; readonly macKey: Buffer };

/** The same on both sides. `point` is the ephemeral public key as it is sent. */
export function deriveKeys(
  point: Buffer,
  pair: { readonly privateKey: KeyObject; readonly publicKey: KeyObject },
  version: Version,
): MessageKeys {
  const { keyBytes } = ciphers[version];
  const material = Buffer.concat([point, diffieHellman(pair)]);
  const derived = Buffer.from(hkdfSync("sha256", material, "", sender, 2 * keyBytes));
  return { cipherKey: derived.subarray(0, keyBytes), macKey: derived.subarray(keyBytes) };
}

export function makeTag({ macKey }: MessageKeys, encrypted: Buffer): Buffer {
  return createHmac("sha256", macKey).update(encrypted).digest();
}

export function encrypt({ cipherKey }: MessageKeys, plaintext: Buffer, version: Version): Buffer {
  const cipher = createCipheriv(ciphers[version].name, cipherKey, counter);
  return Buffer.concat([cipher.update(plaintext), cipher.final()]);
}

export function decrypt({ cipherKey }: MessageKeys, encrypted: Buffer, version: Version): Buffer {
  const decipher = createDecipheriv(ciphers[version].name, cipherKey, counter);
  return Buffer.concat([decipher.update(encrypted), decipher.final()]);
}
