/**
 * Finds, launches, tests and stops the process of the database server. It has its own process
 * group, so that Ctrl-C in a terminal reaches only the gateway.
 */
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Client, DatabaseError } from "pg";
import { Problem } from "../../values/problem.ts";
import { type Cluster, passwordFileOf, superuser } from "./cluster.ts";
import * as system from "./system.ts";

export type Postmaster = { readonly pid: number; readonly socketFolder: string };

const database = "tollgate";
const connectTimeoutMs = 5_000;
const socketFolderPrefix = "tollgate-postgres-";
const socketName = ".s.PGSQL.5432";
/** The longest path of a socket on macOS, the lowest limit of the supported systems. */
const socketPathBytesMax = 103;
const logBytesMax = 10 * 1024 * 1024;
const fastShutdownMs = 30_000;
const immediateShutdownMs = 10_000;

/**
 * Settings on PostgreSQL's command line, which override edited configuration files. All of them
 * keep a committed order on the disk, even where another value would be faster.
 */
const settings = {
  // The server is reached through a socket file in a folder of its own, and not by the network.
  listen_addresses: "",
  port: "5432",
  unix_socket_permissions: "0700",
  max_connections: "300",

  // With these settings, a commit that PostgreSQL has acknowledged survives a power failure.
  fsync: "on",
  synchronous_commit: "on",
  full_page_writes: "on",

  shared_buffers: "256MB",
  wal_buffers: "16MB",
  max_wal_size: "4GB",
  checkpoint_timeout: "15min",
  jit: "off",
  timezone: "UTC",

  // Order rows are updated a few times soon after their insert, so vacuums are frequent and small.
  // Analyses take longer and take the processor from payments, so they are less frequent.
  autovacuum_naptime: "15s",
  autovacuum_vacuum_scale_factor: "0.02",
  autovacuum_vacuum_insert_scale_factor: "0.05",
  autovacuum_analyze_scale_factor: "0.2",
  autovacuum_vacuum_cost_limit: "1000",

  // Parameters, failing rows and statements are not logged: they contain cards and personal data.
  log_min_messages: "warning",
  log_parameter_max_length: "0",
  log_parameter_max_length_on_error: "0",
  log_error_verbosity: "terse",
  log_min_error_statement: "panic",
  log_statement: "none",
  log_timezone: "UTC",
  logging_collector: "off",
} as const;

/** Finds the running server of the folder, for example after its gateway was killed. */
export function findPostmaster(folder: string): Postmaster | undefined {
  const noted = readPidFile(folder);
  return noted !== undefined && identify(noted.pid, folder) === "ours" ? noted : undefined;
}

export async function launchPostmaster(
  cluster: Cluster,
  socketFolder: string,
  overrides: Readonly<Record<string, string>>,
): Promise<Postmaster | Problem> {
  resetPidFile(cluster.folder);
  fs.mkdirSync(socketFolder, { recursive: true, mode: 0o700 });
  system.changeOwner(cluster.user, socketFolder);

  const all = {
    ...settings,
    unix_socket_directories: socketFolder,
    wal_compression: await chooseWalCompression(cluster),
    ...overrides,
  };
  const parameters = Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const log = openLog(cluster.logFile);
  const child = spawn(cluster.binaries.postgres, ["-D", cluster.folder, ...parameters], {
    ...cluster.user.ids,
    cwd: "/",
    detached: true,
    env: system.cleanEnvironment(),
    stdio: ["ignore", log, log],
  });
  fs.closeSync(log);
  const failure = await new Promise<Error | undefined>((resolve) => {
    child.once("spawn", () => resolve(undefined));
    child.once("error", resolve);
  });
  child.unref();
  if (child.pid !== undefined && failure === undefined) return { pid: child.pid, socketFolder };
  return new Problem(`PostgreSQL cannot be run: ${failure?.message ?? "it did not start"}.`);
}

async function chooseWalCompression({ binaries, folder, user }: Cluster): Promise<"lz4" | "off"> {
  const question = ["-D", folder, "-c", "wal_compression=lz4", "-C", "wal_compression"];
  return (await system.runAs(user, binaries.postgres, question)).failed ? "off" : "lz4";
}

function openLog(file: string): number {
  const size = fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size > logBytesMax) fs.renameSync(file, `${file}.old`);
  return fs.openSync(file, "a", 0o600);
}

/** The host is the folder of the socket, percent-encoded, which both `pg` and `psql` accept. */
export function urlOf(postmaster: Postmaster, password: string): string {
  const host = encodeURIComponent(postmaster.socketFolder);
  return `postgres://${superuser}:${encodeURIComponent(password)}@${host}:5432/${database}`;
}

const wrongPassword = "28P01";
const noSuchDatabase = "3D000";

