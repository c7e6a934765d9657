/**
 * Makes the configuration what a file says, section by section, inside one transaction. A section
 * is compared with what is stored as both are printed, so that a second run finds no difference.
 */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Endpoint, Merchant } from "../orders/merchant.ts";
import { type Administration, makeAdministration } from "../storage/administration.ts";
import type { Audit } from "../storage/audit.ts";
import { mainCell } from "../storage/cells.ts";
import { type Configuration, controlKeyContext } from "../storage/configuration.ts";
import type { Query } from "../storage/database.ts";
import { loadDirectories, makeDirectoryAdministration } from "../storage/directories.ts";
import { findCurrency } from "../values/iso-codes.ts";
import { messageOf, Problem } from "../values/problem.ts";
import { Secret } from "../values/secret.ts";
import type { Vault } from "../vault/vault.ts";
import type { Session } from "./command.ts";
import {
  type FileEntry,
  placesOf,
  printDirectory,
  printEndpoint,
  printGate,
  printMerchant,
  readEntry,
} from "./configuration-file.ts";
import { directoryTable, findFileFault } from "./directory.ts";
import { endpointTable, readEndpointSettings, readGatesFor, readMembers } from "./endpoint.ts";
import { findGate, gateTable, readGate } from "./gate.ts";
import { findTlsFault } from "./gate-links.ts";
import { findLoginFault, merchantTable } from "./merchant.ts";
import { endpointsOf, findMerchant, makeControlKey } from "./merchant-set.ts";
import { findNameFault, readSettings } from "./options.ts";

/** The transaction is taken back, and the operator is told. */
export class Invalid extends Error {}

export type FileStep = {
  readonly what: string;
  readonly change: "create" | "change" | "remove" | "disable";
  readonly fields: readonly { key: string; before: string; after: string }[];
};

type Place = {
  readonly session: Session;
  readonly audit: Audit;
  readonly query: Query;
  readonly vault: Vault;
  /** As it is inside the transaction now. */
  readonly load: () => Promise<Configuration>;
  readonly prune: boolean;
  /** That of the file: secrets are named relative to it. */
  readonly folder: string;
};

export async function applyFile(document: object, place: Place): Promise<readonly FileStep[]> {
  const { gates, directories, merchants, ...unknown } = sectionsOf(document, "The file");
  refuseUnknown("The file", unknown);
  const work: Work = { ...place, administration: makeAdministration(place.audit), steps: [] };
  const wanted = sectionsOf(gates ?? null, "gates");
  await putGates(work, wanted);
  if (directories !== undefined) await putDirectories(work, sectionsOf(directories, "directories"));
  if (merchants !== undefined) await putMerchants(work, sectionsOf(merchants, "merchants"));
  if (gates !== undefined && place.prune) await removeGates(work, wanted);
  return work.steps;
}

type Work = Place & { readonly administration: Administration; readonly steps: FileStep[] };

type Sections = Readonly<Record<string, unknown>>;

function sectionsOf(value: unknown, what: string): Sections {
  if (value === null) return {};
  if (typeof value !== "object" || Array.isArray(value)) throw new Invalid(`${what} is no map.`);
  return value as Sections;
}

function refuseUnknown(what: string, unknown: Sections): void {
  const [name] = Object.keys(unknown);
  if (name !== undefined) throw new Invalid(`${what} has no section ${name}.`);
}

function valid<Value>(value: Value | Problem): Value {
  if (value instanceof Problem) throw new Invalid(value.sentence);
  return value;
}

/** Whether there is a difference, which is noted. */
function differs(
  work: Work,
  what: string,
  before: FileEntry | undefined,
  after: FileEntry,
): boolean {
  const { steps } = work;
  const keys = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after)])];
  const fields = keys
    .filter((key) => !isDeepStrictEqual(before?.[key], after[key]))
    .map((key) => ({ key, before: shown(before?.[key]), after: shown(after[key]) }));
  if (fields.length === 0) return false;
  steps.push({ what, change: before === undefined ? "create" : "change", fields });
  return true;
}

