/**
 * `gw key make`, `split` and `check`: they make key-encryption keys and custodians' parts, and
 * compare keys without showing them. They need no installation.
 */

import { lastWord, word } from "../administration/field.ts";
import type { Output } from "../administration/session.ts";
import { keySourcesOf, masterKeySource, readConfig } from "../config/config.ts";
import { deleteGivenKeys } from "../installation/master-key.ts";
import { messageOf, Problem } from "../values/problem.ts";
import {
  checkValueOf,
  combineParts,
  makeKeyFile,
  makeKeyText,
  readKeyFile,
  readMasterKey,
} from "../vault/master-key.ts";
import { ownCommand } from "./machine-command.ts";

const keyFile = lastWord("path", "file", ["the file of the key", "die Datei des Schlüssels"]);

export const keyCommands = [
  ownCommand({
    name: "key make",
    does: [
      "make a key-encryption key or a custodian's part: into a file, or print it",
      "einen Hauptschlüssel oder den Teil eines Verwahrers anlegen: in einer Datei, oder ausgeben",
    ],
    fields: { file: keyFile },
    run: makeKey,
  }),
  ownCommand({
    name: "key split",
    does: [
      "make a new key-encryption key in two parts, one for each custodian",
      "einen neuen Hauptschlüssel in zwei Teilen anlegen, einen für jeden Verwahrer",
    ],
    fields: {
      file1: word("path", "file1", ["the new file of one part", "die neue Datei des einen"]),
      file2: word("path", "file2", ["that of the other", "die des anderen Teils"]),
    },
    run: splitKey,
  }),
  ownCommand({
    name: "key check",
    does: [
      "print the check value of a key, from a file or from the settings",
      "den Prüfwert eines Schlüssels ausgeben, aus einer Datei oder den Einstellungen",
    ],
    fields: { file: keyFile },
    run: checkKey,
  }),
];

type KeyFile = { readonly file?: string | undefined };

/** Without a file the key goes to standard output, for a secret manager. */
async function makeKey({ file }: KeyFile): Promise<Output> {
  if (file === undefined) return makeKeyText();
  const made = await makeNewFile(file);
  return made instanceof Problem ? made : { file, "check value": checkValueOf(made) };
}

type TwoFiles = { readonly file1: string; readonly file2: string };

async function splitKey({ file1, file2 }: TwoFiles): Promise<Output> {
  const first = await makeNewFile(file1);
  if (first instanceof Problem) return first;
  const second = await makeNewFile(file2);
  if (second instanceof Problem) return second;
  return [
    { what: file1, "check value": checkValueOf(first) },
    { what: file2, "check value": checkValueOf(second) },
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
async function checkKey({ file }: KeyFile): Promise<Output> {
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