/** Makes the database if it is missing. Returns "not yet" while the server starts or ends. */
export async function checkConnection(
  cluster: Cluster,
  postmaster: Postmaster,
): Promise<"ready" | "not yet" | Problem> {
  let answer = await connectTo(database, cluster, postmaster);
  if (answer === noSuchDatabase) {
    answer = await connectTo("postgres", cluster, postmaster, `create database ${database}`);
  }
  if (answer !== wrongPassword) return answer === "" ? "ready" : "not yet";
  const { folder } = cluster;
  return new Problem(
    `The password in ${passwordFileOf(folder)} is not the one of the database in ${folder}: put ` +
      "the right one back, or move that folder away to start with an empty database.",
  );
}

/** Returns the error code, or an empty text if the connection and the statement have succeeded. */
async function connectTo(
  name: string,
  { password }: Cluster,
  { socketFolder }: Postmaster,
  statement = "select 1",
): Promise<string> {
  const client = new Client({
    host: socketFolder,
    port: 5432,
    user: superuser,
    password,
    database: name,
    connectionTimeoutMillis: connectTimeoutMs,
  });
  // Without a listener, the error event of a lost connection would end the gateway's process.
  client.on("error", () => {});
  try {
    await client.connect();
    await client.query(statement);
    return "";
  } catch (error) {
    return error instanceof DatabaseError ? (error.code ?? "unknown") : "no answer";
  } finally {
    await client.end().catch(() => {});
  }
}

/** A fast shutdown rolls open transactions back and leaves everything committed on the disk. */
export async function stopPostmaster({ pid, socketFolder }: Postmaster): Promise<void> {
  signal(pid, "SIGINT");
  if (!(await hasEnded(pid, fastShutdownMs))) {
    signal(pid, "SIGQUIT");
    await hasEnded(pid, immediateShutdownMs);
  }
  removeSocketFolder(socketFolder);
}

async function hasEnded(pid: number, withinMs: number): Promise<boolean> {
  const deadline = Date.now() + withinMs;
  while (system.isAlive(pid)) {
    if (Date.now() > deadline) return false;
    await pause(20);
  }
  return true;
}

/**
 * Ends the sessions of a killed server. A session in a long query does not notice that its server
 * is gone, and no new server starts while it runs. The new server repairs the data files.
 */
export function endOrphans(folder: string): void {
  for (const pid of system.findProcessesIn(folder)) {
    if (system.commandOf(pid)[0]?.startsWith("postgres: ")) signal(pid, "SIGQUIT");
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (system.errorCode(error) !== "ESRCH") throw error;
  }
}

/** Makes a folder that the database's user may enter, with a path short enough for a socket. */
export function makeSocketFolder({ user }: Cluster): string | Problem {
  for (const place of [tmpdir(), "/tmp", "/var/tmp"]) {
    const length = Buffer.byteLength(join(place, `${socketFolderPrefix}XXXXXX`, socketName));
    if (length > socketPathBytesMax || !fs.existsSync(place)) continue;
    if (system.findBlockedBy(user, place, "enter") !== undefined) continue;
    try {
      return fs.mkdtempSync(join(place, socketFolderPrefix));
    } catch (error) {
      if (!["EACCES", "EPERM", "EROFS", "ENOSPC"].includes(system.errorCode(error))) throw error;
    }
  }
  return new Problem(
    "There is no temporary folder for the socket of the database: set TMPDIR to a short path " +
      `that the user "${user.name}" can enter.`,
  );
}

export function removeSocketFolder(path: string): void {
  const ours = basename(path).startsWith(socketFolderPrefix);
  if (ours) fs.rmSync(path, { recursive: true, force: true });
}

function pidFileOf(folder: string): string {
  return join(folder, "postmaster.pid");
}

/** The process id is on the first line of the file, the socket's folder on the fifth. */
function readPidFile(folder: string): Postmaster | undefined {
  const lines = system.readLines(pidFileOf(folder));
  return lines && { pid: Number(lines[0]), socketFolder: lines[4] ?? "" };
}

function identify(pid: number, folder: string): "none" | "ours" | "another" | "unclear" {
  if (!system.isAlive(pid)) return "none";
  const [program, ...parameters] = system.commandOf(pid);
  if (program === undefined) return "unclear";
  if (basename(program) !== "postgres") return "another";
  const workingFolder = system.workingFolderOf(pid);
  if (workingFolder !== undefined) return workingFolder === folder ? "ours" : "another";
  return parameters.includes(folder) ? "ours" : "unclear";
}

/** No process has this id, which exceeds the limit of all supported systems. */
const unusedPid = 99_999_999;

/**
 * Writes an unused process id into the pid file of a server that has ended, because PostgreSQL does
 * not start while any process, even of another program, has the noted id. The file is not deleted:
 * the shared memory that its last line names shows PostgreSQL whether processes of the old server
 * still run.
 */
function resetPidFile(folder: string): void {
  const noted = readPidFile(folder);
  if (noted === undefined) return;
  const process = identify(noted.pid, folder);
  if (process === "ours" || process === "unclear") return;
  removeSocketFolder(noted.socketFolder);
  const content = fs.readFileSync(pidFileOf(folder), "utf8");
  fs.writeFileSync(pidFileOf(folder), content.replace(/^.*/, String(unusedPid)));
}
