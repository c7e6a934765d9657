/**
 * What staging starts with: the gates to the sandbox bank, the demonstration merchant, and
 * `demo.json`, which tells programs and people what to use.
 */

import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Installation } from "../cli/installation.ts";
import { openVault } from "../cli/installation.ts";
import {
  createEndpoints,
  createMerchantSet,
  type MerchantSet,
  type SandboxGates,
} from "../cli/merchant-set.ts";
import { makeAdministration } from "../storage/administration.ts";
import { loadConfiguration, loadGates } from "../storage/configuration.ts";
import { makeDirectoryAdministration } from "../storage/directories.ts";
import type { MerchantId } from "../values/ids.ts";
import type { Vault } from "../vault/vault.ts";
import type { DemonstrationWallets } from "./demonstration-wallets.ts";

export { prepareWallets } from "./demonstration-wallets.ts";
export { createMerchantSet, type MerchantSet, type SandboxGates };

export const demonstrationLogin = "demo";
/** The merchant's private key for OAuth, in the data folder. */
export const demonstrationKeyFile = "oauth-demo.pem";
export const sandboxGate = "sandbox";
const binaryGate = "sandbox-binary";

export type BankAddress = {
  readonly url: string;
  readonly host: string;
  /** Where the bank speaks its second dialect. */
  readonly binaryHost?: string;
  /** Its directory server for 3-D Secure. */
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
  sandbox: true,
};

/** The bank's ports may be others after a restart, so the gates are written anew each time. */
export async function putSandboxGates(
  { database }: Installation,
  { host, binaryHost }: BankAddress,
): Promise<SandboxGates> {
  const { putGate } = makeAdministration(database.query);
  const sandbox = await putGate({
    name: sandboxGate,
    kind: "sandbox",
    settings: { ...sandboxSettings, ...split(host) },
  });
  if (binaryHost === undefined) return { sandbox, binary: undefined };
  const binary = await putGate({
    name: binaryGate,
    kind: "iso87_binary",
    settings: { ...sandboxSettings, ...split(binaryHost) },
  });
  return { sandbox, binary };
}

/** The bank's certificates lie in the data folder that it shares with us. */
export async function putSandboxDirectory(
  { database, config }: Installation,
  { directory }: BankAddress,
): Promise<void> {
  if (directory === undefined) return;
  const folder = join(resolve(config.dataDir), "bank", "tls");
  await makeDirectoryAdministration(database.query).put({
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

/** As they were put last; nothing before the first start. */
export async function findSandboxGates({
  database,
}: Installation): Promise<SandboxGates | undefined> {
  const gates = await loadGates(database.query);
  const sandbox = gates.find(({ name }) => name === sandboxGate)?.id;
  const binary = gates.find(({ name }) => name === binaryGate)?.id;
  return sandbox === undefined ? undefined : { sandbox, binary };
}

/** One that an earlier version has made gets the endpoints that it lacks. */
export async function makeDemonstration(
  installation: Installation,
  gates: SandboxGates,
): Promise<MerchantSet> {
  const vault = await openVault(installation);
  const known = await findMerchantSet(installation, vault, demonstrationLogin);
  if (known === undefined) {
    return createMerchantSet(installation.database, vault, { login: demonstrationLogin, gates });
  }
  const added = await createEndpoints(
    makeAdministration(installation.database.query),
    known.merchantId,
    {
      gates,
      known: Object.keys(known.endpoints),
    },
  );
  return { ...known, endpoints: { ...known.endpoints, ...added } };
}

function split(address: string): { readonly host: string; readonly port: number } {
  const [host = "", port = ""] = address.split(":");
  return { host, port: Number(port) };
}

export async function writeDemoFile(
  installation: Installation,
  demonstration: {
    readonly baseUrl: string;
    readonly set: MerchantSet;
    readonly bank: BankAddress;
    readonly wallets: DemonstrationWallets | undefined;
  },
): Promise<string> {
  const { baseUrl, set, bank, wallets } = demonstration;
  const { login, controlKey, endpoints, group } = set;
  const file = join(resolve(installation.config.dataDir), "demo.json");
  const oauth = { consumerKey: login, privateKeyFile: demonstrationKeyFile };
  const merchant = { login, controlKey };
  const content = { baseUrl, merchant, oauth, wallets, endpoints, group, bank };
  await writeFile(file, `${JSON.stringify(content, undefined, 2)}\n`, { mode: 0o600 });
  return file;
}

/** A merchant as it was made, with its control key; nothing when there is no such merchant. */
export async function findMerchantSet(
  { database }: Installation,
  vault: Vault,
  login: string,
): Promise<(MerchantSet & { readonly merchantId: MerchantId }) | undefined> {
  const configuration = await loadConfiguration(database.query, vault.openSecret);
  const merchant = configuration.merchants.find((each) => each.login === login);
  if (merchant === undefined) return undefined;
  const own = [...configuration.endpoints.values()].filter(
    (endpoint) => endpoint.merchant.id === merchant.id,
  );
  const group = configuration.groups.find((each) => each.merchant.id === merchant.id);
  return {
    merchantId: merchant.id,
    login,
    controlKey: merchant.controlKey.reveal(),
    endpoints: Object.fromEntries(own.map(({ name, id }) => [name, id])),
    group: group?.id ?? "",
  };
}
