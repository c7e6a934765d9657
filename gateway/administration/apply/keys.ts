/**
 * Keys in files that a configuration file names: merchants' public keys for OAuth, their private
 * keys for wallets, and the keys that authenticate gates' messages. Applying a file never removes a
 * key.
 */
import { createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import { macAlgorithmNames, readMacKey } from "../../acquirers/iso8583-host/key-exchange.ts";
import type { Merchant } from "../../orders/merchant.ts";
import { listMacKeys, macKeyContext } from "../../storage/cards/mac-keys.ts";
import { makeWalletKeyAdministration } from "../../storage/cards/wallets.ts";
import type { GateId } from "../../values/ids.ts";
import { Secret } from "../../values/secret.ts";
import { readPublicKey } from "../merchants/merchant-keys.ts";
import { pemOf } from "../readers.ts";
import { Invalid, readBeside, readTexts, type Sections, valid, type Work } from "./work.ts";

function note({ steps }: Work, what: string): void {
  steps.push({ what, change: "create", fields: [] });
}

export async function putOauthKeys(work: Work, merchant: Merchant, files: unknown): Promise<void> {
  for (const file of readTexts(files) ?? []) {
    const key = valid(readPublicKey(await readBeside(work, file)));
    if (merchant.oauthKeys.some(({ publicKey }) => publicKey.equals(key))) continue;
    await work.administration.addMerchantKey(merchant.id, file, pemOf(key));
    note(work, `OAuth key ${file} of ${merchant.login}`);
  }
}

const walletNames = ["walleta", "walletb"] as const;

export async function putWalletKeys(work: Work, merchant: Merchant, own: Sections): Promise<void> {
  const { audit, query, vault } = work;
  const keys = makeWalletKeyAdministration(audit, query, vault.sealSecret);
  for (const wallet of walletNames) {
    for (const file of readTexts(own[`${wallet}-key-files`]) ?? []) {
      const key = parsePrivateKey(await readBeside(work, file), file);
      const publicKey = pemOf(createPublicKey(key));
      if ((await keys.list()).some((each) => each.publicKey === publicKey)) continue;
      const pem = key.export({ type: "pkcs8", format: "pem" }).toString();
      const made = { merchantId: merchant.id, wallet, privateKey: new Secret(pem), publicKey };
      await keys.add(made);
      note(work, `${wallet} key ${file} of ${merchant.login}`);
    }
  }
}

/** Reads a private key from PEM. Errors do not quote the text, because it is a secret. */
function parsePrivateKey(text: string, file: string): KeyObject {
  try {
    const key = createPrivateKey(text);
    if (key.asymmetricKeyDetails?.namedCurve === "prime256v1") return key;
  } catch {
    // OpenSSL cannot read the text, so it has no key, as the error below says.
  }
  throw new Invalid(`The file ${file} has no private key of the curve P-256 in PEM.`);
}

type MacKeySource = {
  readonly file: unknown;
  readonly algorithm: unknown;
  readonly bytes: unknown;
};

/** Adds the key unless the gate has it. The previous key continues to verify messages. */
export async function putMacKey(
  work: Work,
  gate: { readonly id: GateId; readonly name: string },
  { file, algorithm: word = "retail", bytes = 8 }: MacKeySource,
): Promise<void> {
  if (file === undefined) return;
  const algorithm = macAlgorithmNames.find((each) => each === word);
  if (algorithm === undefined || ![4, 8].includes(Number(bytes))) {
    const words = macAlgorithmNames.join(", ");
    throw new Invalid(`mac-algorithm is one of ${words}, and mac-bytes is 4 or 8.`);
  }
  const { key, checkValue } = valid(readMacKey(await readBeside(work, String(file)), algorithm));
  const known = await listMacKeys(work.query, gate.id);
  if (known.some((each) => each.checkValue === checkValue && each.algorithm === algorithm)) return;
  if (known.filter(({ verifiesUntil }) => verifiesUntil === null).length >= 2) {
    throw new Invalid(`The gate ${gate.name} has two keys: drop the older one first.`);
  }
  const sealed = work.vault.sealSecret(key, macKeyContext(gate.id));
  const row = { algorithm, bytes: Number(bytes), checkValue, sealed };
  await work.administration.addMacKey(gate.id, row);
  note(work, `MAC key of the gate ${gate.name}, check value ${checkValue}`);
}
