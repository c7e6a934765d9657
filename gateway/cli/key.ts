/**
 * `gw key`: makes key-encryption keys and custodians' parts, compares them without showing them,
 * lists the vault's keys, and changes the key-encryption key. Rotation is in `key-rotate.ts`.
 */
import { type Config, keySourcesOf, readConfig } from "../config/config.ts";
import { listKeys, rewrapKeys, takeRotationLock } from "../storage/key-life.ts";
import { Problem } from "../values/problem.ts";
import { checkValueOf, combineParts, makeKeyText } from "../vault/key-text.ts";
import { rewrapKey } from "../vault/keys.ts";
import { makeKeyFile, readKeyFile, readMasterKey } from "../vault/master-key.ts";
import { complain, withInstallation } from "./installation.ts";
import { forgetGivenKeys, masterKeySource, nextMasterKeySource } from "./master-key.ts";
import { print } from "./print.ts";

type Options = { readonly json?: boolean };

/** Without a file, on standard output: for whoever puts it into a manager of secrets. */
export async function makeKey(file: string | undefined, { json = false }: Options): Promise<void> {
  if (file === undefined) {
    process.stdout.write(`${makeKeyText()}\n`);
    return;
  }
  const made = await makeNewFile(file);
  if (made instanceof Problem) return complain(made);
  print({ file, "check value": checkValueOf(made) }, json);
}

export async function splitKey(
  files: readonly [first: string, second: string],
  { json = false }: Options,
): Promise<void> {
  const parts: Uint8Array[] = [];
  for (const file of files) {
    const made = await makeNewFile(file);
    if (made instanceof Problem) return complain(made);
    parts.push(made);
  }
  const [first, second] = parts;
  if (first === undefined || second === undefined) return;
  const rows = [
    ...parts.map((part, index) => ({ what: files[index], "check value": checkValueOf(part) })),
    { what: "both together", "check value": checkValueOf(combineParts(first, second)) },
  ];
  print(rows, json);
}

/** Of a key or part in a file, or of the keys that the settings give. */
export async function checkKey(file: string | undefined, { json = false }: Options): Promise<void> {
  if (file !== undefined) {
    const key = await readKeyFile(file, "another file");
    if (typeof key === "string") return complain(new Problem(key));
    return print({ file, "check value": checkValueOf(key) }, json);
  }
  const config = readConfig(process.env);
  forgetGivenKeys(process.env);
  if (config instanceof Problem) return complain(config);
  const rows: Record<string, string>[] = [];
  for (const source of sourcesOf(config)) {
    const key = await readMasterKey(source);
    if (typeof key === "string") return complain(new Problem(key));
    rows.push({ key: source.setting, "check value": checkValueOf(key) });
  }
  print(rows, json);
}

export function listVaultKeys({ json = false }: Options): Promise<void> {
  return withInstallation(async ({ database }) => {
    const keys = await listKeys(database.query);
    if (json) return print(keys, true);
    const rows = keys.map(({ id, purpose, createdAt, retiredAt, destroyedAt, cards }) => ({
      id,
      purpose,
      made: createdAt,
      retired: retiredAt ?? "-",
      destroyed: destroyedAt ?? "-",
      cards: purpose === "cards" ? cards : "-",
    }));
    print(rows);
  });
}

/** The vault's keys stay as they are; what seals them becomes another. */
export function rewrap({ json = false }: Options): Promise<void> {
  return withInstallation(async ({ config, database, masterKey }) => {
    if (keySourcesOf(config, "newMasterKey").length === 0) {
      return complain(
        new Problem(
          "Give the next key-encryption key by GW_NEW_MASTER_KEY_FILE or another of the " +
            "GW_NEW_MASTER_KEY settings.",
        ),
      );
    }
    const next = await readMasterKey(nextMasterKeySource(config));
    if (typeof next === "string") return complain(new Problem(next));
    if (checkValueOf(next) === checkValueOf(masterKey)) {
      return complain(new Problem("The next key-encryption key is the present one."));
    }
    const lock = await takeRotationLock(database);
    if (lock === undefined) {
      return complain(new Problem("A rotation is under way: wait until it is done."));
    }
    try {
      const keys = await rewrapKeys(database, (key) =>
        rewrapKey(key, { from: masterKey, to: next }),
      );
      print({ keys, "check value": checkValueOf(next) }, json);
      process.stderr.write(
        "Start every node anew with the new key-encryption key in the place of the old one.\n",
      );
    } finally {
      await lock.release();
    }
  });
}

function sourcesOf(config: Config) {
  const present = masterKeySource(config);
  return keySourcesOf(config, "newMasterKey").length === 0
    ? [present]
    : [present, nextMasterKeySource(config)];
}

async function makeNewFile(file: string): Promise<Uint8Array | Problem> {
  try {
    if (!(await makeKeyFile(file))) {
      return new Problem(`There is a file ${file} already: it is left as it is.`);
    }
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    return new Problem(`The file ${file} cannot be written: ${cause}.`);
  }
  const key = await readKeyFile(file, "another file");
  return typeof key === "string" ? new Problem(key) : key;
}
