/** Merchants' identifiers at wallets, the keys for these wallets, and files that prove a domain. */
import { createPublicKey, generateKeyPair, type KeyObject, X509Certificate } from "node:crypto";
import { promisify } from "node:util";
import type { Merchant, WalletSettings } from "../../orders/merchant.ts";
import {
  listWalletKeys,
  listWellKnownFiles,
  makeWalletKeyAdministration,
  putWellKnownFile,
  removeWellKnownFile,
  vacuumWalletKeys,
} from "../../storage/cards/wallets.ts";
import { isDomainFileName } from "../../values/ids.ts";
import { isCountry } from "../../values/iso-codes.ts";
import { messageOf, Problem } from "../../values/problem.ts";
import { Secret } from "../../values/secret.ts";
import type { KeyUse } from "../../wallets/wallet-trust.ts";
import { type Action, action } from "../action.ts";
import { type Content, option, word } from "../field.ts";
import { login, loginsOf, onMerchant, ownerByLogin } from "../find.ts";
import { pemOf } from "../readers.ts";
import {
  type Opened,
  openVault,
  readConfiguration,
  readContent,
  type Session,
} from "../session.ts";

const dayMs = 86_400_000;
/** The operator is warned this number of days before a certificate ends. */
const warnDays = 30;
const keyUses: readonly KeyUse[] = ["walleta", "walletb", "walleta-identity"];

const fileName = word("text", "name", [
  "the part of the wallet's path after /.well-known/",
  "der Teil der Adresse nach /.well-known/, den das Wallet nennt",
]);
const keyId = word("text", "id", ["the number of the key", "die Nummer des Schlüssels"]);

export const walletActions: readonly Action[] = [
  action("change", "change_acquiring", {
    name: "wallet set",
    does: ["set a merchant's identifiers", "die Kennungen eines Händlers setzen"],
    fields: {
      login,
      walletaMerchant: option("text", "id", [
        "merchant identifier at walleta; none removes the wallet",
        "Kennung des Händlers bei Wallet A; none entfernt das Wallet",
      ]),
      walletaCountry: option("text", "code", [
        "where the merchant is, as two letters, or none: for the payment page",
        "das Land des Händlers, in zwei Buchstaben, oder none: für die Zahlungsseite",
      ]),
      walletbRecipient: option("text", "id", [
        "recipient at walletb: merchant:<id> or gateway:<id>; none removes the wallet",
        "Empfänger bei Wallet B: merchant:<id> oder gateway:<id>; none entfernt das Wallet",
      ]),
      walletbMerchant: option("text", "id", [
        "the merchant's id among the gateway's, or none (default: login)",
        "Nummer des Händlers beim Gateway, oder none (üblich: der Login)",
      ]),
    },
    perform: onMerchant(async (merchant, session, given) => {
      const wallets = readSettings(given, merchant.settings.wallets);
      if (wallets instanceof Problem) return wallets;
      const settings = { ...merchant.settings, wallets };
      await session.administration.setMerchant(merchant.id, settings, "wallet set");
      return { merchant: merchant.login, ...wallets.walleta, ...wallets.walletb };
    }),
  }),
  action("change", "change_acquiring", {
    name: "wallet domain-file set",
    does: [
      "serve a wallet's file at /.well-known/<name>",
      "die Datei eines Wallets unter /.well-known/<name> ausliefern",
    ],
    fields: { name: fileName, file: word("file", "file", ["the file", "die Datei"]) },
    async perform({ audit }, { name, file: content }) {
      if (!isDomainFileName(name)) {
        return new Problem("The name is the part of the wallet's path after /.well-known/.");
      }
      const text = await readContent(content);
      if (text.length > fileBytesMax) return new Problem(`${content.name} is longer than 64 KiB.`);
      await putWellKnownFile(audit, name, text);
      return { path: `/.well-known/${name}` };
    },
  }),
  action("look", "see_configuration", {
    name: "wallet domain-file list",
    does: ["list the files that are served", "die ausgelieferten Dateien auflisten"],
    async perform({ database }) {
      const files = await listWellKnownFiles(database.query);
      return files.map(({ name, bytes }) => ({ name, path: `/.well-known/${name}`, bytes }));
    },
  }),
  action("change", "change_acquiring", {
    name: "wallet domain-file remove",
    does: ["stop serving a file", "eine Datei nicht mehr ausliefern"],
    fields: { name: fileName },
    async perform({ audit }, { name }) {
      if (await removeWellKnownFile(audit, name)) return { removed: name };
      return new Problem(`There is no file ${name}.`);
    },
  }),
  action("change", "manage_keys", {
    name: "wallet key make",
    does: [
      "make a key; prints the certificate request or public key for the wallet",
      "einen Schlüssel anlegen; zeigt Zertifikatsantrag oder öffentlichen Schlüssel fürs Wallet",
    ],
    findOwner: ownerByLogin,
    fields: {
      login,
      use: word(keyUses, "use", [
        `what the wallet uses it for: ${keyUses.join(", ")}`,
        `wofür ihn das Wallet verwendet: ${keyUses.join(", ")}`,
      ]),
    },
    perform: onMerchant((merchant, session, { use }) => {
      return addWalletKey(session, merchant, use);
    }),
  }),
  action("change", "manage_keys", {
    name: "wallet key certify",
    does: [
      "store the certificate that walleta has issued for a key",
      "das Zertifikat speichern, das Wallet A für einen Schlüssel ausgestellt hat",
    ],
    findOwner: ownerOfKey,
    fields: {
      id: keyId,
      file: word("file", "file", ["the certificate, in PEM", "das Zertifikat, als PEM"]),
    },
    async perform(session, { id, file: content }) {
      const keys = await openWalletKeys(session);
      const key = (await keys.list()).find((each) => each.id === id && each.wallet !== "walletb");
      if (key === undefined) return new Problem(`There is no walleta key ${id}.`);
      const certificate = await readCertificate(content);
      if (certificate instanceof Problem) return certificate;
      if (pemOf(certificate.publicKey) !== key.publicKey) {
        return new Problem(`${content.name} is the certificate of another key.`);
      }
      const expiresAt = Date.parse(certificate.validTo);
      await keys.certify(id, certificate.toString(), expiresAt);
      return { id, expires: new Date(expiresAt).toISOString().slice(0, 10) };
    },
  }),
  action("keys", "see_configuration", {
    name: "wallet key list",
    does: [
      "list all keys with the expiry of their certificates",
      "alle Schlüssel mit dem Ablauf ihrer Zertifikate auflisten",
    ],
    async perform(session) {
      const logins = loginsOf(await readConfiguration(session));
      const keys = await listWalletKeys(session.database.query);
      return keys.map(({ id, merchantId, wallet, createdAt, certificate, expiresAt }) => ({
        id,
        merchant: logins.get(merchantId) ?? merchantId,
        wallet,
        made: createdAt,
        certificate: wallet === "walletb" ? "not needed" : certificate ? "yes" : "missing",
        expires: expiresAt === null ? "" : `${expiresAt}${warningOf(expiresAt)}`,
      }));
    },
  }),
  action("change", "manage_keys", {
    name: "wallet key remove",
    does: [
      "remove a key; payment data encrypted for it can no longer be decrypted",
      "einen Schlüssel entfernen; für ihn verschlüsselte Zahlungsdaten sind nicht mehr lesbar",
    ],
    findOwner: ownerOfKey,
    fields: { id: keyId },
    async perform(session, { id }) {
      const keys = await openWalletKeys(session);
      const isRemoved = /^\d{1,18}$/.test(id) && (await keys.remove(id));
      if (!isRemoved) return new Problem(`There is no key ${id}.`);
      if (!session.isTrial) await vacuumWalletKeys(session.database.query);
      return { removed: id };
    },
  }),
];

