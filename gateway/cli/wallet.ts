/** `gw wallet`: how merchants are known to their customers' wallets, and the keys for that. */

import { createPublicKey, generateKeyPairSync, type KeyObject, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Merchant, WalletSettings } from "../orders/merchant.ts";
import { type ListedKey, makeWalletKeyAdministration } from "../storage/wallet-keys.ts";
import { Problem } from "../values/problem.ts";
import { Secret } from "../values/secret.ts";
import type { Wallet } from "../wallets/wallet-trust.ts";
import { inConfigured } from "./configured.ts";
import { complain, type Installation, openVault, withInstallation } from "./installation.ts";
import { print } from "./print.ts";

type Output = { readonly json?: boolean };

export type WalletOptions = Output & {
  readonly walletaMerchant?: string;
  readonly walletbRecipient?: string;
  readonly walletbMerchant?: string;
};

const dayMs = 86_400_000;
/** From when on an operator is told that a certificate ends. */
export const warnDays = 30;

export function setWallets(login: string, options: WalletOptions): Promise<void> {
  return inConfigured(async ({ configuration, administration }) => {
    const merchant = configuration.merchants.find((each) => each.login === login);
    if (merchant === undefined) return complainOfMerchant(login);
    const wallets = readSettings(options, merchant);
    if (wallets instanceof Problem) return complain(wallets);
    await administration.setMerchant(merchant.id, { ...merchant.settings, wallets });
    print({ merchant: login, ...wallets.walleta, ...wallets.walletb }, options.json);
  });
}

function readSettings(options: WalletOptions, merchant: Merchant): WalletSettings | Problem {
  const { walletaMerchant, walletbRecipient, walletbMerchant } = options;
  const known = merchant.settings.wallets ?? {};
  const walleta =
    walletaMerchant === undefined ? known.walleta : { merchantIdentifier: walletaMerchant };
  const recipientId = walletbRecipient ?? known.walletb?.recipientId;
  if (recipientId !== undefined && !/^(merchant|gateway):\S{1,100}$/.test(recipientId)) {
    return new Problem("--walletb-recipient is merchant:<id> or gateway:<id>.");
  }
  if (recipientId === undefined && walletbMerchant !== undefined) {
    return new Problem("--walletb-merchant also needs --walletb-recipient.");
  }
  const own = walletbMerchant === undefined ? {} : { gatewayMerchantId: walletbMerchant };
  return {
    ...(walleta === undefined ? {} : { walleta }),
    ...(recipientId === undefined ? {} : { walletb: { ...known.walletb, recipientId, ...own } }),
  };
}

export function makeWalletKey(login: string, wallet: string, { json }: Output): Promise<void> {
  return inConfigured(async ({ configuration, installation }) => {
    const merchant = configuration.merchants.find((each) => each.login === login);
    if (merchant === undefined) return complainOfMerchant(login);
    if (!isWallet(wallet)) {
      return complain(new Problem("The wallet is walleta or walletb."));
    }
    print(await addWalletKey(installation, merchant, wallet), json);
  });
}

/** What the wallet has to be told: a certificate request, or the public key. */
export async function addWalletKey(
  installation: Installation,
  { id: merchantId, login }: Merchant,
  wallet: Wallet,
): Promise<{ readonly id: string; readonly request?: string; readonly publicKey?: string }> {
  const { sealSecret } = await openVault(installation);
  const keys = makeWalletKeyAdministration(installation.database.query, sealSecret);
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const shown = publicKey.export({ type: "spki", format: "pem" }).toString();
  const id = await keys.add({ merchantId, wallet, privateKey: new Secret(pem), publicKey: shown });
  if (wallet === "walleta") return { id, request: await makeCertificateRequest(privateKey, login) };
  return { id, publicKey: pointOf(publicKey) };
}

