/**
 * `gw merchant`: creates, lists, shows and changes merchants, and the public keys of their OAuth
 * signatures.
 */
import { createPublicKey, hash, type KeyObject, X509Certificate } from "node:crypto";
import { type Command, Option } from "commander";
import type { MerchantSettings } from "../orders/merchant.ts";
import { mainCell } from "../storage/cells.ts";
import { Problem } from "../values/problem.ts";
import { addCommands, type Output, type Session } from "./command.ts";
import { addControlKeyCommands, describeKeys } from "./control-key.ts";
import { findGate } from "./gate.ts";
import { readInput } from "./input-file.ts";
import { openVault, readConfiguration } from "./installation.ts";
import {
  createMerchantSet,
  demonstrationShop,
  endpointsOf,
  findMerchant,
  findSandboxGates,
  type MerchantSet,
  merchantSetOf,
} from "./merchant-set.ts";
import {
  type GivenOptions,
  orNone,
  readFrom,
  readSettings,
  readSwitch,
  type SettingOption,
  setting,
} from "./options.ts";
import { shopNameSetting } from "./page-settings.ts";

const loginForm = /^[A-Za-z0-9._-]{1,20}$/;
const bitsMin = 2048;

export function addMerchantCommands(merchant: Command): void {
  const name = new Option("--name <text>", "to distinguish it from the others");
  const create = [
    new Option("--cell <name>", "where its orders will be; the main cell if not given"),
    new Option("--gate <name>", "the gate of its first endpoints; in staging the sandbox bank's"),
    shopNameSetting.option,
    new Option("--no-endpoints", "create the merchant alone"),
    new Option("--no-screening", "in production, without the rules against card testing"),
  ];
  const reveal = new Option("--reveal", "with the control keys in the clear; it is in the audit");
  // biome-ignore format: a table
  addCommands(merchant, [
    ["create <login>",  "create a merchant, with a set of endpoints through one gate; prints its control key", createMerchant, create],
    ["list",            "list all merchants",                                              listMerchants],
    ["show <login>",    "show a merchant with its endpoints and groups",                   showMerchant, [reveal]],
    ["set <login>",     "change a merchant's settings",                                    setMerchant, merchantTable.map(({ option }) => option)],
    ["disable <login>", "refuse all requests of a merchant but those for the status",      (session: Session, login: string) => enableMerchant(session, login, false)],
    ["enable <login>",  "serve a merchant again",                                          (session: Session, login: string) => enableMerchant(session, login, true)],
  ]);
  addControlKeyCommands(merchant);
  const key = merchant.command("key").description("public keys of a merchant's OAuth signatures");
  // biome-ignore format: a table
  addCommands(key, [
    ["add <login> <file.pem>", "add an RSA public key or certificate; the others stay valid", addKey, [name]],
    ["list <login>",           "list the accepted keys",                                      listKeys],
    ["remove <login> <key>",   "no longer accept a key",                                      removeKey],
  ]);
}

async function createMerchant(
  session: Session,
  login: string,
  { cell = mainCell, gate, shopName, endpoints, screening }: CreateOptions,
): Promise<Output> {
  if (!session.cells.names().includes(cell)) {
    return new Problem(`There is no cell ${cell}: see \`gw cell list\`.`);
  }
  const fault = findLoginFault(login);
  if (fault !== undefined) return fault;
  const configuration = await readConfiguration(session);
  if (!(findMerchant(configuration, login) instanceof Problem)) {
    return new Problem(`There is a merchant ${login} already: choose another login.`);
  }
  const isStaging = session.config.environment === "staging";
  const usualName = isStaging ? demonstrationShop : "none";
  const shop = readSettings([shopNameSetting], { shopName: shopName ?? usualName }, {});
  if (shop instanceof Problem) return shop;
  const named = gate === undefined ? undefined : findGate(gate, configuration);
  if (named instanceof Problem) return named;
  const gates = named ? { sandbox: named.id } : await findSandboxGates(session.database);
  const chosen = endpoints && gates ? { gates, currencies: named?.settings.currencies } : {};
  const vault = await openVault(session);
  const made = { login, cell, ...chosen, ...shop, isScreened: screening && !isStaging };
  const set = await createMerchantSet(session.audit, vault, made);
  return session.json ? set : describe(set, { "control key": set.controlKey });
}

export function findLoginFault(login: string): Problem | undefined {
  if (loginForm.test(login)) return undefined;
  return new Problem("A login is 1 to 20 letters, digits, dots, dashes or underscores.");
}

type CreateOptions = {
  readonly cell?: string;
  readonly gate?: string;
  readonly shopName?: string;
  readonly endpoints: boolean;
  readonly screening: boolean;
};

async function enableMerchant(session: Session, login: string, enabled: boolean): Promise<Output> {
  const merchant = findMerchant(await readConfiguration(session), login);
  if (merchant instanceof Problem) return merchant;
  await session.administration.enableMerchant(merchant.id, enabled);
  return { login, state: enabled ? "on" : "off" };
}

async function listMerchants(session: Session): Promise<Output> {
  const configuration = await readConfiguration(session);
  return configuration.merchants.map(({ id, login, name, enabled }) => {
    const endpoints = endpointsOf({ id }, configuration).length;
    return { login, name, id, endpoints, state: enabled ? "on" : "off" };
  });
}

