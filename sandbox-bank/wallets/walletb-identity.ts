/**
 * The root under which the bank signs as walletb, and the list by which it is trusted. One key
 * for both versions; it ends so late that no test has to think of it.
 */
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
} from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type RootKey, writeRootKeys } from "@tollgate/protocols/walletb";
import { writeKept } from "../certificates/open-family.ts";
import { walletBVersions } from "./walletb-options.ts";

export type WalletBIdentity = {
  /** Private, P-256. */
  readonly rootKey: KeyObject;
  /** Private, P-256; a new one for every run of the bank. */
  readonly intermediateKey: KeyObject;
};

export const walletBRootFile = "walletb-root-keys.json";

const keyExpiration = Date.UTC(2099, 0);

export async function openWalletBIdentity(folder: string): Promise<WalletBIdentity> {
  const path = join(folder, "walletb-root.key");
  const rootKey = (await readKey(path)) ?? (await makeRootKey(path));
  const key = createPublicKey(rootKey);
  const roots = walletBVersions.map(
    (protocolVersion): RootKey => ({ protocolVersion, key, keyExpiration }),
  );
  // Always, because the list follows from the key and nobody else may have a say in it.
  await writeKept(join(folder, walletBRootFile), writeMarked(roots), "everybody");
  return { rootKey, intermediateKey: makePrivateKey() };
}

/** Each key says whose it is, so that a copy of the list is not taken for the wallet's own. */
function writeMarked(roots: readonly RootKey[]): string {
  const { keys } = JSON.parse(writeRootKeys(roots)) as { keys: readonly object[] };
  return JSON.stringify({ keys: keys.map((key) => ({ ...key, sandbox: true })) });
}

export function makePrivateKey(): KeyObject {
  return generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
}

async function readKey(path: string): Promise<KeyObject | undefined> {
  try {
    const key = createPrivateKey(await readFile(path, "utf8"));
    return key.asymmetricKeyDetails?.namedCurve === "prime256v1" ? key : undefined;
  } catch {
    // Missing or damaged: both are mended by a new one.
    return undefined;
  }
}

async function makeRootKey(path: string): Promise<KeyObject> {
  const key = makePrivateKey();
  await writeKept(path, key.export({ type: "pkcs8", format: "pem" }).toString(), "owner");
  return key;
}
