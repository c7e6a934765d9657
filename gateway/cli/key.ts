/**
 * `gw key`: makes key-encryption keys and custodians' parts, compares them without showing them,
 * lists and rotates the vault's keys, and changes the key-encryption key.
 */
import { setTimeout as pause } from "node:timers/promises";
import { type Command, Option } from "commander";
import { keySourcesOf, readConfig } from "../config/config.ts";
import type { Cells } from "../storage/cells.ts";
import type { Database } from "../storage/database.ts";
import { readDatabaseTime } from "../storage/database-clock.ts";
import {
  listKeys,
  makeKeyStore,
  makeRotationStore,
  rewrapKeys,
  takeRotationLock,
} from "../storage/vault-keys.ts";
import { messageOf, Problem } from "../values/problem.ts";
import { openKeys, rewrapKey } from "../vault/keys.ts";
import {
  checkValueOf,
  combineParts,
  makeKeyFile,
  makeKeyText,
  readKeyFile,
  readMasterKey,
} from "../vault/master-key.ts";
import { rotateKeys } from "../vault/rotate-keys.ts";
import { addCommands, addOfflineCommands, type Output, type Session } from "./command.ts";
import { readConfiguration } from "./installation.ts";
import { deleteGivenKeys, masterKeySource } from "./master-key.ts";
import { renewFingerprints } from "./renew-fingerprints.ts";

export function addKeyCommands(key: Command): void {
  const anew = new Option("--anew", "make new keys even if an earlier rotation was not completed");
  const fingerprints = new Option(
    "--fingerprints",
    "replace the key of card fingerprints instead, and recompute them from the vault",
  );
  // biome-ignore format: a table
  addCommands(key, [
    ["list",   "list the vault's keys with the number of cards under each",                         listVaultKeys],
    ["rotate", "reseal cards, secrets and pending card data with new keys during operation, destroy the old", rotateVaultKeys, [anew, fingerprints]],
    ["rewrap", "seal the vault's keys with another key-encryption key (GW_NEW_MASTER_KEY_…)",       rewrap],
  ]);
  // biome-ignore format: a table
  addOfflineCommands(key, [
    ["make [file]",           "make a key-encryption key or a custodian's part: into a file, or print it", makeKey],
    ["split <file1> <file2>", "make a new key-encryption key in two parts, one for each custodian",        splitKey],
    ["check [file]",          "print the check value of a key, from a file or from the settings",          checkKey],
  ]);
}

async function listVaultKeys({ database, cells, json }: Session): Promise<Output> {
  const keys = await listKeys(database, allOf(cells));
  if (json) return keys;
  return keys.map(({ id, purpose, createdAt, retiredAt, destroyedAt, cards }) => ({
    ...{ id, purpose, made: createdAt, retired: retiredAt ?? "-", destroyed: destroyedAt ?? "-" },
    cards: purpose === "cards" ? cards : "-",
  }));
}

type RotateOptions = { readonly anew?: boolean; readonly fingerprints?: boolean };

async function rotateVaultKeys(session: Session, options: RotateOptions): Promise<Output> {
  const { database, cells, masterKey, config, json, actor, report, findings } = session;
  const { anew = false, fingerprints = false } = options;
  const lock = await takeRotationLock(database);
  if (lock === undefined) {
    return new Problem("A rotation is under way already: see `gw key list`.");
  }
  try {
    const deletion = { by: actor.who, at: await readDatabaseTime(database.query) };
    const rotation = {
      keys: await openKeys(masterKey, makeKeyStore(database.query)),
      ...{ graceMs: config.keyGraceMs, report },
      // A node that stops meanwhile does not wait for it: the next rotation goes on.
      pause: (durationMs: number) => pause(durationMs, undefined, { ref: false }),
    };
    if (fingerprints) {
      const { endpoints } = await readConfiguration(session);
      const places = { database, cells: allOf(cells), endpoints: [...endpoints.values()] };
      const renewed = await renewFingerprints({ ...rotation, ...places, deletion });
      const kept = [...unrenewed(renewed.left), ...unread(renewed.unopened)];
      for (const sentence of kept) report(sentence);
      if (kept.length > 0) findings.tell();
      return json ? renewed : printRenewed(renewed);
    }
    const { cards, destroyed, kept } = await rotateKeys({
      ...{ ...rotation, anew, keepDigestsMs: config.repeatDays * 86_400_000 },
      store: makeRotationStore(database, allOf(cells), deletion),
    });
    if (kept.length > 0) {
      report(undestroyed(kept));
      findings.tell();
    }
    if (json) return { cards, destroyed, kept };
    return { "cards resealed": cards, "keys destroyed": destroyed.join(", ") || "none" };
  } finally {
    await lock.release();
  }
}

