/** The wallet's published list of root keys. */
import type { KeyObject } from "node:crypto";
import { readPublicKey, writePublicKey } from "./public-key.ts";
import { type Version, versions } from "./token.ts";
import { WalletFault } from "./wallet-fault.ts";
import { decodeBase64, hasExactly, isFields, parseFields } from "./wallet-json.ts";

export type RootKey = {
  readonly protocolVersion: Version;
  /** Public, P-256. */
  readonly key: KeyObject;
  /** Milliseconds since 1970. An ECv2 key without it is never used. */
  readonly keyExpiration?: number;
};

/**
 * Keys of versions that are not spoken here are left out, and so are ECv2 keys without an expiry.
 * A list without a usable key is refused: whoever refreshes one keeps what he has.
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
    ...(keyExpiration === undefined ? {} : { keyExpiration: String(keyExpiration) }),
  }));
  return JSON.stringify({ keys: entries });
}

/** Nothing for a text that is no moment: milliseconds since 1970, in digits only. */
export function readMoment(value: unknown): number | undefined {
  return typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : undefined;
}

function readRootKey(entry: unknown): RootKey | undefined | WalletFault {
  if (!isFields(entry)) return new WalletFault("bad_root_keys");
  const protocolVersion = versions.find((version) => version === entry["protocolVersion"]);
  if (protocolVersion === undefined) return undefined;
  const der = decodeBase64(entry["keyValue"]);
  const key = der && readPublicKey(der);
  if (key === undefined) return new WalletFault("bad_root_keys", "keyValue");
  if (entry["keyExpiration"] === undefined) {
    return protocolVersion === "ECv1" ? { protocolVersion, key } : undefined;
  }
  const keyExpiration = readMoment(entry["keyExpiration"]);
  if (keyExpiration === undefined) return new WalletFault("bad_root_keys", "keyExpiration");
  return { protocolVersion, key, keyExpiration };
}
