/**
 * What staging starts with: the gate to the sandbox bank, the demonstration merchant, and
 * `demo.json`, which tells programs and people what to use.
 */
import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { makeAdministration } from "../storage/administration.ts";
import { loadConfiguration } from "../storage/configuration.ts";
import { makeFindSealedCard, makeKeyStore } from "../storage/vault-tables.ts";
import type { GateId } from "../values/ids.ts";
import { openKeys } from "../vault/keys.ts";
import { makeVault, type Vault } from "../vault/vault.ts";
import type { House } from "./house.ts";
import { createMerchantSet, type MerchantSet } from "./merchant-set.ts";

export { createMerchantSet, type MerchantSet };

export const demonstrationLogin = "demo";
export const sandboxGate = "sandbox";

export type BankAddress = { readonly url: string; readonly host: string };

export async function openVault({ database, masterKey }: House): Promise<Vault> {
  const keys = await openKeys(masterKey, makeKeyStore(database.query));
  return makeVault(keys, makeFindSealedCard(database.query));
}

/** The bank's port may be another one after a restart, so the gate is written anew each time. */
export async function putSandboxGate({ database }: House, bank: BankAddress): Promise<GateId> {
  const [host = "", port = ""] = bank.host.split(":");
  return makeAdministration(database.query).putGate({
    name: sandboxGate,
    kind: "sandbox",
    settings: {
      host,
      port: Number(port),
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
    },
  });
}

export async function makeDemonstration(house: House, gateId: GateId): Promise<MerchantSet> {
  const vault = await openVault(house);
  const known = await findMerchantSet(house, vault, demonstrationLogin);
  return known ?? createMerchantSet(house.database, vault, { login: demonstrationLogin, gateId });
}

export async function writeDemoFile(
  house: House,
  demonstration: { baseUrl: string; set: MerchantSet; bank: BankAddress },
): Promise<string> {
  const { baseUrl, set, bank } = demonstration;
  const { login, controlKey, endpoints, group } = set;
  const file = join(resolve(house.config.dataDir), "demo.json");
  const content = { baseUrl, merchant: { login, controlKey }, endpoints, group, bank };
  await writeFile(file, `${JSON.stringify(content, undefined, 2)}\n`, { mode: 0o600 });
  return file;
}

/** A merchant as it was made, with its control key; nothing when there is no such merchant. */
export async function findMerchantSet(
  { database }: House,
  vault: Vault,
  login: string,
): Promise<MerchantSet | undefined> {
  const configuration = await loadConfiguration(database.query, vault.openSecret);
  const merchant = configuration.merchants.find((each) => each.login === login);
  if (merchant === undefined) return undefined;
  const own = [...configuration.endpoints.values()].filter(
    (endpoint) => endpoint.merchant.id === merchant.id,
  );
  const group = configuration.groups.find((each) => each.merchant.id === merchant.id);
  return {
    login,
    controlKey: merchant.controlKey.reveal(),
    endpoints: Object.fromEntries(own.map(({ name, id }) => [name, id])),
    group: group?.id ?? "",
  };
}
