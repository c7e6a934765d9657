/**
 * `gw key make` makes a key-encryption key or a custodian's part of one, `gw key split` makes a key
 * in two parts, and `gw key check` prints check values, by which people compare keys without seeing
 * them. These commands need no installation.
 */

import { lastWord, word } from "../administration/field.ts";
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

const keyFile = lastWord("path", "file", ["the file of the key"]);

export const keyCommands = [
  ownCommand({
    name: "key make",
    does: ["make a key-encryption key or a custodian's part: into a file, or print it"],
    fields: { file: keyFile },
    // A secret manager can read the key from standard output.
    async run({ file }) {
      if (file === undefined) return makeKeyText();
      const made = await makeNewFile(file);
      return made instanceof Problem ? made : { file, "check value": checkValueOf(made) };
    },
  }),
  ownCommand({
    name: "key split",
    does: ["make a new key-encryption key in two parts, one for each custodian"],
    fields: {
      file1: word("path", "file1", ["the new file of one part"]),
      file2: word("path", "file2", ["that of the other"]),
    },
    async run({ file1, file2 }) {
      const first = await makeNewFile(file1);
      if (first instanceof Problem) return first;
      const second = await makeNewFile(file2);
      if (second instanceof Problem) return second;
      return [
        { what: file1, "check value": checkValueOf(first) },
        { what: file2, "check value": checkValueOf(second) },
        { what: "both together", "check value": checkValueOf(combineParts(first, second)) },
      ];
    },
  }),
  ownCommand({
    name: "key check",
    does: ["print the check value of a key, from a file or from the settings"],
    fields: { file: keyFile },
    // Without a file name, the command prints the check values of the keys that the settings name.
    async run({ file }) {
      if (file !== undefined) {
        const key = await readKeyFile(file, "another file");
        return typeof key === "string"
          ? new Problem(key)
          : { file, "check value": checkValueOf(key) };
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
        const given = keySourcesOf(config, which).join(" and ");
        // If no setting names a key, the output names the file of the key that staging creates.
        rows.push({ key: given || source.file, "check value": checkValueOf(key) });
      }
      return rows;
    },
  }),
];

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
