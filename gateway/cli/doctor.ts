/**
 * `gw doctor` and `gw config`: check the installation, print its settings. The doctor says what to
 * do about each problem, and ends with exit code 1.
 */
import { stat } from "node:fs/promises";
import type { Command } from "commander";
import { describeConfig, readConfig } from "../config/config.ts";
import { findLatestBackup } from "../storage/backups.ts";
import { loadGates } from "../storage/configuration.ts";
import { examineServers } from "../storage/connections.ts";
import { findSkew } from "../storage/database-clock.ts";
import { canReadVault, examineServer } from "../storage/database-roles.ts";
import { loadDirectories } from "../storage/directories.ts";
import { findHold, identifyServer } from "../storage/installation-hold.ts";
import { listUnauthenticated } from "../storage/mac-keys.ts";
import { listMoves } from "../storage/move-merchant.ts";
import { findFileFaults } from "../threeds/directory-client.ts";
import { Problem } from "../values/problem.ts";
import { checkValueOf } from "../vault/master-key.ts";
import { type Output, print, type Session, setAction, setOutput } from "./command.ts";
import { findResultTroubles } from "./environment.ts";
import { findLinkTroubles } from "./gate-links.ts";
import { masterKeySource } from "./master-key.ts";

const postgresMin = 150_000;

export function addDoctor(doctor: Command): void {
  setAction(doctor, examine);
}

export function addConfig(config: Command): void {
  setOutput(config, (_, json) => printConfig(json));
}

/** A warning is for the operator to judge: it does not change the exit code. */
type Finding = { readonly what: string; readonly trouble?: string; readonly warning?: string };

async function examine(session: Session): Promise<Output> {
  const findings: readonly Finding[] = [
    await checkServers(session),
    ...(await checkServer(session)),
    await checkKey(session),
    await checkVault(session),
    await checkGates(session),
    await checkDirectories(session),
    await checkMoves(session),
    await checkHold(session),
    await checkBackup(session),
  ];
  if (findings.some(({ trouble }) => trouble !== undefined)) process.exitCode = 1;
  if (session.json) return findings;
  return findings.map(printFinding).join("\n");
}

function printFinding({ what, trouble, warning }: Finding): string {
  const word = trouble !== undefined ? "trouble" : warning !== undefined ? "warning" : "good   ";
  return [`${word} ${what}`, trouble, warning].filter(Boolean).join(`\n${" ".repeat(8)}`);
}

function finding(what: string, isGood: boolean, trouble: string): Finding {
  return isGood ? { what } : { what, trouble };
}

async function checkServers({ databaseUrl, config }: Session): Promise<Finding> {
  const servers = await examineServers(databaseUrl, config.databaseConnectMs);
  const states = servers.map(({ name, state }) => `${name} ${state}`);
  const what = `database servers: ${states.join(", ")}`;
  const writable = servers.filter(({ isWritable }) => isWritable).map(({ name }) => name);
  if (writable.length > 1) {
    const trouble = `${writable.join(" and ")} take writes: stop all but the primary.`;
    return { what, trouble };
  }
  const isAway = ({ state, isWritable }: (typeof servers)[number]) =>
    !isWritable && state !== "read-only";
  return servers.some(isAway) ? { what, warning: "One of them cannot take over now." } : { what };
}

async function checkServer({ database, config }: Session): Promise<readonly Finding[]> {
  const { version, number, fsync, commit } = await examineServer(database.query);
  const skewMs = await findSkew(database.query);
  return [
    finding(
      `database: ${version.split(" on ")[0]}`,
      number >= postgresMin,
      "PostgreSQL 15 or newer is needed.",
    ),
    finding(
      `durability: fsync ${fsync}, synchronous_commit ${commit}`,
      fsync === "on" && commit !== "off",
      "Acknowledged orders can be lost in a crash: switch both on.",
    ),
    finding(
      `clock: ${Math.abs(skewMs)} ms ${skewMs < 0 ? "behind" : "ahead of"} the database's`,
      Math.abs(skewMs) <= config.clockSkewAlertMs,
      "Synchronise the clocks of all machines, those of standby databases above all: " +
        "nodes correct their own clocks by the database's.",
    ),
  ];
}

async function checkKey({ config, masterKey }: Session): Promise<Finding> {
  const { file, given, command, partFiles } = masterKeySource(config);
  const files = [file, ...partFiles].filter((each) => each !== "");
  const place = files.length > 0 ? files.join(", ") : command === "" ? "environment" : "command";
  const what = `key-encryption key: ${place}, check value ${checkValueOf(masterKey)}`;
  if (given !== "" || command !== "") return { what };
  const open: string[] = [];
  for (const each of files) if (((await stat(each)).mode & 0o077) !== 0) open.push(each);
  return finding(what, open.length === 0, `Others can read it: chmod 600 ${open.join(" ")}`);
}

