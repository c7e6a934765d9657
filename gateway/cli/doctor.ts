/**
 * `gw doctor`: looks at the installation the way a colleague would and says what is wrong, and what
 * to do about it. Exit code 1 when something is.
 */
import { stat } from "node:fs/promises";
import { loadGates } from "../storage/configuration.ts";
import { loadDirectories } from "../storage/directories.ts";
import { examineServer } from "../storage/examine-server.ts";
import { canReadVault } from "../storage/vault-role.ts";
import { findFileFaults } from "../threeds/directory-client.ts";
import { checkValueOf } from "../vault/key-text.ts";
import type { Installation } from "./installation.ts";
import { withInstallation } from "./installation.ts";
import { masterKeySource } from "./master-key.ts";
import { findResultTroubles } from "./production.ts";

type Finding = { readonly what: string; readonly trouble?: string };
type Check = (installation: Installation) => Promise<Finding>;

const postgresMin = 150_000;
const clockSkewMaxMs = 1_000;

const checks: readonly Check[] = [
  checkDatabase,
  checkDurability,
  checkClock,
  checkKey,
  checkVault,
  checkGates,
  checkDirectories,
];

export function examine(): Promise<void> {
  return withInstallation(async (installation) => {
    let troubles = 0;
    for (const check of checks) {
      const { what, trouble } = await check(installation);
      if (trouble !== undefined) troubles += 1;
      process.stdout.write(`${trouble === undefined ? "good   " : "trouble"} ${what}\n`);
      if (trouble !== undefined) process.stdout.write(`        ${trouble}\n`);
    }
    if (troubles > 0) process.exitCode = 1;
  });
}

async function checkDatabase({ database }: Installation): Promise<Finding> {
  const { version, versionNumber } = await examineServer(database.query);
  const what = `database: ${version.split(" on ")[0]}`;
  if (versionNumber >= postgresMin) return { what };
  return { what, trouble: "PostgreSQL 15 or newer is needed." };
}

async function checkDurability({ database }: Installation): Promise<Finding> {
  const { fsync, synchronousCommit } = await examineServer(database.query);
  const what = `durability: fsync ${fsync}, synchronous_commit ${synchronousCommit}`;
  if (fsync === "on" && synchronousCommit !== "off") return { what };
  return { what, trouble: "Acknowledged orders can be lost in a crash: switch both on." };
}

async function checkClock({ database }: Installation): Promise<Finding> {
  const before = Date.now();
  const { nowMs } = await examineServer(database.query);
  const skewMs = Math.abs(nowMs - (before + Date.now()) / 2);
  const what = `clock: ${Math.round(skewMs)} ms from the database's`;
  if (skewMs <= clockSkewMaxMs) return { what };
  return { what, trouble: "Synchronise the clocks of all machines: leases depend on them." };
}

async function checkKey({ config, masterKey }: Installation): Promise<Finding> {
  const { file, given, command, partFiles } = masterKeySource(config);
  const files = [file, ...partFiles].filter((each) => each !== "");
  const place = files.length > 0 ? files.join(", ") : command === "" ? "environment" : "command";
  const what = `key-encryption key: ${place}, check value ${checkValueOf(masterKey)}`;
  if (given !== "" || command !== "") return { what };
  const open: string[] = [];
  for (const each of files) if (((await stat(each)).mode & 0o077) !== 0) open.push(each);
  if (open.length === 0) return { what };
  return { what, trouble: `Others can read it: chmod 600 ${open.join(" ")}` };
}

/** By what a node's own connection can do, whatever should be. */
async function checkVault({ databases, vaultAdvice }: Installation): Promise<Finding> {
  const canRead = await canReadVault(databases.node.query);
  const what = "vault: its tables are";
  if (!canRead) return { what: `${what} apart from the gateway's own statements` };
  return {
    what: `${what} open to the gateway's own statements`,
    trouble: vaultAdvice ?? "Take `options` out of GW_DATABASE_URL.",
  };
}

async function checkGates({ database, config }: Installation): Promise<Finding> {
  const gates = await loadGates(database.query);
  const what = `gates: ${gates.map(({ name }) => name).join(", ") || "none"}`;
  const sandbox = gates.some(({ kind }) => kind === "sandbox");
  if (config.environment === "production" && sandbox) {
    return { what, trouble: "A sandbox gate has no place in production." };
  }
  return { what };
}

async function checkDirectories({ database, config }: Installation): Promise<Finding> {
  const directories = await loadDirectories(database.query);
  const what = `directory servers: ${directories.map(({ name }) => name).join(", ") || "none"}`;
  const faults = [...(await findFileFaults(directories))];
  const troubles = [
    ...faults.map(([name, cause]) => `Files of ${name} cannot be used: ${cause}.`),
    ...findResultTroubles(config, directories),
  ];
  return troubles.length === 0 ? { what } : { what, trouble: troubles.join("\n        ") };
}
