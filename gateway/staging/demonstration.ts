/**
 * The demonstration merchant: the gates and the directory server of the sandbox, the merchant
 * with its keys for OAuth and wallets, and `demo.json` with everything that a client needs.
 */
import { createPrivateKey, createPublicKey, generateKeyPair, X509Certificate } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { findMerchant } from "../administration/find.ts";
import { addWalletKey, openWalletKeys, pointOf } from "../administration/installation/wallets.ts";
import {
  binaryGate,
  createEndpoints,
  createMerchantSet,
  demonstrationLogin,
  demonstrationShop,
  iso93Gate,
  type MerchantSet,
  merchantSetOf,
  type SandboxGates,
  sandboxGate,
} from "../administration/merchants/merchant-set.ts";
import { pemOf } from "../administration/readers.ts";
import { openVault, readConfiguration } from "../administration/session.ts";
import type { Config } from "../config/config.ts";
import type { Installation } from "../installation/installation.ts";
import type { WalletSettings } from "../orders/merchant.ts";
import type { DocumentValues } from "../pages/documentation.ts";
import { type ListedWalletKey, putWellKnownFile } from "../storage/cards/wallets.ts";
import { mainCell } from "../storage/cells/cells.ts";
import { makeAdministration } from "../storage/configuration/administration.ts";
import { makeDirectoryAdministration } from "../storage/configuration/directories.ts";
import { findUser, makeUserAdministration } from "../storage/people/users.ts";
import type { MerchantId } from "../values/ids.ts";
import { Problem } from "../values/problem.ts";
import type { Role } from "../values/roles.ts";
import { Secret } from "../values/secret.ts";
import { hashPassword, newPassword } from "../vault/password.ts";

/**
 * Files in the data folder: the merchant's private key for OAuth, and its certificate at walleta.
 */
const oauthKeyFile = "oauth-demo.pem";
const walletaCertificateFile = "walleta-demo.pem";

export type SandboxAddress = {
  readonly url: string;
  readonly host: string;
  /** The host in the binary dialect. */
  readonly binaryHost?: string;
  /** The host in the dialect of ISO 8583:1993. */
  readonly iso93Host?: string;
  /** The directory server for 3-D Secure. */
  readonly directory?: string;
};

const sandboxSettings = {
  terminalId: "10000018",
  merchantCode: "TG0000000000001",
  nameAndPlace: "Tollgate Demonstration   Sandbox      US",
  categoryCode: "5732",
  countryCode: "840",
  acquirerId: "400001",
  descriptor: "TOLLGATE*DEMO",
  worksWithoutCvv: false,
  partialReversal: true,
  partialCapture: true,
  payouts: true,
  payoutRepeatHours: 24,
  sandbox: true,
};

export async function putSandboxGates(
  { audit }: Pick<Installation, "audit">,
  { host, binaryHost, iso93Host }: SandboxAddress,
): Promise<SandboxGates> {
  const { putGate } = makeAdministration(audit);
  const settingsOf = (address: string) => {
    const [name = "", port = ""] = address.split(":");
    return { ...sandboxSettings, host: name, port: Number(port) };
  };
  type Made = Omit<Parameters<typeof putGate>[0], "settings">;
  const put = (gate: Made, address: string) => putGate({ ...gate, settings: settingsOf(address) });
  const ascii = { name: sandboxGate, kind: "sandbox" } as const;
  const binary = { name: binaryGate, kind: "iso87_binary" } as const;
  const iso93 = { name: iso93Gate, kind: "iso93_ascii" } as const;
  return {
    sandbox: await put(ascii, host),
    binary: binaryHost === undefined ? undefined : await put(binary, binaryHost),
    iso93: iso93Host === undefined ? undefined : await put(iso93, iso93Host),
  };
}

