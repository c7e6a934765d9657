/**
 * The machine for a restore: backups of a world's installation are restored into another database,
 * and a gateway on it uses the same bank and clock.
 */
import assert from "node:assert/strict";
import { cp, readdir } from "node:fs/promises";
import { join } from "node:path";
import { makeClient } from "@tollgate/client";
import { sandboxRanges } from "@tollgate/gateway/sandbox-ranges";
import { atEnd, type Test } from "../clean-up.ts";
import { makeFolder } from "../folder.ts";
import { quiet, recordLog, startByClock, stopByClock } from "../gateway-by-clock.ts";
import { openFor } from "../installation.ts";
import { makeMerchant } from "../merchant.ts";
import { type Ran, readGw, runGw } from "../programs.ts";
import { readReadiness } from "../readiness.ts";
import type { World } from "../world.ts";
import { makeDatabase } from "./database-server.ts";

export type Elsewhere = {
  readonly installation: { readonly databaseUrl: string };
  readonly dataDir: string;
};

/**
 * Makes an empty database and a data folder with the key-encryption key, as an operator provides
 * them.
 */
export async function makeElsewhere(t: Test, { dataDir: from }: World): Promise<Elsewhere> {
  const dataDir = await makeFolder(t, "restored");
  await cp(join(from, "keys"), join(dataDir, "keys"), { recursive: true });
  return { installation: { databaseUrl: await makeDatabase() }, dataDir };
}

export type Identity = { readonly file: string; readonly recipient: string };

export async function makeIdentity(world: World, folder: string): Promise<Identity> {
  const file = join(folder, "identity");
  const made = (await readGw(world, "backup", "identity", file)) as { recipient: string };
  return { file, recipient: made.recipient };
}

/** Makes a backup and returns its file. */
export async function backUp(world: World, folder: string, { recipient }: Identity) {
  const words = ["backup", "--to", folder, "--recipient", recipient];
  const { backup } = (await readGw(world, ...words)) as { backup: string };
  assert.ok((await readdir(folder)).every((name) => !name.endsWith(".partial")));
  return backup;
}

export function restore(
  place: Elsewhere,
  file: string,
  identity: Identity,
  ...more: readonly string[]
): Promise<Ran> {
  const words = ["--from", file, "--identity-file", identity.file, ...more, "--json"];
  return runGw(place, "restore", ...words);
}

/** Starts a node on the restored installation. */
export async function startRestored(t: Test, { clock, set }: World, place: Elsewhere) {
  const installation = await openFor({
    GW_DATA_DIR: place.dataDir,
    GW_DATABASE_URL: place.installation.databaseUrl,
    ...quiet,
    GW_NODE_NAME: "elsewhere",
  });
  atEnd(t, () => installation.close());
  const { log, logged } = recordLog();
  const parts = { ...installation, log, staging: { ranges: sandboxRanges } };
  const gateway = await startByClock(clock, parts);
  atEnd(t, () => stopByClock(clock, gateway));
  const { databaseUrl } = installation;
  return {
    gateway,
    installation,
    databaseUrl,
    logged,
    dataDir: place.dataDir,
    merchant: makeMerchant({ set, baseUrl: () => gateway.url, makeClient }),
    ready: () => readReadiness(`http://127.0.0.1:${gateway.port}`),
  };
}

export type Restored = Awaited<ReturnType<typeof startRestored>>;
