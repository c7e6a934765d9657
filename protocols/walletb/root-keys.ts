/** The root keys that the wallet publishes. */
import type { KeyObject } from "node:crypto";
import { decodeBase64, hasExactly, isJsonObject } from "../shared/json.ts";
import { parseFields, readPublicKey, WalletFault } from "../shared/wallet.ts";
import { writePublicKey } from "./encryption.ts";
import { type Version, versions } from "./token.ts";

export type RootKey = {
  readonly protocolVersion: Version;
  /** Public, P-256. */
  readonly key: KeyObject;
  /** Milliseconds since 1970. An ECv2 key without it is never used. */
  readonly keyExpiration?: number;
};

/**
 * Skips keys of unknown versions and ECv2 keys without an expiry. Refuses a list without a usable
 * key, so that a caller that refreshes the list keeps its present one.
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

/** Milliseconds since 1970, as the wallet writes them: a text of digits. */
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