/** Stores the directory server. The sandbox writes its certificates to the shared data folder. */
export async function putSandboxDirectory(
  { audit, database, config }: Installation,
  { directory }: SandboxAddress,
): Promise<void> {
  if (directory === undefined) return;
  const folder = join(resolve(config.dataDir), "bank", "tls");
  await makeDirectoryAdministration(audit, database.query).put({
    name: "sandbox",
    networks: [],
    settings: {
      url: `${directory}/emv3ds`,
      url102: `${directory}/threeds102`,
      certificateFile: join(folder, "gateway.pem"),
      keyFile: join(folder, "gateway.key"),
      authorityFile: join(folder, "directory-ca.pem"),
      resultsName: "Sandbox Directory Server",
      paresRootsFile: join(folder, "pares-root.pem"),
      referenceNumber: "3DS_LOA_SER_TOLLGATE_000001",
      operatorId: "10000000001",
      requestorId: "TOLLGATE-DEMONSTRATION",
      requestorName: "Tollgate Demonstration",
      requestorUrl: "https://shop.example",
      sandbox: true,
    },
  });
}

/** The shop that `npm run shop` starts has hosted fields in its pages. */
const offered = {
  shopName: demonstrationShop,
  payouts: true,
  embedOrigins: ["http://127.0.0.1:8070", "http://localhost:8070"],
};

/** An existing merchant gets the endpoints that it lacks. */
export async function makeDemonstration(
  installation: Installation,
  gates: SandboxGates,
  cell = mainCell,
): Promise<MerchantSet> {
  const { audit } = installation;
  const configuration = await readConfiguration(installation);
  const merchant = findMerchant(configuration, demonstrationLogin);
  if (merchant instanceof Problem) {
    const vault = await openVault(installation);
    const made = {
      login: demonstrationLogin,
      ...offered,
      gates,
      cell,
    };
    return createMerchantSet(audit, vault, made);
  }
  const set = merchantSetOf(configuration, merchant);
  const known = Object.keys(set.endpoints);
  const administration = makeAdministration(audit);
  const missing = { gates, known, ...offered };
  const added = await createEndpoints(administration, merchant.id, missing);
  return { ...set, endpoints: { ...set.endpoints, ...added } };
}

/** Makes the file of the private key, and adds its public key to the merchant, if missing. */
export async function makeDemonstrationKey(
  installation: Installation,
): Promise<Problem | undefined> {
  const file = join(resolve(installation.config.dataDir), oauthKeyFile);
  const pem = (await readFile(file, "utf8").catch(() => undefined)) ?? (await makeKeyFile(file));
  const publicKey = parsePublicKey(pem);
  if (publicKey === undefined) {
    return new Problem(`${file} is no private key: remove it, and another one is made.`);
  }
  const merchant = findMerchant(await readConfiguration(installation), demonstrationLogin);
  if (merchant instanceof Problem) return undefined;
  if (merchant.oauthKeys.some((known) => known.publicKey.equals(publicKey))) return undefined;
  const { addMerchantKey } = makeAdministration(installation.audit);
  await addMerchantKey(merchant.id, "demonstration", pemOf(publicKey));
  return undefined;
}

async function makeKeyFile(file: string): Promise<string> {
  const { privateKey } = await promisify(generateKeyPair)("rsa", { modulusLength: 2048 });
  const pem = privateKey.export({ format: "pem", type: "pkcs1" }).toString();
  await writeFile(file, pem, { mode: 0o600, flag: "wx" });
  return pem;
}

function parsePublicKey(pem: string) {
  try {
    return createPublicKey(createPrivateKey(pem));
  } catch {
    return undefined;
  }
}

/** These defaults apply until the operator sets others. */
const walletDefaults = {
  walleta: { merchantIdentifier: "merchant.tollgate.demo", country: "US" },
  walletb: { recipientId: "gateway:tollgate" },
};

/**
 * Sets up keys and identifiers at the sandbox, which plays the wallets too. This happens at every
 * start, because the sandbox may be a new one. Its certificate is issued as the wallet itself does
 * it. Returns the part of `demo.json` about wallets.
 */