/** Tested with a node's own connection. */
async function checkVault({ databases, vaultAdvice }: Session): Promise<Finding> {
  const isClosed = !(await canReadVault(databases.node.query));
  const what = `vault: its tables are ${isClosed ? "closed" : "open"} to the gateway's statements`;
  return finding(what, isClosed, vaultAdvice ?? "Remove `options` from GW_DATABASE_URL.");
}

async function checkGates({ database, config }: Session): Promise<Finding> {
  const gates = await loadGates(database.query);
  const what = `gates: ${gates.map(({ name }) => name).join(", ") || "none"}`;
  const examined = gates.map((gate) => {
    const isSandbox = gate.kind === "sandbox" || gate.settings.sandbox === true;
    return { ...gate, isSandbox };
  });
  const hasSandbox = examined.some(({ isSandbox }) => isSandbox);
  const links = await Promise.all(examined.map(findLinkTroubles));
  const troubles = links.flatMap((each) => each.troubles);
  if (config.environment === "production" && hasSandbox) {
    troubles.unshift("Production must not have a sandbox gate.");
  }
  const unauthenticated = await listUnauthenticated(database.query);
  const warnings = [
    ...links.flatMap((each) => each.warnings),
    ...unauthenticated.map(({ name, hasZoneKey }) =>
      hasZoneKey
        ? `${name} has a zone key and no key for codes: run gw gate mac-key exchange.`
        : `${name} authenticates no message any more: its last key was dropped.`,
    ),
  ];
  return {
    what,
    ...(troubles.length > 0 && { trouble: troubles.join("\n        ") }),
    ...(warnings.length > 0 && { warning: warnings.join("\n        ") }),
  };
}

async function checkDirectories({ database, config }: Session): Promise<Finding> {
  const directories = await loadDirectories(database.query);
  const what = `directory servers: ${directories.map(({ name }) => name).join(", ") || "none"}`;
  const faults = [...(await findFileFaults(directories))];
  const troubles = [
    ...faults.map(([name, cause]) => `Files of ${name} cannot be used: ${cause}.`),
    ...findResultTroubles(config, directories),
  ];
  return finding(what, troubles.length === 0, troubles.join("\n        "));
}

/** A stopped merchant gets 503: an operator has to act. */
async function checkMoves({ database, cells }: Session): Promise<Finding> {
  const moves = await listMoves({ main: database, cells });
  const names = moves.map(({ login, to }) => `${login} to ${to}`).join(", ");
  const what = `unfinished moves: ${names || "none"}`;
  const told = moves.map(({ login, from, to, since, state }) => {
    const taken = state === "switched" ? "" : ", or take it back with --abort";
    const said = `${login} from ${from} to ${to}, ${state}, begun at ${since} UTC`;
    return `${said}: run gw cell move-merchant ${login} ${to}${taken}.`;
  });
  if (told.length === 0) return { what };
  const isStopped = moves.some(({ state }) => state === "stopped");
  return { what, [isStopped ? "trouble" : "warning"]: told.join("\n        ") };
}

async function checkHold({ database }: Session): Promise<Finding> {
  const hold = await findHold(database.query);
  const target = (await identifyServer(database.query).catch(() => undefined))?.target;
  const what = `hold: ${hold === undefined ? "none" : hold.why}`;
  if (hold !== undefined) {
    const steps =
      "`gw restore verify`, then `gw reconcile` for every gate, then `gw restore release`";
    return { what, trouble: `The installation is on hold and sends nothing: ${steps}.` };
  }
  if (!target) return { what };
  const warning =
    `The server's settings still have ${target}: remove it, or a node that starts after a ` +
    "failover puts the installation on hold.";
  return { what, warning };
}

async function checkBackup({ database, config }: Session): Promise<Finding> {
  const { backupAgeMaxHours: most } = config;
  const latest = await findLatestBackup(database.query);
  const age = latest === undefined ? undefined : Math.floor(latest.ageS / 3600);
  const what = `backup: ${age === undefined ? "never" : `${age} hours ago`}`;
  const isGood = most === 0 || (age !== undefined && age < most);
  return finding(
    what,
    isGood,
    "Run `gw backup` every day (GW_BACKUP_AGE_MAX_H), or say 0 if another program makes backups.",
  );
}

function printConfig(json: boolean): Output {
  const rows = describeConfig(process.env);
  print(json ? rows : rows.map(describeSetting).join("\n"), json);
  const read = readConfig(process.env);
  return read instanceof Problem ? read : undefined;
}

type DescribedSetting = ReturnType<typeof describeConfig>[number];

function describeSetting({ name, value, origin, meaning }: DescribedSetting): string {
  const shown = value === "" || value === undefined ? "-" : String(value);
  const unit = name.endsWith("_S") && typeof value === "number" ? `${value / 1000}` : shown;
  const seconds = Array.isArray(value) ? value.map((each) => each / 1000).join(",") : unit;
  return `${name.padEnd(30)} ${seconds.padEnd(22)} ${origin.padEnd(12)} ${meaning}`;
}