async function putGates(work: Work, entries: Sections): Promise<void> {
  const { administration, load, prune, session } = work;
  const configuration = await load();
  for (const [name, entry] of Object.entries(entries)) {
    const fault = findNameFault(name);
    if (fault !== undefined) throw new Invalid(fault.sentence);
    const found = findGate(name, configuration);
    const known = found instanceof Problem ? undefined : found;
    const given = valid(readEntry(gateTable, sectionsOf(entry, name), `The gate ${name}`));
    const read = valid(readGate(given, prune ? undefined : known, session.config.environment));
    const before = known && printGate(known);
    if (!differs(work, `gate ${name}`, before, printGate(read))) continue;
    valid(await findTlsFault(read.settings, given));
    await administration.putGate({ name, ...read });
  }
}

async function removeGates(work: Work, entries: Sections): Promise<void> {
  const { administration, load, session, steps } = work;
  const { gates } = await load();
  const cells = session.cells.names().map((cell) => session.cells.databasesOf(cell).node.query);
  for (const { id, name } of gates.values()) {
    if (Object.hasOwn(entries, name)) continue;
    if ((await administration.removeGate(id, cells)) === "in_use") {
      throw new Invalid(`The gate ${name} is in use and cannot be removed.`);
    }
    steps.push({ what: `gate ${name}`, change: "remove", fields: [] });
  }
}

async function putDirectories(work: Work, entries: Sections): Promise<void> {
  const { audit, query, prune, steps } = work;
  const { put, remove } = makeDirectoryAdministration(audit, query);
  const stored = await loadDirectories(query);
  for (const [name, entry] of Object.entries(entries)) {
    const known = stored.find((server) => server.name === name);
    const what = `The directory server ${name}`;
    const given = valid(readEntry(directoryTable, sectionsOf(entry, name), what));
    const base = prune || known === undefined ? {} : known.settings;
    const networks = prune ? [] : (known?.networks ?? []);
    const values = valid(readSettings(directoryTable, given, { networks, ...base }, what));
    const { networks: meant, ...settings } = values;
    const server = { name, networks: meant, settings };
    const before = known && printDirectory(known);
    if (!differs(work, `directory server ${name}`, before, printDirectory(server))) continue;
    valid(await findFileFault(settings));
    await put(server);
  }
  for (const { name } of prune ? stored : []) {
    if (Object.hasOwn(entries, name)) continue;
    await remove(name);
    steps.push({ what: `directory server ${name}`, change: "remove", fields: [] });
  }
}

async function putMerchants(work: Work, entries: Sections): Promise<void> {
  const { administration, load, prune, steps } = work;
  for (const [login, entry] of Object.entries(entries)) {
    const { endpoints, groups, ...own } = sectionsOf(entry, login);
    await putMerchant(work, login, own);
    if (endpoints !== undefined)
      await putEndpoints(work, login, sectionsOf(endpoints, "endpoints"));
    if (groups !== undefined) await putGroups(work, login, sectionsOf(groups, "groups"));
  }
  for (const { id, login, enabled } of prune ? (await load()).merchants : []) {
    if (Object.hasOwn(entries, login) || !enabled) continue;
    await administration.enableMerchant(id, false);
    steps.push({ what: `merchant ${login}`, change: "disable", fields: [] });
  }
}