export async function prepareWallets(
  installation: Installation,
  login: string,
  sandboxUrl: string,
) {
  const merchant = findMerchant(await readConfiguration(installation), login);
  if (merchant instanceof Problem) return undefined;
  const settings: Required<WalletSettings> = { ...walletDefaults, ...merchant.settings.wallets };
  const { setMerchant } = makeAdministration(installation.audit);
  // Settings of the operator are kept.
  const decrypted = { decryptedWallets: true, ...merchant.settings };
  await setMerchant(merchant.id, { ...decrypted, wallets: settings });

  const keys = await openWalletKeys(installation);
  const listOwn = async () =>
    (await keys.list()).filter(({ merchantId }) => merchantId === merchant.id);
  const known = await listOwn();
  if (!known.some(({ wallet }) => wallet === "walletb")) {
    await addWalletKey(installation, merchant, "walletb");
  }
  const { merchantIdentifier } = settings.walleta;
  if (!known.some(isCertified) || !(await isKnownTo(sandboxUrl, merchantIdentifier))) {
    const { id, request = "" } = await addWalletKey(installation, merchant, "walleta");
    const path = `/wallets/walleta/certificate?${new URLSearchParams({ merchantIdentifier })}`;
    const certificate = await post(`${sandboxUrl}${path}`, request, "application/x-pem-file");
    await keys.certify(id, certificate, Date.parse(new X509Certificate(certificate).validTo));
  }
  // The newest key of each wallet is used.
  const own = await listOwn();
  const certificate = own.findLast(isCertified)?.certificate ?? "";
  await writeFile(join(resolve(installation.config.dataDir), walletaCertificateFile), certificate);
  const { publicKey = "" } = own.findLast(({ wallet }) => wallet === "walletb") ?? {};
  const point = pointOf(createPublicKey(publicKey));
  const { recipientId, gatewayMerchantId = login } = settings.walletb;
  const recipient = JSON.stringify({ publicKey: point, recipientId, gatewayMerchantId });
  await post(`${sandboxUrl}/wallets/walletb/recipient`, recipient, "application/json");
  return { walletaCertificateFile, walletbPublicKey: point, walletbRecipientId: recipientId };
}

/**
 * Sets up what walleta's button on payment pages needs once the gateway listens: an identity
 * certificate of this sandbox, and the file that it expects at the gateway's domain.
 */
export async function preparePageWallets(
  installation: Installation,
  login: string,
  { baseUrl, sandbox }: { readonly baseUrl: string; readonly sandbox: { readonly url: string } },
): Promise<void> {
  const merchant = findMerchant(await readConfiguration(installation), login);
  if (merchant instanceof Problem) return;
  const { merchantIdentifier } = merchant.settings.wallets?.walleta ?? walletDefaults.walleta;
  const wallets = `${sandbox.url}/wallets/walleta`;
  const keys = await openWalletKeys(installation);
  const folder = join(resolve(installation.config.dataDir), "bank", "wallets");
  const issuer = new X509Certificate(await readFile(join(folder, "walleta-intermediate.pem")));
  const isIdentity = ({ merchantId, wallet, certificate }: ListedWalletKey) =>
    merchantId === merchant.id &&
    wallet === "walleta-identity" &&
    certificate !== null &&
    new X509Certificate(certificate).verify(issuer.publicKey);
  if (!(await keys.list()).some(isIdentity)) {
    const { id, request = "" } = await addWalletKey(installation, merchant, "walleta-identity");
    const place = `${wallets}/identity?${new URLSearchParams({ merchantIdentifier })}`;
    const certificate = await post(place, request, "application/x-pem-file");
    await keys.certify(id, certificate, Date.parse(new X509Certificate(certificate).validTo));
  }
  const { origin: address, hostname: domain } = new URL(baseUrl);
  const domainRequest = JSON.stringify({ domain, address });
  const file = JSON.parse(await post(`${wallets}/domain`, domainRequest, "application/json"));
  await putWellKnownFile(installation.audit, file.name, file.content);
}