async function showMerchant(
  session: Session,
  login: string,
  { reveal = false }: { readonly reveal?: boolean },
): Promise<Output> {
  const configuration = await readConfiguration(session);
  const merchant = findMerchant(configuration, login);
  if (merchant instanceof Problem) return merchant;
  const keys = await describeKeys(session, merchant);
  const { cell, enabled, settings } = merchant;
  const shown = { state: enabled ? "on" : "off", cell, ...keys };
  if (reveal) {
    await session.audit.write({ action: "control-key reveal", subject: `merchant ${login}` });
  }
  const { controlKey, ...set } = merchantSetOf(configuration, merchant);
  const old = merchant.oldControlKey?.reveal();
  const clear = reveal ? { controlKey, ...(old && { oldControlKey: old }) } : {};
  if (session.json) return { ...set, ...shown, settings, ...clear };
  return describe(set, { ...shown, ...clear });
}

function describe({ login, endpoints, group }: Omit<MerchantSet, "controlKey">, more: object) {
  const named = Object.entries(endpoints).map(([name, id]) => [`endpoint ${name}`, id]);
  return { login, ...more, ...Object.fromEntries(named), group };
}

// biome-ignore format: a table
export const merchantTable: readonly SettingOption<MerchantSettings>[] = [
  setting<MerchantSettings, "commissions">("--commissions <on|off>", "show fees to the merchant", "commissions", readSwitch),
  setting<MerchantSettings, "cardKeepDays">("--card-keep-days <days|none>", "how long card numbers of paid orders are stored, from 31", "cardKeepDays", orNone(readFrom(31))),
  setting<MerchantSettings, "unpaidCardKeepDays">("--unpaid-card-keep-days <days|none>", "the same for orders that were not paid, from 1", "unpaidCardKeepDays", orNone(readFrom(1))),
  setting<MerchantSettings, "decryptedWallets">("--decrypted-wallets <on|off>", "accept wallets' payment data that the merchant has decrypted", "decryptedWallets", readSwitch),
];

async function setMerchant(session: Session, login: string, given: GivenOptions): Promise<Output> {
  const merchant = findMerchant(await readConfiguration(session), login);
  if (merchant instanceof Problem) return merchant;
  if (Object.keys(given).length === 0) {
    return new Problem("Nothing to change: see `gw merchant set --help`.");
  }
  const settings = readSettings(merchantTable, given, merchant.settings);
  if (settings instanceof Problem) return settings;
  await session.administration.setMerchant(merchant.id, settings);
  return { login, ...given };
}

async function addKey(
  session: Session,
  login: string,
  file: string,
  { name = "" }: { readonly name?: string },
): Promise<Output> {
  const merchant = findMerchant(await readConfiguration(session), login);
  if (merchant instanceof Problem) return merchant;
  const text = await readInput(session.input, file).catch(() => undefined);
  if (text === undefined) return new Problem(`${file} cannot be read.`);
  const key = readPublicKey(text);
  if (key instanceof Problem) return key;
  const known = merchant.oauthKeys.find(({ publicKey }) => publicKey.equals(key));
  if (known !== undefined) {
    return new Problem(`${login} has this key already: it is key ${known.id}.`);
  }
  const id = await session.administration.addMerchantKey(merchant.id, name, pemOf(key));
  return { login, ...describeKey(id, name, key) };
}

async function listKeys(session: Session, login: string): Promise<Output> {
  const merchant = findMerchant(await readConfiguration(session), login);
  if (merchant instanceof Problem) return merchant;
  const { oauthKeys } = merchant;
  if (oauthKeys.length === 0 && !session.json) return `${login} has no key.`;
  return oauthKeys.map(({ id, name, publicKey }) => describeKey(id, name, publicKey));
}

async function removeKey(session: Session, login: string, id: string): Promise<Output> {
  const merchant = findMerchant(await readConfiguration(session), login);
  if (merchant instanceof Problem) return merchant;
  if (!merchant.oauthKeys.some((key) => key.id === id)) {
    return new Problem(`${login} has no key ${id}: see \`gw merchant key list ${login}\`.`);
  }
  await session.administration.removeMerchantKey(merchant.id, id);
  return { login, removed: id, left: merchant.oauthKeys.length - 1 };
}

/** `sha256` is what `openssl pkey -pubin -outform DER | sha256sum` prints. */
function describeKey(id: string, name: string, key: KeyObject) {
  const der = key.export({ format: "der", type: "spki" });
  return { key: id, name, bits: bitsOf(key), sha256: hash("sha256", der) };
}

/** As PEM: SPKI, PKCS #1 or an X.509 certificate. A private key is refused. */
export function readPublicKey(text: string): KeyObject | Problem {
  if (/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text)) {
    return new Problem(
      "This is a private key, which only the merchant should have. Make the public one from it " +
        "with `openssl rsa -in <file> -pubout`, and consider whether anybody else has seen it.",
    );
  }
  const key = parseKey(text);
  if (key === undefined) {
    return new Problem("This is neither a public key nor a certificate in PEM.");
  }
  if (key.asymmetricKeyType !== "rsa") return new Problem("This is no RSA key.");
  if (bitsOf(key) >= bitsMin) return key;
  return new Problem(`The key has ${bitsOf(key)} bits: it must have at least ${bitsMin}.`);
}

function parseKey(text: string): KeyObject | undefined {
  try {
    const isCertificate = text.includes("-----BEGIN CERTIFICATE-----");
    return isCertificate ? new X509Certificate(text).publicKey : createPublicKey(text);
  } catch {
    return undefined;
  }
}

function bitsOf(key: KeyObject): number {
  return key.asymmetricKeyDetails?.modulusLength ?? 0;
}

export function pemOf(key: KeyObject): string {
  return key.export({ format: "pem", type: "spki" }).toString();
}
