/**
 * Facts about processes, and the operating system user that runs PostgreSQL. A process id alone
 * identifies no process, because another one may have it after a reboot.
 */
import { execFile, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { userInfo } from "node:os";
import { dirname, join, sep } from "node:path";
import { Problem } from "../../values/problem.ts";

/** Returns false for a process that has ended, even if its parent has not noticed that yet. */
export function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (errorCode(error) !== "EPERM") return false;
  }
  const state = readStat(pid)?.state ?? askPs(pid, "stat=");
  return !state.startsWith("Z");
}

/** Returns the start time as the system prints it, which never changes for a process. */
export function startTimeOf(pid: number): string {
  return readStat(pid)?.startTime ?? askPs(pid, "lstart=");
}

/** Returns the program and its arguments, or an empty list if the system does not reveal them. */
export function commandOf(pid: number): readonly string[] {
  const line = readOrNothing(() => fs.readFileSync(`/proc/${pid}/cmdline`, "utf8"));
  if (line !== undefined) return line.split("\0").filter((word) => word !== "");
  return askPs(pid, "command=").split(" ").filter(Boolean);
}

export function workingFolderOf(pid: number): string | undefined {
  return readOrNothing(() => fs.readlinkSync(`/proc/${pid}/cwd`));
}

/** Returns the processes that have this working folder; none on systems other than Linux. */
export function findProcessesIn(folder: string): readonly number[] {
  if (process.platform !== "linux") return [];
  const pids = fs.readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => workingFolderOf(pid) === folder);
}

export function errorCode(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

export function readLines(file: string): readonly string[] | undefined {
  try {
    return fs.readFileSync(file, "utf8").split("\n");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/**
 * Reads `/proc`, which only Linux has. The program's name is in brackets and may contain any
 * character, so the fields after the last bracket are read.
 */
function readStat(pid: number): { readonly state: string; readonly startTime: string } | undefined {
  const line = readOrNothing(() => fs.readFileSync(`/proc/${pid}/stat`, "utf8"));
  if (line === undefined) return undefined;
  const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
  return { state: fields[0] ?? "", startTime: fields[19] ?? "" };
}

function askPs(pid: number, column: string): string {
  if (process.platform === "linux") return "";
  return String(spawnSync("ps", ["-p", String(pid), "-o", column]).stdout ?? "").trim();
}

function readOrNothing(read: () => string): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** The operating system user of PostgreSQL. `ids` are empty if it is the gateway's own user. */
export type DatabaseUser = {
  readonly name: string;
  readonly ids: { readonly uid: number; readonly gid: number } | Record<string, never>;
};

/**
 * PostgreSQL refuses to run as root. If the gateway runs as root, the user is the owner of an
 * existing cluster, else `postgres`, else `nobody`.
 */
export function chooseDatabaseUser(folder: string): DatabaseUser | Problem {
  if (process.getuid?.() !== 0) return { name: ownName(), ids: {} };

  const users = readUsers();
  const owner = fs.statSync(folder, { throwIfNoEntry: false });
  if (owner !== undefined && owner.uid !== 0) {
    const known = users.find((user) => user.ids.uid === owner.uid);
    return known ?? { name: String(owner.uid), ids: { uid: owner.uid, gid: owner.gid } };
  }
  const named = (name: string) => users.find((user) => user.name === name);
  return (
    named("postgres") ??
    named("nobody") ??
    new Problem(
      "PostgreSQL refuses to run as root and there is no user to run it as: " +
        'make one with "useradd --system postgres", or start the gateway as an ordinary user.',
    )
  );
}

function readUsers(): readonly DatabaseUser[] {
  const lines = fs.readFileSync("/etc/passwd", "utf8").split("\n");
  return lines.flatMap((line) => {
    const [name = "", , uid = "", gid = ""] = line.split(":");
    if (!/^-?\d+$/.test(uid) || !/^-?\d+$/.test(gid)) return [];
    // Some systems write the user id of `nobody` as -2, which is converted to the unsigned number.
    return [{ name, ids: { uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 } }];
  });
}

/** Returns the gateway's user by name, or by id if the system's list of users lacks it. */
export function ownName(): string {
  return readOrNothing(() => userInfo().username) ?? `user ${process.getuid?.() ?? "unknown"}`;
}

/** Returns the first part of the path to `target` that is closed to the user, or undefined. */
export function findBlockedBy(
  user: DatabaseUser,
  target: string,
  needed: "enter" | "read",
): string | undefined {
  if (user.ids.uid === undefined) return undefined;
  const real = fs.realpathSync(target);
  return [...ancestors(target), ...ancestors(real)].find((path) => {
    const bits = path === real && needed === "read" ? 0o5 : 0o1;
    return (permissionsOf(user, path) & bits) !== bits;
  });
}

function permissionsOf(user: DatabaseUser, path: string): number {
  const { mode, uid, gid } = fs.statSync(path);
  if (uid === user.ids.uid) return (mode >> 6) & 0o7;
  if (gid === user.ids.gid) return (mode >> 3) & 0o7;
  return mode & 0o7;
}

function ancestors(target: string): readonly string[] {
  const above = dirname(target);
  return above === target ? [target] : [...ancestors(above), target];
}

/** Makes the user the owner of a folder with its content, if the gateway runs as root. */
export function changeOwner(user: DatabaseUser, path: string): void {
  const { uid, gid } = user.ids;
  if (uid === undefined || gid === undefined) return;
  fs.chownSync(path, uid, gid);
  if (!fs.lstatSync(path).isDirectory()) return;
  for (const entry of fs.readdirSync(path, { withFileTypes: true })) {
    if (!entry.isSymbolicLink()) changeOwner(user, join(path, entry.name));
  }
}

/** Makes folders that the user of the database may enter, even if the umask is strict. */
export function makeFolders(user: DatabaseUser, path: string): void {
  const highest = fs.mkdirSync(path, { recursive: true });
  if (highest === undefined || user.ids.uid === undefined) return;
  for (let made = path; made.length >= highest.length; made = dirname(made)) {
    fs.chmodSync(made, fs.statSync(made).mode | 0o011);
  }
}

export function packagesFolderOf(path: string): string | undefined {
  const at = path.indexOf(`${sep}node_modules`);
  return at < 0 ? undefined : `${path.slice(0, at)}${sep}node_modules`;
}

export function runAs(
  user: DatabaseUser,
  program: string,
  parameters: readonly string[],
): Promise<{ readonly failed: boolean; readonly output: string }> {
  const options = { ...user.ids, cwd: "/", env: cleanEnvironment() };
  return new Promise((resolve) => {
    execFile(program, [...parameters], options, (error, stdout, stderr) => {
      resolve({ failed: error !== null, output: `${stdout}${stderr}` || String(error?.message) });
    });
  });
}

/** Leaves out environment variables such as PGPORT, which may lead PostgreSQL to another server. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  return { PATH: process.env["PATH"], LC_ALL: "C", TZ: "UTC" };
}