/** A PKCS #10 request for a P-256 key, in PEM. */
export async function makeCertificateRequest(privateKey: KeyObject, name: string): Promise<string> {
  // Loading takes a tenth of a second, and no other command needs them.
  const { AttributeTypeAndValue, CertificationRequest } = await import("pkijs");
  const { Utf8String } = await import("asn1js");
  const algorithm = { name: "ECDSA", namedCurve: "P-256" };
  const commonName = { type: "2.5.4.3", value: new Utf8String({ value: name }) };
  const request = new CertificationRequest({ attributes: [] });
  request.subject.typesAndValues.push(new AttributeTypeAndValue(commonName));
  await request.subjectPublicKeyInfo.importKey(
    createPublicKey(privateKey).toCryptoKey(algorithm, true, ["verify"]),
  );
  await request.sign(privateKey.toCryptoKey(algorithm, false, ["sign"]), "SHA-256");
  const der = Buffer.from(request.toSchema().toBER());
  const lines = der.toString("base64").match(/.{1,64}/g) ?? [];
  const edge = (word: string) => `-----${word} CERTIFICATE REQUEST-----`;
  return [edge("BEGIN"), ...lines, edge("END"), ""].join("\n");
}

/** The last 65 bytes of the structure are the point itself, which is what walletb wants. */
export function pointOf(publicKey: KeyObject): string {
  return publicKey.export({ type: "spki", format: "der" }).subarray(-65).toString("base64");
}

export function certifyWalletKey(id: string, file: string): Promise<void> {
  return withInstallation(async (installation) => {
    const { sealSecret } = await openVault(installation);
    const keys = makeWalletKeyAdministration(installation.database.query, sealSecret);
    const key = (await keys.list()).find((each) => each.id === id && each.wallet === "walleta");
    if (key === undefined) {
      return complain(new Problem(`There is no walleta key ${id}: see \`gw wallet key list\`.`));
    }
    const certificate = await readCertificate(file, key);
    if (certificate instanceof Problem) return complain(certificate);
    const expiresAt = Date.parse(certificate.validTo);
    await keys.certify(id, certificate.toString(), expiresAt);
    print({ id, expires: new Date(expiresAt).toISOString().slice(0, 10) });
  });
}

async function readCertificate(
  file: string,
  { publicKey }: ListedKey,
): Promise<X509Certificate | Problem> {
  try {
    const certificate = new X509Certificate(await readFile(file));
    const own = certificate.publicKey.export({ type: "spki", format: "pem" }).toString();
    if (own === publicKey) return certificate;
    return new Problem(`${file} is the certificate of another key.`);
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    return new Problem(`${file} is no certificate: ${cause}.`);
  }
}

export function listWalletKeys({ json = false }: Output): Promise<void> {
  return inConfigured(async ({ configuration, installation }) => {
    const { sealSecret } = await openVault(installation);
    const keys = await makeWalletKeyAdministration(installation.database.query, sealSecret).list();
    const logins = new Map(configuration.merchants.map(({ id, login }) => [id, login]));
    print(
      keys.map(({ id, merchantId, wallet, createdAt, certificate, expiresAt }) => ({
        id,
        merchant: logins.get(merchantId) ?? merchantId,
        wallet,
        made: createdAt,
        certificate: wallet === "walletb" ? "not needed" : certificate ? "yes" : "missing",
        expires: expiresAt === null ? "" : `${expiresAt}${warningOf(expiresAt)}`,
      })),
      json,
    );
  });
}

function warningOf(expiresAt: string): string {
  const days = Math.floor((Date.parse(expiresAt) - Date.now()) / dayMs);
  if (days < 0) return " (over)";
  return days <= warnDays ? ` (in ${days} days: make another)` : "";
}

export function removeWalletKey(id: string): Promise<void> {
  return withInstallation(async (installation) => {
    const { sealSecret } = await openVault(installation);
    const keys = makeWalletKeyAdministration(installation.database.query, sealSecret);
    if (!/^\d{1,18}$/.test(id) || !(await keys.remove(id))) {
      return complain(new Problem(`There is no key ${id}: see \`gw wallet key list\`.`));
    }
    print({ removed: id });
  });
}

function isWallet(text: string): text is Wallet {
  return text === "walleta" || text === "walletb";
}

function complainOfMerchant(login: string): void {
  complain(new Problem(`There is no merchant ${login}: see \`gw merchant list\`.`));
}
