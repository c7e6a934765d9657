/**
 * The running server: found, launched, watched and stopped by its process number. It lives in a
 * process group of its own, so Ctrl-C in a terminal reaches the gateway first and not the database.
 */
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type Cluster, cleanEnvironment, runAs } from "./cluster.ts";
import { findBlockedBy, giveTo } from "./database-user.ts";
import { commandOf, errorCode, findProcessesIn, isAlive, workingFolderOf } from "./processes.ts";
import { settingsFor } from "./settings.ts";
import { StartProblem } from "./start-problem.ts";

export type Postmaster = { readonly pid: number; readonly socketFolder: string };

const socketFolderPrefix = "tollgate-postgres-";
const socketName = ".s.PGSQL.5432";
/** The system's limit for the name of a socket; macOS has the lowest. */
const socketPathBytesMax = 103;
const logBytesMax = 10 * 1024 * 1024;
const fastShutdownMs = 30_000;
const immediateShutdownMs = 10_000;

/** The server that runs on this folder: left behind by a gateway that was killed, perhaps. */
export function findPostmaster(folder: string): Postmaster | undefined {
  const noted = readNote(folder);
  if (noted === undefined || whoIs(noted.pid, folder) !== "ours") return undefined;
  return { pid: noted.pid, socketFolder: noted.socketFolder };
}

export async function launchPostmaster(
  cluster: Cluster,
  socketFolder: string,
  overrides: Readonly<Record<string, string>>,
): Promise<Postmaster | StartProblem> {
  disownNote(cluster.folder);
  fs.mkdirSync(socketFolder, { recursive: true, mode: 0o700 });
  giveTo(cluster.user, socketFolder);

  const walCompression = await chooseWalCompression(cluster);
  const settings = settingsFor({ socketFolder, walCompression, overrides });
  const log = openLog(cluster.logFile);
  const child = spawn(cluster.binaries.postgres, ["-D", cluster.folder, ...settings], {
    ...cluster.user.ids,
    cwd: "/",
    detached: true,
    env: cleanEnvironment(),
    stdio: ["ignore", log, log],
  });
  fs.closeSync(log);
  const failure = await new Promise<Error | undefined>((resolve) => {
    child.once("spawn", () => resolve(undefined));
    child.once("error", resolve);
  });
  child.unref();
  if (child.pid !== undefined && failure === undefined) return { pid: child.pid, socketFolder };
  return new StartProblem(`PostgreSQL cannot be run: ${failure?.message ?? "it did not start"}.`);
}

/** Fast shutdown: open transactions are rolled back, everything committed is on disk. */
export async function stopPostmaster({ pid, socketFolder }: Postmaster): Promise<void> {
  signal(pid, "SIGINT");
  if (!(await hasEnded(pid, fastShutdownMs))) {
    signal(pid, "SIGQUIT");
    await hasEnded(pid, immediateShutdownMs);
  }
  removeSocketFolder(socketFolder);
}

/**
 * Ends what a server that was killed left behind: a session busy with a long query does not notice
 * that its server is gone, and keeps the next one from starting. Recovery makes good for it.
 */
export function endOrphans(folder: string): void {
  for (const pid of findProcessesIn(folder)) {
    if (commandOf(pid)[0]?.startsWith("postgres: ")) signal(pid, "SIGQUIT");
  }
}

/** Short enough for the name of a socket, and a place that the database user can enter. */
export function makeSocketFolder({ user }: Cluster): string | StartProblem {
  for (const place of [tmpdir(), "/tmp", "/var/tmp"]) {
    const length = Buffer.byteLength(join(place, `${socketFolderPrefix}XXXXXX`, socketName));
    if (length > socketPathBytesMax || !fs.existsSync(place)) continue;
    if (findBlockedBy(user, place, "enter") !== undefined) continue;
    try {
      return fs.mkdtempSync(join(place, socketFolderPrefix));
    } catch (error) {
      if (!["EACCES", "EPERM", "EROFS", "ENOSPC"].includes(errorCode(error))) throw error;
    }
  }
  return new StartProblem(
    "There is no temporary folder for the socket of the database: set TMPDIR to a short path " +
      `that the user "${user.name}" can enter.`,
  );
}

export function removeSocketFolder(path: string): void {
  const ours = basename(path).startsWith(socketFolderPrefix);
  if (ours) fs.rmSync(path, { recursive: true, force: true });
}

/** What `postmaster.pid` says: the process on the first line, its socket's folder on the fifth. */
function readNote(folder: string): Postmaster | undefined {
  try {
    const lines = fs.readFileSync(noteOf(folder), "utf8").split("\n");
    return { pid: Number(lines[0]), socketFolder: lines[4] ?? "" };
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

function noteOf(folder: string): string {
  return join(folder, "postmaster.pid");
}

function whoIs(pid: number, folder: string): "nobody" | "ours" | "another" | "unclear" {
  if (!isAlive(pid)) return "nobody";
  const [program, ...parameters] = commandOf(pid);
  if (program === undefined) return "unclear";
  if (basename(program) !== "postgres") return "another";
  const workingFolder = workingFolderOf(pid);
  if (workingFolder !== undefined) return workingFolder === folder ? "ours" : "another";
  return parameters.includes(folder) ? "ours" : "unclear";
}

/**
 * PostgreSQL does not start while the noted process lives, even when its number went to another
 * program. The note is not removed: its last line names the shared memory by which PostgreSQL sees
 * that processes of the old server are still at work. Only its number becomes one that no process
 * has.
 */
function disownNote(folder: string): void {
  const noted = readNote(folder);
  if (noted === undefined) return;
  const who = whoIs(noted.pid, folder);
  if (who === "ours" || who === "unclear") return;
  removeSocketFolder(noted.socketFolder);
  const note = fs.readFileSync(noteOf(folder), "utf8");
  fs.writeFileSync(noteOf(folder), note.replace(/^.*/, String(pidOfNobody)));
}

/** Above the highest number that any system of ours gives. */
const pidOfNobody = 99_999_999;

async function chooseWalCompression({ binaries, folder, user }: Cluster): Promise<"lz4" | "off"> {
  const ask = ["-D", folder, "-c", "wal_compression=lz4", "-C", "wal_compression"];
  const answer = await runAs(user, binaries.postgres, ask);
  return answer.code === 0 ? "lz4" : "off";
}

function openLog(file: string): number {
  const size = fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size > logBytesMax) fs.renameSync(file, `${file}.old`);
  return fs.openSync(file, "a", 0o600);
}

async function hasEnded(pid: number, withinMs: number): Promise<boolean> {
  const deadline = Date.now() + withinMs;
  while (isAlive(pid)) {
    if (Date.now() > deadline) return false;
    await pause(20);
  }
  return true;
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (errorCode(error) !== "ESRCH") throw error;
  }
}
