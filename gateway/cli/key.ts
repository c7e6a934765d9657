/**
 * `gw key make`, `split` and `check`: they make key-encryption keys and custodians' parts, and
 * compare keys without showing them. They need no installation.
 */
import type { Command } from "commander";
import { keySourcesOf, masterKeySource, readConfig } from "../config/config.ts";
import { messageOf, Problem } from "../values/problem.ts";
import {
  checkValueOf,
  combineParts,
  makeKeyFile,
  makeKeyText,
  readKeyFile,
  readMasterKey,
} from "../vault/master-key.ts";
import { deleteGivenKeys } from "../wiring/master-key.ts";
import { addOfflineCommands, type Output } from "./command.ts";

export function addKeyCommands(key: Command): void {
  // biome-ignore format: a table
  addOfflineCommands(key, [
    ["make [file]",           "make a key-encryption key or a custodian's part: into a file, or print it", makeKey],
    ["split <file1> <file2>", "make a new key-encryption key in two parts, one for each custodian",        splitKey],
    ["check [file]",          "print the check value of a key, from a file or from the settings",          checkKey],
  ]);
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