async function putMerchant(work: Work, login: string, own: Sections): Promise<void> {
  const { administration, load, prune, folder } = work;
  const found = findMerchant(await load(), login);
  const known = found instanceof Problem ? undefined : found;
  const { cell, enabled, "control-key-file": keyFile, ...entry } = own;
  const given = valid(readEntry(merchantTable, entry, `The merchant ${login}`));
  const { wallets, ...old } = known?.settings ?? {};
  const base = prune ? {} : old;
  const settings = {
    ...valid(readSettings(merchantTable, given, base)),
    ...(wallets && { wallets }),
  };
  const placed = {
    cell: String(cell ?? known?.cell ?? mainCell),
    enabled: readEnabled(enabled, known),
  };
  const before = known && printMerchant(known.settings, known);
  const isOther = differs(work, `merchant ${login}`, before, printMerchant(settings, placed));
  if (known !== undefined && known.cell !== placed.cell) {
    throw new Invalid(`${login} is in the cell ${known.cell}: see \`gw cell move-merchant\`.`);
  }
  const key = keyFile === undefined ? undefined : await readKey(folder, String(keyFile));
  const id = known?.id ?? (await createMerchant(work, login, placed.cell, key));
  if (known !== undefined && key !== undefined) await putKey(work, known, key);
  if (!isOther) return;
  await administration.setMerchant(id, settings);
  if (placed.enabled !== (known?.enabled ?? true)) {
    await administration.enableMerchant(id, placed.enabled);
  }
}

async function createMerchant(work: Work, login: string, cell: string, key = makeControlKey()) {
  const { administration, session, vault } = work;
  valid(findLoginFault(login) ?? true);
  if (!session.cells.names().includes(cell)) throw new Invalid(`There is no cell ${cell}.`);
  const sealed = vault.sealSecret(new Secret(key), controlKeyContext(login));
  return administration.createMerchant(login, sealed, cell);
}

/** A key that is another than both becomes the new one; the one before it counts on. */
async function putKey(work: Work, merchant: Merchant, key: string): Promise<void> {
  const { administration, steps, vault } = work;
  const { id, login, controlKey, oldControlKey } = merchant;
  if ([controlKey.reveal(), oldControlKey?.reveal()].includes(key)) return;
  if (oldControlKey !== undefined) {
    throw new Invalid(`${login} has an old control key: drop it before it gets another.`);
  }
  const sealed = vault.sealSecret(new Secret(key), controlKeyContext(login));
  await administration.renewControlKey(id, sealed);
  steps.push({ what: `control key of ${login}`, change: "change", fields: [] });
}

async function readKey(folder: string, file: string): Promise<string> {
  const path = resolve(folder, file);
  const text = await readFile(path, "utf8").catch((error) => {
    throw new Invalid(`The file ${path} cannot be read: ${messageOf(error)}.`);
  });
  if (/^[!-~]{16,128}$/.test(text.trim())) return text.trim();
  throw new Invalid(`The file ${path} has no control key: 16 to 128 printable characters.`);
}

async function putEndpoints(work: Work, login: string, entries: Sections): Promise<void> {
  const { administration, load, prune, steps } = work;
  const configuration = await load();
  const merchant = valid(findMerchant(configuration, login));
  const stored = endpointsOf(merchant, configuration);
  for (const [name, entry] of Object.entries(entries)) {
    const named = stored.filter((endpoint) => endpoint.name === name);
    if (named.length > 1) throw new Invalid(`${login} has several endpoints ${name}.`);
    await putEndpoint(
      work,
      configuration,
      { merchant, name, known: named[0] },
      sectionsOf(entry, name),
    );
  }
  for (const endpoint of prune ? stored : []) {
    if (Object.hasOwn(entries, endpoint.name) || !endpoint.enabled) continue;
    await administration.setEndpoint(endpoint.id, endpoint.settings, false);
    steps.push({ what: `endpoint ${endpoint.name} of ${login}`, change: "disable", fields: [] });
  }
}

