/**
 * The root keys that the wallet publishes, P-256 points, and the keys, tag and cipher of a message.
 */
import { Buffer } from "node:buffer";
import { createCipheriv, createHmac, diffieHellman, hkdfSync, type KeyObject } from "node:crypto";
import { decodeBase64, hasExactly, isJsonObject } from "../shared/json.ts";
import { parseFields, readPublicKey, WalletFault } from "../shared/wallet.ts";

export const versions = ["ECv1", "ECv2"] as const;
export type Version = (typeof versions)[number];

/** The first of all signed texts, and the context of the key derivation. */
export const sender = "Google";

const ciphers = {
  ECv1: { keyBytes: 16, name: "aes-128-ctr" },
  ECv2: { keyBytes: 32, name: "aes-256-ctr" },
} as const satisfies Readonly<Record<Version, unknown>>;

const pointBytes = 65;
/** The bytes of the SPKI of a P-256 key before the point. */
const spkiHead = Buffer.from("3059301306072a8648ce3d020106082a8648ce3d030107034200", "hex");
/** The counter may be constant because every key is used once. The wallet starts at zero. */
const counter = Buffer.alloc(16);

/** Reads the uncompressed point: 04, x, y. Returns undefined if it is not on the curve. */
export function readPoint(point: Buffer): KeyObject | undefined {
  const isUncompressed = point.length === pointBytes && point[0] === 4;
  return isUncompressed ? readPublicKey(Buffer.concat([spkiHead, point])) : undefined;
}

export function writePublicKey(key: KeyObject): Buffer {
  return key.export({ format: "der", type: "spki" });
}

/** Returns the point, which is the end of the SPKI. */
export function writePoint(key: KeyObject): Buffer {
  return Buffer.from(writePublicKey(key).subarray(-pointBytes));
}

export type MessageKeys = ReturnType<typeof deriveKeys>;

/**
 * Derives the keys, which are the same on both sides. `point` is the ephemeral public key as it is
 * sent.
 */
export function deriveKeys(
  point: Buffer,
  pair: { readonly privateKey: KeyObject; readonly publicKey: KeyObject },
  version: Version,
) {
  const { keyBytes } = ciphers[version];
  const material = Buffer.concat([point, diffieHellman(pair)]);
  const derived = Buffer.from(hkdfSync("sha256", material, "", sender, 2 * keyBytes));
  return { cipherKey: derived.subarray(0, keyBytes), macKey: derived.subarray(keyBytes) };
}

export function makeTag({ macKey }: MessageKeys, encrypted: Buffer): Buffer {
  return createHmac("sha256", macKey).update(encrypted).digest();
}

/** Encrypts or decrypts, which is the same operation in counter mode. */
export function applyCipher({ cipherKey }: MessageKeys, bytes: Buffer, version: Version): Buffer {
  const cipher = createCipheriv(ciphers[version].name, cipherKey, counter);
  return Buffer.concat([cipher.update(bytes), cipher.final()]);
}

export type RootKey = {
  readonly protocolVersion: Version;
  /** The public P-256 key. */
  readonly key: KeyObject;
  /** The expiry in milliseconds since 1970. An ECv2 key without it is never used. */
  readonly keyExpiration?: number;
};

/**
 * Reads the root keys. Keys of unknown versions and ECv2 keys without an expiry are skipped. A list
 * without a usable key is refused, so that a caller that refreshes the list keeps its present one.
 */
export function readRootKeys(text: string): readonly RootKey[] | WalletFault {
  const list = parseFields(text);
  if (list instanceof WalletFault) return list;
  const { keys } = list;
  if (!hasExactly(list, ["keys"]) || !Array.isArray(keys)) return new WalletFault("wrong_fields");
  const read: RootKey[] = [];
  for (const entry of keys) {
    const key = readRootKey(entry);
    if (key instanceof WalletFault) return key;
    if (key !== undefined) read.push(key);
  }
  return read.length === 0 ? new WalletFault("bad_root_keys") : read;
}

export function writeRootKeys(keys: readonly RootKey[]): string {
  const entries = keys.map(({ protocolVersion, key, keyExpiration }) => ({
    keyValue: writePublicKey(key).toString("base64"),
    protocolVersion,
    ...(keyExpiration !== undefined && { keyExpiration: String(keyExpiration) }),
  }));
  return JSON.stringify({ keys: entries });
}

/**
 * Returns whether the value is a text of digits, which is how the wallet writes milliseconds since
 * 1970.
 */
export function isMilliseconds(value: unknown): value is string {
  return typeof value === "string" && /^\d{1,15}$/.test(value);
}

function readRootKey(entry: unknown): RootKey | undefined | WalletFault {
  if (!isJsonObject(entry)) return new WalletFault("bad_root_keys");
  const protocolVersion = versions.find((version) => version === entry["protocolVersion"]);
  if (protocolVersion === undefined) return undefined;
  const der = decodeBase64(entry["keyValue"]);
  const key = der && readPublicKey(der);
  if (key === undefined) return new WalletFault("bad_root_keys", "keyValue");
  if (entry["keyExpiration"] === undefined) {
    return protocolVersion === "ECv1" ? { protocolVersion, key } : undefined;
  }
  const { keyExpiration: end } = entry;
  if (!isMilliseconds(end)) return new WalletFault("bad_root_keys", "keyExpiration");
  return { protocolVersion, key, keyExpiration: Number(end) };
}
