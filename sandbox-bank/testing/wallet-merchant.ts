/**
 * A merchant that accepts wallets, for tests: the merchant's keys, and the roots that it trusts.
 */
import assert from "node:assert/strict";
import { generateKeyPairSync, KeyObject } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  type MerchantKey,
  openToken,
  type Trust as WalletATrust,
  writePayload,
} from "@tollgate/protocols/walleta";
import { readRootKeys, type Trust as WalletBTrust, WalletFault } from "@tollgate/protocols/walletb";
import { Utf8String } from "asn1js";
import { AttributeTypeAndValue, CertificationRequest } from "pkijs";
import type { Bank } from "../bank.ts";
import { type KeyKind, makeKeys } from "../certificates/certificate.ts";

type Request = { readonly pem: string; readonly privateKey: KeyObject };

export async function makeRequest(kind: KeyKind = "ec"): Promise<Request> {
  const keys = await makeKeys(kind);
  const request = new CertificationRequest();
  const value = new Utf8String({ value: "A merchant" });
  request.subject.typesAndValues.push(new AttributeTypeAndValue({ type: "2.5.4.3", value }));
  await request.subjectPublicKeyInfo.importKey(keys.publicKey);
  await request.sign(keys.privateKey, "SHA-256");
  const der = Buffer.from(request.toSchema(true).toBER(false));
  return { pem: writeRequest(der), privateKey: KeyObject.from(keys.privateKey) };
}

export function writeRequest(der: Buffer): string {
  const label = "CERTIFICATE REQUEST";
  return `-----BEGIN ${label}-----\n${der.toString("base64")}\n-----END ${label}-----\n`;
}

/** Has the sandbox bank certify a merchant, which is the recipient from then on. */
export async function enrolWalletA(
  bank: Bank,
  query = "",
  kind: KeyKind = "ec",
): Promise<MerchantKey> {
  const { pem, privateKey } = await makeRequest(kind);
  const url = `${bank.url}/wallets/walleta/certificate${query}`;
  const response = await fetch(url, { method: "POST", body: pem });
  const certificate = await response.text();
  assert.equal(response.status, 200, certificate);
  return { certificate, privateKey };
}

export async function trustWalletA(bank: Bank, ...keys: MerchantKey[]): Promise<WalletATrust> {
  return {
    now: Date.now(),
    roots: [await readFile(join(bank.walletFolder, "walleta-root.pem"), "utf8")],
    merchantKeys: keys,
    signingWindowMs: 300_000,
    allowSandboxSigner: true,
  };
}

/** Opens a token as a merchant does. Returns undefined if it is for another key. */
export async function openWalletA(
  bank: Bank,
  token: string,
  { key, now }: { readonly key: MerchantKey; readonly now: number },
): Promise<string | undefined> {
  const read = openToken(token, { ...(await trustWalletA(bank, key)), now });
  return "reason" in read ? undefined : writePayload(read.payload);
}

type WalletBMerchant = {
  readonly publicKey: string;
  readonly recipientId: string;
  readonly gatewayMerchantId: string;
  readonly privateKey: KeyObject;
};

export function makeWalletBMerchant(name: string): WalletBMerchant {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const point = publicKey.export({ format: "der", type: "spki" }).subarray(-65);
  return {
    publicKey: point.toString("base64"),
    recipientId: `gateway:${name}`,
    gatewayMerchantId: `${name}-merchant`,
    privateKey,
  };
}

/** Makes a merchant the recipient of the sandbox bank's tokens. */
export async function enrolWalletB(bank: Bank, name = "tollgate"): Promise<WalletBMerchant> {
  const merchant = makeWalletBMerchant(name);
  const { privateKey: _, ...recipient } = merchant;
  const body = JSON.stringify(recipient);
  const response = await fetch(`${bank.url}/wallets/walletb/recipient`, { method: "POST", body });
  assert.deepEqual([response.status, await response.json()], [200, recipient]);
  return merchant;
}

export async function trustWalletB(bank: Bank, merchant: WalletBMerchant): Promise<WalletBTrust> {
  const path = join(bank.walletFolder, "walletb-root-keys.json");
  const rootKeys = readRootKeys(await readFile(path, "utf8"));
  if (rootKeys instanceof WalletFault) throw new Error(rootKeys.reason);
  const { recipientId, privateKey } = merchant;
  const versions = ["ECv2", "ECv1"] as const;
  return { now: Date.now(), rootKeys, recipientId, recipientKeys: [privateKey], versions };
}
