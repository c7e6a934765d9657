/**
 * `gw doctor`, `gw config` and `gw migrate`: check the installation, print its settings, bring its
 * schema up to date. The doctor says what to do about each problem, and ends with exit code 1.
 */
import { stat } from "node:fs/promises";
import type { Command } from "commander";
import { describeConfig, readConfig } from "../config/config.ts";
import { loadGates } from "../storage/configuration.ts";
import { canReadVault, examineServer } from "../storage/database-roles.ts";
import { loadDirectories } from "../storage/directories.ts";
import { findFileFaults } from "../threeds/directory-client.ts";
import { Problem } from "../values/problem.ts";
import { checkValueOf } from "../vault/master-key.ts";
import { complain, type JsonOption, type Output, print, setAction } from "./command.ts";
import { findResultTroubles } from "./environment.ts";
import type { Installation } from "./installation.ts";
import { masterKeySource } from "./master-key.ts";

const postgresMin = 150_000;
const clockSkewMaxMs = 1_000;

export function addDoctor(doctor: Command): void {
  setAction(doctor, examine);
}

/** The schema is up to date once the installation is open. */
export function addMigrate(migrate: Command): void {
  setAction(migrate, async ({ vaultAdvice }) =>
    ["The database is up to date.", vaultAdvice].filter(Boolean).join("\n"),
  );
}

export function addConfig(config: Command): void {
  config.option("--json", "as JSON").action(printConfig);
}

type Finding = { readonly what: string; readonly trouble?: string };

async function examine(installation: Installation, { json = false }: JsonOption): Promise<Output> {
  const findings: Finding[] = [];
  for (const check of [
    ...[checkDatabase, checkDurability, checkClock, checkKey],
    ...[checkVault, checkGates, checkDirectories],
  ]) {
    findings.push(await check(installation));
  }
  if (findings.some(({ trouble }) => trouble !== undefined)) process.exitCode = 1;
  if (json) return findings;
  const lines = findings.map(({ what, trouble }) =>
    trouble === undefined ? `good    ${what}` : `trouble ${what}\n        ${trouble}`,
  );
  return lines.join("\n");
}

async function checkDatabase({ database }: Installation): Promise<Finding> {
  const { version, number } = await examineServer(database.query);
  const what = `database: ${version.split(" on ")[0]}`;
  if (number >= postgresMin) return { what };
  return { what, trouble: "PostgreSQL 15 or newer is needed." };
}

async function checkDurability({ database }: Installation): Promise<Finding> {
  const { fsync, commit } = await examineServer(database.query);
  const what = `durability: fsync ${fsync}, synchronous_commit ${commit}`;
  if (fsync === "on" && commit !== "off") return { what };
  return { what, trouble: "Acknowledged orders can be lost in a crash: switch both on." };
}

async function checkClock({ database }: Installation): Promise<Finding> {
  const before = Date.now();
  const { now } = await examineServer(database.query);
  const skewMs = Math.abs(now - (before + Date.now()) / 2);
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

/** Tested with a node's own connection. */
async function checkVault({ databases, vaultAdvice }: Installation): Promise<Finding> {
  const what = "vault: its tables are";
  if (!(await canReadVault(databases.node.query))) {
    return { what: `${what} closed to the gateway's own statements` };
  }
  return {
    what: `${what} open to the gateway's own statements`,
    trouble: vaultAdvice ?? "Remove `options` from GW_DATABASE_URL.",
  };
}

async function checkGates({ database, config }: Installation): Promise<Finding> {
  const gates = await loadGates(database.query);
  const what = `gates: ${gates.map(({ name }) => name).join(", ") || "none"}`;
  const sandbox = gates.some(({ kind }) => kind === "sandbox");
  if (config.environment !== "production" || !sandbox) return { what };
  return { what, trouble: "Production must not have a sandbox gate." };
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

function printConfig({ json = false }: JsonOption): void {
  const rows = describeConfig(process.env).map((row) => ({
    ...row,
    value: hidePassword(row.name, row.value),
  }));
  print(json ? rows : rows.map(describeSetting).join("\n"), json);
  const read = readConfig(process.env);
  if (read instanceof Problem) complain(read);
}

type Setting = Omit<ReturnType<typeof describeConfig>[number], "value"> & {
  readonly value: unknown;
};

function describeSetting({ name, value, origin, meaning }: Setting): string {
  const shown = value === "" || value === undefined ? "-" : String(value);
  const unit = name.endsWith("_S") && typeof value === "number" ? `${value / 1000}` : shown;
  const seconds = Array.isArray(value) ? value.map((each) => each / 1000).join(",") : unit;
  return `${name.padEnd(30)} ${seconds.padEnd(22)} ${origin.padEnd(12)} ${meaning}`;
}

function hidePassword(name: string, value: unknown): unknown {
  if (name !== "GW_DATABASE_URL" || typeof value !== "string") return value;
  return value.replace(/\/\/([^:/@]*):[^@]*@/, "//$1:****@");
}