async function ownerOfKey(
  { database }: Pick<Session, "database">,
  { id }: { readonly id: string },
) {
  const keys = await listWalletKeys(database.query);
  return keys.find((each) => each.id === id)?.merchantId;
}

type Identifiers = Partial<
  Record<
    "walletaMerchant" | "walletaCountry" | "walletbRecipient" | "walletbMerchant",
    string | undefined
  >
>;

export function readSettings(
  given: Identifiers,
  { walleta, walletb }: WalletSettings = {},
): WalletSettings | Problem {
  const recipientId = meant(given.walletbRecipient, walletb?.recipientId);
  const gatewayMerchantId = meant(given.walletbMerchant, walletb?.gatewayMerchantId);
  const merchantIdentifier = meant(given.walletaMerchant, walleta?.merchantIdentifier);
  const country = meant(given.walletaCountry, walleta?.country)?.toUpperCase();
  if (recipientId !== undefined && !/^(merchant|gateway):\S{1,100}$/.test(recipientId)) {
    return new Problem("walletb-recipient is merchant:<id> or gateway:<id>.");
  }
  if (recipientId === undefined && isSet(given.walletbMerchant)) {
    return new Problem("walletb-merchant also needs walletb-recipient.");
  }
  if (country !== undefined && !isCountry(country)) {
    return new Problem("walleta-country is a country's two letters.");
  }
  if (merchantIdentifier === undefined && isSet(given.walletaCountry)) {
    return new Problem("walleta-country also needs walleta-merchant.");
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

/** The word `none` removes the value. If the field is not given, the stored value stays. */
function meant(text: string | undefined, known: string | undefined): string | undefined {
  return text === "none" ? undefined : (text ?? known);
}

const makePair = promisify(generateKeyPair);

/** Returns what the wallet needs: a certificate request, or the public key. */
export async function addWalletKey(
  opened: KeyHolders,
  { id: merchantId, login }: Merchant,
  wallet: KeyUse,
): Promise<{ readonly id: string; readonly request?: string; readonly publicKey?: string }> {
  const keys = await openWalletKeys(opened);
  // walleta certifies RSA keys only. Another thread generates the key, so that payments go on.
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

type KeyHolders = Pick<Opened, "audit" | "cells" | "database" | "masterKey">;

export async function openWalletKeys(opened: KeyHolders) {
  const { sealSecret } = await openVault(opened);
  const { audit, database } = opened;
  return makeWalletKeyAdministration(audit, database.query, sealSecret);
}

/** Makes a PKCS #10 request in PEM for a P-256 or RSA key. */
export async function makeCertificateRequest(privateKey: KeyObject, name: string): Promise<string> {
  // Loading these libraries takes a tenth of a second, and no other command needs them.
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

/** Returns the key as the point that walletb needs: the last 65 bytes of its SPKI structure. */
export function pointOf(publicKey: KeyObject): string {
  return publicKey.export({ type: "spki", format: "der" }).subarray(-65).toString("base64");
}

async function readCertificate(content: Content): Promise<X509Certificate | Problem> {
  const pem = await readContent(content);
  try {
    return new X509Certificate(pem);
  } catch (error) {
    return new Problem(`${content.name} is no certificate: ${messageOf(error)}.`);
  }
}

function warningOf(expiresAt: string): string {
  const days = Math.floor((Date.parse(expiresAt) - Date.now()) / dayMs);
  if (days < 0) return " (expired)";
  return days <= warnDays ? ` (in ${days} days: make another)` : "";
}

const fileBytesMax = 65_536;