/** Returns whether the sandbox knows the recipient. A restarted sandbox knows none. */
async function isKnownTo(sandboxUrl: string, merchantIdentifier: string): Promise<boolean> {
  const answer = await fetch(`${sandboxUrl}/wallets`);
  const { walleta } = (await answer.json()) as { walleta: { recipient: string | null } };
  return walleta.recipient === merchantIdentifier;
}

function isCertified({ wallet, certificate }: ListedWalletKey): boolean {
  return wallet === "walleta" && certificate !== null;
}

async function post(url: string, body: string, contentType: string): Promise<string> {
  const headers = { "content-type": contentType };
  const answer = await fetch(url, { method: "POST", body, headers });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`the sandbox refused ${url}: ${answer.status} ${text}`);
  return text;
}

const portalLogins = { operator: "operator", merchant: "merchant" } as const;

/**
 * An operator and a user of the merchant for the portal. Their passwords are in `demo.json`: those
 * of an earlier start stay, unless the file is gone.
 */
export async function preparePortal(installation: Installation, login: string) {
  const merchant = findMerchant(await readConfiguration(installation), login);
  if (merchant instanceof Problem) return undefined;
  const { query } = installation.database;
  const users = makeUserAdministration(installation.audit);
  const earlier = await readFile(demoFileOf(installation.config), "utf8").then(
    (text) => JSON.parse(text).portal,
    () => undefined,
  );
  const prepare = async (who: keyof typeof portalLogins, role: Role, owner?: MerchantId) => {
    const name = portalLogins[who];
    const known = owner === undefined ? name : `${name}@${login}`;
    const isKnown = (await findUser(query, known)) !== undefined;
    const kept: unknown = earlier?.[who]?.password;
    if (isKnown && typeof kept === "string") return { login: known, password: kept };
    const password = newPassword();
    if (!isKnown) await users.add(name, role, owner);
    const stored = await hashPassword(new Secret(password));
    await users.setPassword(known, { stored, isTemporary: false });
    return { login: known, password };
  };
  return {
    operator: await prepare("operator", "admin"),
    merchant: await prepare("merchant", "merchant-admin", merchant.id),
  };
}

function demoFileOf({ dataDir }: Pick<Config, "dataDir">): string {
  return join(resolve(dataDir), "demo.json");
}

export type Demonstration = {
  readonly baseUrl: string;
  readonly set: MerchantSet;
  readonly sandbox: SandboxAddress;
  readonly wallets: Awaited<ReturnType<typeof prepareWallets>>;
  readonly portal: Awaited<ReturnType<typeof preparePortal>>;
};

export async function writeDemoFile(
  { config }: Installation,
  { baseUrl, set, sandbox, wallets, portal: logins }: Demonstration,
): Promise<string> {
  const { login, controlKey, endpoints, group } = set;
  const file = demoFileOf(config);
  const portal = { url: `${baseUrl}/portal/`, ...logins };
  const oauth = { consumerKey: login, privateKeyFile: oauthKeyFile };
  const merchant = { login, controlKey };
  const content = { baseUrl, merchant, oauth, wallets, endpoints, group, portal, bank: sandbox };
  await writeFile(file, `${JSON.stringify(content, undefined, 2)}\n`, { mode: 0o600 });
  return file;
}

/** Returns the values for the commands of the documentation, by the names of their variables. */
export async function readDocumentValues(config: Pick<Config, "dataDir">): Promise<DocumentValues> {
  const text = await readFile(demoFileOf(config), "utf8").catch(() => undefined);
  if (text === undefined) return {};
  const { baseUrl, merchant, oauth, endpoints, bank } = JSON.parse(text);
  return {
    GATEWAY: baseUrl,
    LOGIN: merchant.login,
    CONTROL_KEY: merchant.controlKey,
    ENDPOINT: endpoints.plain,
    SECURE_ENDPOINT: endpoints.secure,
    BANK: bank.url,
    KEY_FILE: join(resolve(config.dataDir), oauth.privateKeyFile),
  };
}
