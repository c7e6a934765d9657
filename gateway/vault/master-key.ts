/**
 * The key-encryption key: from a file, from the environment, from a command that asks a manager of
 * secrets, or from two custodians' parts, which meet only here, in memory. In staging it is made on
 * the first start; in production the operator brings it. Complaints never repeat what was read.
 */
import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import type { Secret } from "../values/secret.ts";
import { combineParts, keyForms, makeKeyText, parseKeyText } from "./key-text.ts";

/** Exactly one of them is given; `settings.ts` has their meaning, `config.ts` sees to it. */
export type MasterKeySource = {
  /** The first words of their settings, for complaints. */
  readonly setting: "GW_MASTER_KEY" | "GW_NEW_MASTER_KEY";
  readonly file: string;
  readonly given: Secret<string> | "";
  readonly command: string;
  readonly partFiles: readonly [first: string, second: string];
};

const commandLimitMs = 30_000;
const commandBytesMax = 4096;

/** A sentence for the operator when there is no key to be had. */
export async function readMasterKey(source: MasterKeySource): Promise<Uint8Array | string> {
  const { setting, given, command, file } = source;
  const [first, second] = source.partFiles;
  if (given !== "") {
    return parseKeyText(given.reveal()) ?? `${setting} must be ${keyForms}.`;
  }
  if (command !== "") return readFromCommand(command, `${setting}_COMMAND`);
  if (first === "") return readKeyFile(file, `${setting}_FILE`);

  const one = await readKeyFile(first, `${setting}_PART_FILE_1`);
  const two = await readKeyFile(second, `${setting}_PART_FILE_2`);
  if (typeof one === "string") return one;
  if (typeof two === "string") return two;
  if (Buffer.compare(one, two) === 0) return `${setting}_PART_FILE_1 and _2 are the same part.`;
  return combineParts(one, two);
}

export async function readKeyFile(file: string, setting: string): Promise<Uint8Array | string> {
  const text = await readFile(file, "utf8").catch(() => undefined);
  if (text === undefined) return `The key file ${file} cannot be read: set ${setting}.`;
  return parseKeyText(text) ?? `The key file ${file} must hold ${keyForms}.`;
}

/** False when there is such a file already, which is left alone. */
export async function makeKeyFile(file: string): Promise<boolean> {
  try {
    await writeFile(file, `${makeKeyText()}\n`, { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    return false;
  }
}

/** Without a shell: words are parted at blanks, or given as a JSON array when one has blanks. */
function readFromCommand(command: string, setting: string): Promise<Uint8Array | string> {
  const [program, ...words] = wordsOf(command);
  if (program === undefined) {
    return Promise.resolve(`${setting} must be a program and its words, or a JSON array of them.`);
  }
  const limits = { timeout: commandLimitMs, maxBuffer: commandBytesMax };
  return new Promise((resolve) => {
    execFile(program, words, limits, (error, printed) => {
      if (error === null) {
        resolve(parseKeyText(printed) ?? `${setting} (${program}) must print ${keyForms}.`);
      } else resolve(`${setting} (${program}) gave no key: ${causeOf(error)}.`);
    });
  });
}

function wordsOf(command: string): readonly string[] {
  if (!command.trimStart().startsWith("[")) return command.trim().split(/\s+/);
  try {
    const words: unknown = JSON.parse(command);
    return Array.isArray(words) && words.every((word) => typeof word === "string") ? words : [];
  } catch {
    return [];
  }
}

/** What it printed is left out: it may be the key, or a part of a secret. */
function causeOf(error: {
  code?: string | number | null;
  killed?: boolean;
  signal?: string | null;
}) {
  if (error.killed === true) return `it took longer than ${commandLimitMs / 1000} s`;
  if (error.code === "ENOENT") return "there is no such program";
  if (error.code === "EACCES") return "it may not be run";
  if (typeof error.code === "number") return `it ended with ${error.code}`;
  return `it was ended by ${error.signal ?? "the system"}`;
}
