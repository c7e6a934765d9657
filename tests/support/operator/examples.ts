/**
 * Runs the examples of the documents as programs, in their languages and with the variables that
 * they read.
 */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { symlink, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { endOfFile } from "../end-of-file.ts";
import { makeFolder } from "../folder.ts";
import { cleanEnvironment } from "../programs.ts";
import { giveKey, makeKeyPair } from "../wire.ts";
import type { World } from "../world.ts";
import { repository } from "./document.ts";

// biome-ignore format: a table
export const interpreters = {
  sh:     "bash",
  ts:     process.execPath,
  php:    "php",
  python: "python3",
} as const;
export type Language = keyof typeof interpreters;

/** Returns why a language is skipped, or false. */
export function isMissing(language: Language): string | false {
  const program = interpreters[language];
  const { error } = spawnSync(program, ["--version"]);
  return error === undefined ? false : `${program} is not installed`;
}

/** Makes a folder in which Node finds the client. */
export async function makeExampleFolder(): Promise<string> {
  const folder = await makeFolder(endOfFile, "examples");
  await symlink(join(repository, "node_modules"), join(folder, "node_modules"));
  return folder;
}

/** Returns the variables of the quick start. */
export function variablesOf({ set, gateway, bank }: World): Record<string, string> {
  const { plain: ENDPOINT = "", secure: SECURE_ENDPOINT = "" } = set.endpoints;
  return {
    ...cleanEnvironment(),
    GATEWAY: gateway.url,
    BANK: bank.url,
    ENDPOINT,
    SECURE_ENDPOINT,
    LOGIN: set.login,
    CONTROL_KEY: set.controlKey,
  } as Record<string, string>;
}

/** Writes the demonstration merchant's key for OAuth to a file. */
export async function writeKey(world: World, folder: string): Promise<string> {
  const pair = makeKeyPair();
  await giveKey(world, world.set.login, pair);
  const file = join(folder, "key.pem");
  await writeFile(file, pair.privateKey.export({ format: "pem", type: "pkcs8" }));
  return file;
}

/**
 * Moves the world's clock up to the machine's clock, which a program uses: signatures are valid for
 * minutes.
 */
export async function keepUpWithTime(world: World): Promise<void> {
  await world.pass(Math.max(0, Date.now() - world.clock.now()));
}

export async function findFreePort(): Promise<string> {
  const server = createServer().listen(0, "localhost");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return String(port);
}
