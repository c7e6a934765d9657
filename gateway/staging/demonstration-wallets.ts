/**
 * What the demonstration merchant needs to be paid by wallets: keys, and names at the sandbox bank,
 * which plays the wallets too. A certificate comes the way it does from the wallet itself.
 */

import { createPublicKey } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Installation } from "../cli/installation.ts";
import { openVault } from "../cli/installation.ts";
import { addWalletKey, pointOf } from "../cli/wallet.ts";
import type { WalletSettings } from "../orders/merchant.ts";
import { makeAdministration } from "../storage/administration.ts";
import { loadConfiguration } from "../storage/configuration.ts";
import { type ListedKey, makeWalletKeyAdministration } from "../storage/wallet-keys.ts";

/** In the data folder. */
export const walletaCertificateFile = "walleta-demo.pem";
/** Until the operator sets others. */
const usual = {
  walleta: { merchantIdentifier: "merchant.tollgate.demo" },
  walletb: { recipientId: "gateway:tollgate" },
};

/** As `demo.json` tells it. */
export type DemonstrationWallets = {
  readonly walletaCertificateFile: string;
  readonly walletbPublicKey: string;
  readonly walletbRecipientId: string;
};

/** Done at every start: the bank may be another one by now. */
export async function prepareWallets(
  installation: Installation,
  login: string,
  bankUrl: string,
): Promise<DemonstrationWallets | undefined> {
  const { openSecret, sealSecret } = await openVault(installation);
  const { query } = installation.database;
  const { merchants } = await loadConfiguration(query, openSecret);
  const merchant = merchants.find((each) => each.login === login);
  if (merchant === undefined) return undefined;

  const wallets: Required<WalletSettings> = { ...usual, ...merchant.settings.wallets };
  await makeAdministration(query).setMerchant(merchant.id, { ...merchant.settings, wallets });
  const { merchantIdentifier } = wallets.walleta;
  const keys = makeWalletKeyAdministration(query, sealSecret);
  const listed = (await keys.list()).filter(({ merchantId }) => merchantId === merchant.id);
  if (!listed.some(({ wallet }) => wallet === "walletb")) {
    await addWalletKey(installation, merchant, "walletb");
  }
  if (!listed.some(isCertified) || !(await isKnownTo(bankUrl, merchantIdentifier))) {
    const { id, request = "" } = await addWalletKey(installation, merchant, "walleta");
    const certificate = await askForCertificate(bankUrl, request, merchantIdentifier);
    await certify(keys, id, certificate);
  }
  const { recipientId, gatewayMerchantId = login } = wallets.walletb;
  const own = (await keys.list()).filter(({ merchantId }) => merchantId === merchant.id);
  return tell(installation, own, { bankUrl, recipientId, gatewayMerchantId });
}

/** The bank learns of walleta's recipients by certifying them, and may have forgotten. */
async function isKnownTo(bankUrl: string, merchantIdentifier: string): Promise<boolean> {
  const answer = await fetch(`${bankUrl}/wallets`);
  const { walleta } = (await answer.json()) as { walleta: { recipient: string | null } };
  return walleta.recipient === merchantIdentifier;
}

type Administration = ReturnType<typeof makeWalletKeyAdministration>;

async function certify(keys: Administration, id: string, certificate: string): Promise<void> {
  const { X509Certificate } = await import("node:crypto");
  await keys.certify(id, certificate, Date.parse(new X509Certificate(certificate).validTo));
}

function isCertified({ wallet, certificate }: ListedKey): boolean {
  return wallet === "walleta" && certificate !== null;
}

async function askForCertificate(
  bankUrl: string,
  request: string,
  merchantIdentifier: string,
): Promise<string> {
  const named = new URLSearchParams({ merchantIdentifier });
  const path = `/wallets/walleta/certificate?${named}`;
  return post(`${bankUrl}${path}`, request, "application/x-pem-file");
}

/** The newest key of each wallet is the one that is written down and told to the bank. */
async function tell(
  { config }: Installation,
  own: readonly ListedKey[],
  { bankUrl, ...names }: { bankUrl: string; recipientId: string; gatewayMerchantId: string },
): Promise<DemonstrationWallets> {
  const certificate = own.findLast(isCertified)?.certificate ?? "";
  await writeFile(join(resolve(config.dataDir), walletaCertificateFile), certificate);
  const point = pointOf(
    createPublicKey(own.findLast(({ wallet }) => wallet === "walletb")?.publicKey ?? ""),
  );
  const recipient = { publicKey: point, ...names };
  await post(`${bankUrl}/wallets/walletb/recipient`, JSON.stringify(recipient), "application/json");
  return { walletaCertificateFile, walletbPublicKey: point, walletbRecipientId: names.recipientId };
}

async function post(url: string, body: string, contentType: string): Promise<string> {
  const answer = await fetch(url, {
    method: "POST",
    body,
    headers: { "content-type": contentType },
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`the sandbox bank refused ${url}: ${answer.status} ${text}`);
  return text;
}
