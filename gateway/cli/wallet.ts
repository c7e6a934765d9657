/** `gw wallet`: merchants' identifiers at their customers' wallets, and the keys for those. */
import { createPublicKey, generateKeyPair, type KeyObject, X509Certificate } from "node:crypto";
import { promisify } from "node:util";
import { type Command, Option } from "commander";
import type { Merchant, WalletSettings } from "../orders/merchant.ts";
import { makeWalletKeyAdministration } from "../storage/wallets.ts";
import {
  listWellKnownFiles,
  putWellKnownFile,
  removeWellKnownFile,
} from "../storage/well-known-files.ts";
import { isDomainFileName } from "../values/ids.ts";
import { isCountry } from "../values/iso-codes.ts";
import { messageOf, Problem } from "../values/problem.ts";
import { Secret } from "../values/secret.ts";
import type { KeyUse } from "../wallets/wallet-trust.ts";
import { addCommands, type Output, type Session } from "./command.ts";
import { readInput } from "./input-file.ts";
import { type Installation, openVault, readConfiguration } from "./installation.ts";
import { pemOf } from "./merchant.ts";
import { findMerchant } from "./merchant-set.ts";

const dayMs = 86_400_000;
/** The operator is warned from this time before a certificate expires. */
const warnDays = 30;

const options = [
  new Option("--walleta-merchant <id>", "merchant identifier at walleta; none removes the wallet"),
  new Option(
    "--walleta-country <code>",
    "where the merchant is, as two letters, or none: for the payment page",
  ),
  new Option(
    "--walletb-recipient <id>",
    "recipient at walletb: merchant:<id> or gateway:<id>; none removes the wallet",
  ),
  new Option(
    "--walletb-merchant <id>",
    "the merchant's id among the gateway's, or none (default: login)",
  ),
];

export function addWalletCommands(wallet: Command): void {
  addCommands(wallet, [["set <login>", "set a merchant's identifiers", setWallets, options]]);
  const files = wallet
    .command("domain-file")
    .description("files by which wallets check the domain");
  // biome-ignore format: a table
  addCommands(files, [
    ["set <name> <file>", "serve a wallet's file at /.well-known/<name>", setDomainFile],
    ["list",              "list the files that are served",              listDomainFiles],
    ["remove <name>",     "serve it no longer",                          removeDomainFile],
  ]);
  const key = wallet.command("key").description("the keys that wallets encrypt for");
  // biome-ignore format: a table
  addCommands(key, [
    ["make <login> <use>",             "make a key; prints the certificate request or public key for the wallet; the use is walleta, walletb or walleta-identity", makeWalletKey],
    ["certify <id> <file>",            "store the certificate that walleta has issued for a key",                 certifyWalletKey],
    ["list",                           "list all keys with the expiry of their certificates",                     listWalletKeys],
    ["remove <id>",                    "remove a key; payment data encrypted for it can no longer be decrypted",  removeWalletKey],
  ]);
}

type WalletOptions = {
  readonly walletaMerchant?: string;
  readonly walletaCountry?: string;
  readonly walletbRecipient?: string;
  readonly walletbMerchant?: string;
};

async function setWallets(session: Session, login: string, given: WalletOptions): Promise<Output> {
  const merchant = findMerchant(await readConfiguration(session), login);
  if (merchant instanceof Problem) return merchant;
  const wallets = readSettings(given, merchant.settings.wallets);
  if (wallets instanceof Problem) return wallets;
  await session.administration.setMerchant(merchant.id, { ...merchant.settings, wallets });
  return { merchant: login, ...wallets.walleta, ...wallets.walletb };
}

export function readSettings(
  given: WalletOptions,
  { walleta, walletb }: WalletSettings = {},
): WalletSettings | Problem {
  const recipientId = meant(given.walletbRecipient, walletb?.recipientId);
  const gatewayMerchantId = meant(given.walletbMerchant, walletb?.gatewayMerchantId);
  const merchantIdentifier = meant(given.walletaMerchant, walleta?.merchantIdentifier);
  const country = meant(given.walletaCountry, walleta?.country)?.toUpperCase();
  if (recipientId !== undefined && !/^(merchant|gateway):\S{1,100}$/.test(recipientId)) {
    return new Problem("--walletb-recipient is merchant:<id> or gateway:<id>.");
  }
  if (recipientId === undefined && isSet(given.walletbMerchant)) {
    return new Problem("--walletb-merchant also needs --walletb-recipient.");
  }
  if (country !== undefined && !isCountry(country)) {
    return new Problem("--walleta-country is a country's two letters.");
  }
  if (merchantIdentifier === undefined && isSet(given.walletaCountry)) {
    return new Problem("--walleta-country also needs --walleta-merchant.");
  }
  const versions = walletb?.versions;
  return {
    ...(merchantIdentifier !== undefined && {
      walleta: { merchantIdentifier, ...(country !== undefined && { country }) },
    }),
    ...(recipientId !== undefined && {
      walletb: {
        recipientId,
        ...(gatewayMerchantId !== undefined && { gatewayMerchantId }),
        ...(versions !== undefined && { versions }),
      },
    }),
  };
}

const isSet = (text: string | undefined) => text !== undefined && text !== "none";

/** What is given, or what is known; the word removes it. */
function meant(text: string | undefined, known: string | undefined): string | undefined {
  return text === "none" ? undefined : (text ?? known);
}

