/**
 * The demonstration merchant's key pair for OAuth: the private key stands in the data folder, for
 * whoever tries the gateway, and the public one with the merchant.
 */

import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import type { Installation } from "../cli/installation.ts";
import { openVault } from "../cli/installation.ts";
import { printKey } from "../cli/public-key.ts";
import { makeAdministration } from "../storage/administration.ts";
import { loadConfiguration } from "../storage/configuration.ts";
import { Problem } from "../values/problem.ts";
import { demonstrationKeyFile, demonstrationLogin } from "./demonstration.ts";

/** Makes whatever is missing: the file, the merchant's key, or both. */
export async function makeDemonstrationKey(
  installation: Installation,
): Promise<Problem | undefined> {
  const file = join(resolve(installation.config.dataDir), demonstrationKeyFile);
  const privateKey = (await findKey(file)) ?? (await makeKey(file));
  if (privateKey instanceof Problem) return privateKey;
  const publicKey = createPublicKey(privateKey);

  const { query } = installation.database;
  const { merchants } = await loadConfiguration(query, (await openVault(installation)).openSecret);
  const merchant = merchants.find(({ login }) => login === demonstrationLogin);
  if (merchant === undefined) return undefined;
  if (merchant.oauthKeys.some((known) => known.publicKey.equals(publicKey))) return undefined;
  await makeAdministration(query).addMerchantKey({
    merchantId: merchant.id,
    name: "demonstration",
    publicKey: printKey(publicKey),
  });
  return undefined;
}

async function findKey(file: string): Promise<KeyObject | Problem | undefined> {
  const text = await readFile(file, "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    return createPrivateKey(text);
  } catch {
    return new Problem(`${file} is no private key: remove it, and another one is made.`);
  }
}

async function makeKey(file: string): Promise<KeyObject> {
  const { privateKey } = await promisify(generateKeyPair)("rsa", { modulusLength: 2048 });
  const pem = privateKey.export({ format: "pem", type: "pkcs1" });
  await writeFile(file, pem, { mode: 0o600, flag: "wx" });
  return privateKey;
}
