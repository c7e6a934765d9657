/**
 * The key-encryption key: 32 bytes in hexadecimal or base64 digits, from a file, the environment, a
 * command that asks a secrets manager, or two custodians' parts, which meet only in memory. In
 * staging it is made at the first start; in production the operator provides it. No message repeats
 * the bytes that were read.
 */
import { type ExecFileException, execFile } from "node:child_process";
import { createHmac, hkdfSync, randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import type { Secret } from "../values/secret.ts";
import { keyBytes } from "./keys.ts";

/** Exactly one source is given, which `config.ts` checks. */
export type MasterKeySource = {
  readonly setting: "GW_MASTER_KEY" | "GW_NEW_MASTER_KEY";
  readonly file: string;
  readonly given: Secret<string> | "";
  readonly command: string;
  readonly partFiles: readonly [first: string, second: string];
};

const commandLimitMs = 30_000;
const commandBytesMax = 4096;

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

/** Returns false if the file exists, which stays unchanged. */
export async function makeKeyFile(file: string): Promise<boolean> {
  try {
    await writeFile(file, `${makeKeyText()}\n`, { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    return false;
  }
}

/** The command runs without a shell. Its words are separated by blanks, or are a JSON array. */
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

/** The command's output is left out, which may be the key or a part of a secret. */
function causeOf(error: ExecFileException): string {
  if (error.killed === true) return `it took longer than ${commandLimitMs / 1000} s`;
  if (error.code === "ENOENT") return "there is no such program";
  if (error.code === "EACCES") return "it may not be run";
  if (typeof error.code === "number") return `it ended with ${error.code}`;
  return `it was ended by ${error.signal ?? "the system"}`;
}

const keyForms = `${keyBytes * 2} hexadecimal digits, or 32 bytes in base64`;

export function makeKeyText(): string {
  return randomBytes(keyBytes).toString("hex");
}

export function parseKeyText(text: string): Buffer | undefined {
  const digits = text.trim();
  if (/^[0-9a-f]{64}$/i.test(digits)) return Buffer.from(digits, "hex");
  if (/^[\w+/-]{43}=?$/.test(digits)) return Buffer.from(digits, "base64");
  return undefined;
}

/** The order of the parts does not matter, and one part reveals nothing about the key. */
export function combineParts(first: Uint8Array, second: Uint8Array): Buffer {
  const mixed = Buffer.from(first.map((byte, index) => byte ^ (second[index] ?? 0)));
  const key = hkdfSync("sha256", mixed, "", "tollgate key-encryption key of two parts", keyBytes);
  mixed.fill(0);
  return Buffer.from(key);
}

/** The check value shows whether two keys are the same and nothing else about them. */
export function checkValueOf(key: Uint8Array): string {
  return createHmac("sha256", key).update("tollgate key check value").digest("hex").slice(0, 8);
}