async function putEndpoint(
  work: Work,
  configuration: Configuration,
  { merchant, name, known }: { merchant: Merchant; name: string; known: Endpoint | undefined },
  own: Sections,
): Promise<void> {
  const { administration, prune } = work;
  const { currency: code, enabled, gates, ...entry } = own;
  const what = `endpoint ${name} of ${merchant.login}`;
  const currency = findCurrency(String(code ?? known?.currency ?? ""));
  if (currency === undefined) throw new Invalid(`The ${what} has no currency.`);
  if (known !== undefined && known.currency !== currency.code) {
    throw new Invalid(`The currency of the ${what} cannot be changed.`);
  }
  const given = valid(readEntry(endpointTable(currency), entry, `The ${what}`));
  const { webhookSecret, ...old } = known?.settings ?? { threeDSecure: "off" as const };
  const base = prune ? undefined : old;
  const settings = {
    ...valid(readEndpointSettings(given, currency, base)),
    ...(webhookSecret && { webhookSecret }),
  };
  const texts = readTexts(gates) ?? (known && placesOf(known)) ?? [];
  const places = valid(readGatesFor(currency.code, texts, configuration));
  const names = new Map([...configuration.gates.values()].map((gate) => [gate.id, gate.name]));
  const printed = places.map(
    ({ gateId, rank, weight }) => `${names.get(gateId)}:${rank}:${weight}`,
  );
  const isOn = readEnabled(enabled, known);
  const after = { currency: currency.code, enabled: isOn, settings, gates: printed };
  const before = known && printEndpoint({ ...known, gates: placesOf(known) });
  if (!differs(work, what, before, printEndpoint(after))) return;
  if (known === undefined) {
    const made = {
      merchantId: merchant.id,
      name,
      currency: currency.code,
      gates: places,
      settings,
    };
    const id = await administration.createEndpoint(made);
    if (!isOn) await administration.setEndpoint(id, settings, false);
    return;
  }
  await administration.setEndpoint(known.id, settings, isOn);
  await administration.setEndpointGates(known.id, places);
}

async function putGroups(work: Work, login: string, entries: Sections): Promise<void> {
  const { administration, load, prune, steps } = work;
  const configuration = await load();
  const merchant = valid(findMerchant(configuration, login));
  const own = endpointsOf(merchant, configuration);
  const stored = configuration.groups.filter((group) => group.merchant.id === merchant.id);
  for (const [name, entry] of Object.entries(entries)) {
    const known = stored.find((group) => group.name === name);
    const what = `group ${name} of ${login}`;
    const { endpoints, enabled, ...unknown } = sectionsOf(entry, name);
    refuseUnknown(`The ${what}`, unknown);
    const names = readTexts(endpoints) ?? known?.endpoints.map((each) => each.name) ?? [];
    const ids = names.map((each) => own.find((endpoint) => endpoint.name === each)?.id ?? each);
    const members = valid(readMembers(merchant, ids, configuration));
    const isOn = readEnabled(enabled, known);
    const before = known && {
      ...{ enabled: known.enabled, endpoints: known.endpoints.map((each) => each.name) },
    };
    if (!differs(work, what, before, { enabled: isOn, endpoints: names })) continue;
    const id = known?.id ?? (await administration.createGroup(merchant.id, name, members));
    await administration.setGroup(id, members, isOn);
  }
  for (const group of prune ? stored : []) {
    if (Object.hasOwn(entries, group.name) || !group.enabled) continue;
    const members = group.endpoints.map(({ id }) => id);
    await administration.setGroup(group.id, members, false);
    steps.push({ what: `group ${group.name} of ${login}`, change: "disable", fields: [] });
  }
}

function readEnabled(value: unknown, known: { readonly enabled: boolean } | undefined): boolean {
  if (value === undefined) return known?.enabled ?? true;
  if (typeof value === "boolean") return value;
  throw new Invalid("enabled is true or false.");
}

function readTexts(value: unknown): readonly string[] | undefined {
  if (value === undefined) return undefined;
  return (Array.isArray(value) ? value : [value]).map(String);
}

function shown(value: unknown): string {
  return value === undefined ? "none" : Array.isArray(value) ? value.join(",") : String(value);
}