async function makeWalletKey(session: Session, login: string, wallet: string): Promise<Output> {
  const merchant = findMerchant(await readConfiguration(session), login);
  if (merchant instanceof Problem) return merchant;
  const use = keyUses.find((each) => each === wallet);
  if (use === undefined) return new Problem(`The use is one of ${keyUses.join(", ")}.`);
  return addWalletKey(session, merchant, use);
}

const makePair = promisify(generateKeyPair);
const keyUses: readonly KeyUse[] = ["walleta", "walletb", "walleta-identity"];

/** Answers with what the wallet needs: a certificate request, or the public key. */
export async function addWalletKey(
  installation: Installation,
  { id: merchantId, login }: Merchant,
  wallet: KeyUse,
): Promise<{ readonly id: string; readonly request?: string; readonly publicKey?: string }> {
  const keys = await openWalletKeys(installation);
  // walleta issues certificates of identity for RSA keys alone. Payments go on meanwhile.
  const { privateKey, publicKey } =
    wallet === "walleta-identity"
      ? await makePair("rsa", { modulusLength: 2048 })
      : await makePair("ec", { namedCurve: "P-256" });
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const key = { merchantId, wallet, privateKey: new Secret(pem), publicKey: pemOf(publicKey) };
  const id = await keys.add(key);
  if (wallet !== "walletb") return { id, request: await makeCertificateRequest(privateKey, login) };
  return { id, publicKey: pointOf(publicKey) };
}

export async function openWalletKeys(installation: Installation) {
  const { sealSecret } = await openVault(installation);
  const { audit, database } = installation;
  return makeWalletKeyAdministration(audit, database.query, sealSecret);
}

/** A PKCS #10 request for a P-256 or RSA key, in PEM. */
export async function makeCertificateRequest(privateKey: KeyObject, name: string): Promise<string> {
  // Loading takes a tenth of a second, and no other command needs them.
  const { AttributeTypeAndValue, CertificationRequest } = await import("pkijs");
  const { Utf8String } = await import("asn1js");
  const algorithm =
    privateKey.asymmetricKeyType === "rsa"
      ? { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" }
      : { name: "ECDSA", namedCurve: "P-256" };
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

/** The last 65 bytes of the structure are the point itself, which is what walletb needs. */
export function pointOf(publicKey: KeyObject): string {
  return publicKey.export({ type: "spki", format: "der" }).subarray(-65).toString("base64");
}

async function certifyWalletKey(session: Session, id: string, file: string): Promise<Output> {
  const keys = await openWalletKeys(session);
  const key = (await keys.list()).find((each) => each.id === id && each.wallet !== "walletb");
  if (key === undefined) {
    return new Problem(`There is no walleta key ${id}: see \`gw wallet key list\`.`);
  }
  const certificate = await readCertificate(session, file);
  if (certificate instanceof Problem) return certificate;
  if (pemOf(certificate.publicKey) !== key.publicKey) {
    return new Problem(`${file} is the certificate of another key.`);
  }
  const expiresAt = Date.parse(certificate.validTo);
  await keys.certify(id, certificate.toString(), expiresAt);
  return { id, expires: new Date(expiresAt).toISOString().slice(0, 10) };
}

async function readCertificate(
  { input }: Session,
  file: string,
): Promise<X509Certificate | Problem> {
  try {
    return new X509Certificate(await readInput(input, file));
  } catch (error) {
    return new Problem(`${file} is no certificate: ${messageOf(error)}.`);
  }
}

async function listWalletKeys(session: Session): Promise<Output> {
  const { merchants } = await readConfiguration(session);
  const logins = new Map(merchants.map(({ id, login }) => [id, login]));
  const keys = await (await openWalletKeys(session)).list();
  return keys.map(({ id, merchantId, wallet, createdAt, certificate, expiresAt }) => ({
    id,
    merchant: logins.get(merchantId) ?? merchantId,
    wallet,
    made: createdAt,
    certificate: wallet === "walletb" ? "not needed" : certificate ? "yes" : "missing",
    expires: expiresAt === null ? "" : `${expiresAt}${warningOf(expiresAt)}`,
  }));
}

function warningOf(expiresAt: string): string {
  const days = Math.floor((Date.parse(expiresAt) - Date.now()) / dayMs);
  if (days < 0) return " (expired)";
  return days <= warnDays ? ` (in ${days} days: make another)` : "";
}

async function removeWalletKey(session: Session, id: string): Promise<Output> {
  const keys = await openWalletKeys(session);
  if (/^\d{1,18}$/.test(id) && (await keys.remove(id))) return { removed: id };
  return new Problem(`There is no key ${id}: see \`gw wallet key list\`.`);
}

const fileBytesMax = 65_536;

async function setDomainFile(
  { audit, input }: Session,
  name: string,
  file: string,
): Promise<Output> {
  if (!isDomainFileName(name)) {
    return new Problem("The name is the part of the wallet's path after /.well-known/.");
  }
  const content = await readInput(input, file).catch(() => undefined);
  if (content === undefined) return new Problem(`${file} cannot be read.`);
  if (content.length > fileBytesMax) return new Problem(`${file} is longer than 64 KiB.`);
  await putWellKnownFile(audit, name, content);
  return { path: `/.well-known/${name}` };
}

async function listDomainFiles({ database }: Session): Promise<Output> {
  const files = await listWellKnownFiles(database.query);
  return files.map(({ name, bytes }) => ({ name, path: `/.well-known/${name}`, bytes }));
}

async function removeDomainFile({ audit }: Session, name: string): Promise<Output> {
  if (await removeWellKnownFile(audit, name)) return { removed: name };
  return new Problem(`There is no file ${name}.`);
}
