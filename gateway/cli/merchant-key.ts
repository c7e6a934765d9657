/** `gw merchant key`: the public keys that a merchant signs with by OAuth, added and removed. */
import { readFile } from "node:fs/promises";
import type { Merchant } from "../orders/merchant.ts";
import { Problem } from "../values/problem.ts";
import { type Configured, inConfigured } from "./configured.ts";
import { complain } from "./installation.ts";
import { print } from "./print.ts";
import { bitsOf, fingerprintOf, printKey, readPublicKey } from "./public-key.ts";

type Output = { readonly json?: boolean };

export function addKey(
  login: string,
  file: string,
  { json = false, name = "" }: Output & { readonly name?: string },
): Promise<void> {
  return ofMerchant(login, async (merchant, { administration }) => {
    const text = await readFile(file, "utf8").catch(() => undefined);
    if (text === undefined) return complain(new Problem(`${file} cannot be read.`));
    const key = readPublicKey(text);
    if (key instanceof Problem) return complain(key);
    const known = merchant.oauthKeys.find(({ publicKey }) => publicKey.equals(key));
    if (known !== undefined) {
      return complain(new Problem(`${login} has this key already: it is key ${known.id}.`));
    }
    const added = { merchantId: merchant.id, name, publicKey: printKey(key) };
    const id = await administration.addMerchantKey(added);
    print({ login, key: id, name, bits: bitsOf(key), sha256: fingerprintOf(key) }, json);
  });
}

export function listKeys(login: string, { json = false }: Output): Promise<void> {
  return ofMerchant(login, async ({ oauthKeys }) => {
    const rows = oauthKeys.map(({ id, name, publicKey }) => ({
      key: id,
      name,
      bits: bitsOf(publicKey),
      sha256: fingerprintOf(publicKey),
    }));
    if (rows.length === 0 && !json) process.stdout.write(`${login} has no key.\n`);
    else print(rows, json);
  });
}

export function removeKey(login: string, id: string, { json = false }: Output): Promise<void> {
  return ofMerchant(login, async (merchant, { administration }) => {
    const key = merchant.oauthKeys.find((each) => each.id === id);
    if (key === undefined) {
      const hint = `see \`gw merchant key list ${login}\``;
      return complain(new Problem(`${login} has no key ${id}: ${hint}.`));
    }
    await administration.removeMerchantKey(merchant.id, id);
    print({ login, removed: id, left: merchant.oauthKeys.length - 1 }, json);
  });
}

function ofMerchant(
  login: string,
  work: (merchant: Merchant, configured: Configured) => Promise<void>,
): Promise<void> {
  return inConfigured(async (configured) => {
    const merchant = configured.configuration.merchants.find((each) => each.login === login);
    if (merchant !== undefined) return work(merchant, configured);
    complain(new Problem(`There is no merchant ${login}: see \`gw merchant list\`.`));
  });
}
