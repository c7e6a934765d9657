/** Checks of `gw doctor` for Node.js, disk, memory, permissions, log and clock. */
import { execFile } from "node:child_process";
import { readFile, realpath, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { countWorkers, masterKeySource } from "../../config/config.ts";
import { findFree } from "../../observability/metrics.ts";
import { loadGates } from "../../storage/configuration/configuration.ts";
import { loadDirectories } from "../../storage/configuration/directories.ts";
import { messageOf } from "../../values/problem.ts";
import { checkValueOf } from "../../vault/master-key.ts";
import { findWriteFault } from "../environment.ts";
import { digestFile, programFolder } from "../installed-files.ts";
import type { MachineSession } from "../machine-command.ts";
import { type Check, type CheckResult, inProduction, listOf, troubleUnless } from "./check.ts";

export const machineChecks: readonly Check[] = [
  [
    "node",
    "the SHA-256 of the Node that runs, and of those that the units and `gw` start",
    checkNode,
  ],
  ["key", "the key-encryption key, and who can read its file", checkKey],
  [
    "permissions",
    "private keys and the data folder: who can read and write them",
    checkPermissions,
  ],
  ["disk", "free space for the data folder and the log", checkDisk],
  ["log", "whether the log can be written", checkLog],
  ["memory", "memory for the gateway's processes", checkMemory],
  ["time", "whether the system synchronises its clock", checkTime],
];

const mebibyte = 1_048_576;
/** An idle process uses 130 MB; the rest is for processing payments under load. */
const memoryPerProcess = 256 * mebibyte;

/** The Node.js binaries that the systemd units start, and that `gw` finds first in its PATH. */
export const nodePlaces = ["node_modules/node/bin/node", "node_modules/.bin/node"];

async function checkNode(session: MachineSession): Promise<CheckResult> {
  const { platform, arch, version, execPath } = process;
  const list = join(programFolder, "tools/node-checksums.json");
  const text = await readFile(list, "utf8").catch(() => '{ "sha256": {} }');
  const { sha256 }: { sha256: Readonly<Record<string, string>> } = JSON.parse(text);
  const packageName = Object.keys(sha256).find((name) => name.endsWith(`-${platform}-${arch}`));
  const places = [execPath, ...nodePlaces.map((place) => join(programFolder, place))];
  const files = places.map((place) => realpath(place).catch(() => place));
  const troubles: string[] = [];
  for (const file of new Set(await Promise.all(files))) {
    const digest = await digestFile(file).catch(messageOf);
    if (packageName !== undefined && digest === sha256[packageName]) continue;
    troubles.push(
      `${file} is not the Node of tools/node-checksums.json (${digest}): install again by npm ci ` +
        "without --ignore-scripts, and run gw by that Node.",
    );
  }
  return inProduction(session, `Node: ${version}, ${await realpath(execPath)}`, troubles);
}

async function checkKey({ config, masterKey }: MachineSession): Promise<CheckResult> {
  const { file, given, command, partFiles } = masterKeySource(config);
  const files = [file, ...partFiles].filter((each) => each !== "");
  const place = files.length > 0 ? files.join(", ") : command === "" ? "environment" : "command";
  const what = `key-encryption key: ${place}, check value ${checkValueOf(masterKey)}`;
  if (given !== "" || command !== "") return { what };
  const open = await findOpen(files, 0o077);
  return troubleUnless(what, open.length === 0, `Others can read it: chmod 600 ${open.join(" ")}`);
}

async function checkPermissions({ config, database }: MachineSession): Promise<CheckResult> {
  const gates = await loadGates(database.query);
  const directories = await loadDirectories(database.query);
  const keys = [
    ...[config.tlsKeyFile, config.resultsKeyFile],
    ...gates.map(({ settings }) => settings.tlsKeyFile ?? ""),
    ...directories.map(({ settings }) => settings.keyFile),
  ];
  // A key's group may read its file, because programs that renew certificates share this group with
  // the gateway.
  const open = await findOpen([...new Set(keys)].filter(Boolean), 0o027);
  const writable = await findOpen([resolve(config.dataDir)], 0o022);
  return {
    what: `permissions: ${listOf([...open, ...writable])} too wide`,
    troubles: [
      ...open.map((file) => `Others can read or change the key ${file}: chmod 600 ${file}`),
      ...writable.map((folder) => `Others can write to ${folder}: chmod go-w ${folder}`),
    ],
  };
}

/** Skips files that do not exist, which another check reports. */
async function findOpen(files: readonly string[], bits: number): Promise<readonly string[]> {
  const open: string[] = [];
  for (const file of files) {
    const mode = await stat(file).then(
      (found) => found.mode,
      () => 0,
    );
    if ((mode & bits) !== 0) open.push(file);
  }
  return open;
}

async function checkDisk({ config }: MachineSession): Promise<CheckResult> {
  const folders = new Set([resolve(config.dataDir), dirname(logFileOf(config))]);
  const found = await Promise.all(
    [...folders].map(async (folder) => ({ folder, free: await findFree(folder) })),
  );
  const short = found.filter(({ free }) => free < config.diskFreeMib * mebibyte);
  const told = found.map(({ folder, free }) => `${Math.floor(free / mebibyte)} MiB in ${folder}`);
  return troubleUnless(
    `free disk space: ${told.join(", ")}`,
    short.length === 0,
    "Make room or enlarge the disk (GW_DISK_FREE_MIB): a full disk stops the embedded database " +
      "and loses lines of the log.",
  );
}

async function checkLog({ config }: MachineSession): Promise<CheckResult> {
  const file = logFileOf(config);
  const fault = await findWriteFault(file, { isRotated: true });
  const advice = `Make its folder writable for this user, or set GW_LOG_FILE: ${fault}.`;
  return troubleUnless(`log: ${file}`, fault === undefined, advice);
}

function logFileOf({ logFile, dataDir }: MachineSession["config"]): string {
  return resolve(logFile || join(dataDir, "gateway.log"));
}

async function checkMemory({ config }: MachineSession): Promise<CheckResult> {
  const workers = countWorkers(config);
  const available = process.availableMemory();
  const processes = `${workers} ${workers === 1 ? "process" : "processes"}`;
  const what = `memory: ${Math.floor(available / mebibyte)} MiB for ${processes}`;
  if (available >= workers * memoryPerProcess) return { what };
  const advice = `Each takes up to ${memoryPerProcess / mebibyte} MiB: lower GW_WORKERS`;
  return { what, warnings: [`${advice}, or give the machine more.`] };
}

/** Without systemd, the clock's synchronisation is unknown, which is a warning. */
async function checkTime(): Promise<CheckResult> {
  const words = ["show", "--property=NTPSynchronized", "--value"];
  const answer = await promisify(execFile)("timedatectl", words, { timeout: 2_000 }).catch(
    () => undefined,
  );
  const state = answer?.stdout.trim();
  const what = `time synchronisation: ${{ yes: "on", no: "off" }[String(state)] ?? "unknown"}`;
  if (state === "yes") return { what };
  if (state !== "no") {
    return {
      what,
      warnings: ["timedatectl gives no answer: check yourself that the clock is synchronised."],
    };
  }
  return { what, warnings: ["Run chrony or systemd-timesyncd: this machine's clock drifts."] };
}