function printRenewed({ cards, orders, destroyed }: Awaited<ReturnType<typeof renewFingerprints>>) {
  const gone = destroyed.join(", ") || "none";
  return { "cards recomputed": cards, "orders looked at": orders, "keys destroyed": gone };
}

function unrenewed(left: readonly string[]): readonly string[] {
  if (left.length === 0) return [];
  return [
    `The old key is kept: the list entries ${left.join(", ")} name cards whose numbers the vault ` +
      "does not have. Remove them, or let them expire, and run `gw key rotate --fingerprints` " +
      "again.",
  ];
}

function unread(unopened: number): readonly string[] {
  if (unopened === 0) return [];
  return [
    `The old key is kept: ${unopened} cards do not open, and have their old fingerprints. ` +
      "Look for damage in the database, then run `gw key rotate --fingerprints` again.",
  ];
}

/** A cell that is away stops the command: its cards may need the old keys. */
function allOf(cells: Cells): readonly Database[] {
  return cells.names().map((name) => cells.databasesOf(name).vault);
}

function undestroyed(kept: readonly number[]): string {
  return (
    `The keys ${kept.join(", ")} are kept: something that they seal does not open. ` +
    "Look for damage in the database, then run `gw key rotate` again, or with --anew for " +
    "new keys all the same."
  );
}

/** The vault's keys stay; only the key that seals them changes. */
async function rewrap({ config, database, masterKey, report }: Session): Promise<Output> {
  if (keySourcesOf(config, "newMasterKey").length === 0) {
    return new Problem(
      "Give the next key-encryption key by GW_NEW_MASTER_KEY_FILE or another of the " +
        "GW_NEW_MASTER_KEY settings.",
    );
  }
  const next = await readMasterKey(masterKeySource(config, "newMasterKey"));
  if (typeof next === "string") return new Problem(next);
  if (checkValueOf(next) === checkValueOf(masterKey)) {
    return new Problem("The next key-encryption key is the present one.");
  }
  const lock = await takeRotationLock(database);
  if (lock === undefined) return new Problem("A rotation is under way: wait until it is done.");
  try {
    const change = { from: masterKey, to: next };
    const keys = await rewrapKeys(database, (key) => rewrapKey(key, change));
    report("Restart every node with the new key-encryption key in the place of the old one.");
    return { keys, "check value": checkValueOf(next) };
  } finally {
    await lock.release();
  }
}

/** Without a file the key goes to standard output, for a secret manager. */
async function makeKey(file: string | undefined): Promise<Output> {
  if (file === undefined) return makeKeyText();
  const made = await makeNewFile(file);
  return made instanceof Problem ? made : { file, "check value": checkValueOf(made) };
}

async function splitKey(...files: [first: string, second: string]): Promise<Output> {
  const first = await makeNewFile(files[0]);
  if (first instanceof Problem) return first;
  const second = await makeNewFile(files[1]);
  if (second instanceof Problem) return second;
  return [
    { what: files[0], "check value": checkValueOf(first) },
    { what: files[1], "check value": checkValueOf(second) },
    { what: "both together", "check value": checkValueOf(combineParts(first, second)) },
  ];
}

async function makeNewFile(file: string): Promise<Uint8Array | Problem> {
  try {
    if (!(await makeKeyFile(file))) {
      return new Problem(`There is a file ${file} already: it is left unchanged.`);
    }
  } catch (error) {
    return new Problem(`The file ${file} cannot be written: ${messageOf(error)}.`);
  }
  const key = await readKeyFile(file, "another file");
  return typeof key === "string" ? new Problem(key) : key;
}

/** Of a key or part in a file, or of the keys that the settings give. */
async function checkKey(file: string | undefined): Promise<Output> {
  if (file !== undefined) {
    const key = await readKeyFile(file, "another file");
    return typeof key === "string" ? new Problem(key) : { file, "check value": checkValueOf(key) };
  }
  const config = readConfig(process.env);
  deleteGivenKeys(process.env);
  if (config instanceof Problem) return config;
  const rows: Record<string, string>[] = [];
  for (const which of ["masterKey", "newMasterKey"] as const) {
    if (which === "newMasterKey" && keySourcesOf(config, which).length === 0) continue;
    const source = masterKeySource(config, which);
    const key = await readMasterKey(source);
    if (typeof key === "string") return new Problem(key);
    rows.push({ key: source.setting, "check value": checkValueOf(key) });
  }
  return rows;
}
