/**
 * Facts about processes of the operating system, and the operating system user that runs
 * PostgreSQL. A process id alone does not identify a process, because after a reboot another
 * process may have the same id.
 */
import { execFile, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { userInfo } from "node:os";
import { dirname, join, sep } from "node:path";
import { Problem } from "../../values/problem.ts";

/**
 * Returns whether the process is running. A process that has ended counts as ended even if its
 * parent process has not collected its result yet.
 */
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

/**
 * Returns the start time of a process as the system prints it. The text never changes while the
 * process runs.
 */
export function startTimeOf(pid: number): string {
  return readStat(pid)?.startTime ?? askPs(pid, "lstart=");
}

/**
 * Returns the program of a process and its arguments. Returns an empty list if the system does not
 * reveal them.
 */
export function commandOf(pid: number): readonly string[] {
  const line = readOrNothing(() => fs.readFileSync(`/proc/${pid}/cmdline`, "utf8"));
  if (line !== undefined) return line.split("\0").filter((word) => word !== "");
  return askPs(pid, "command=").split(" ").filter(Boolean);
}

export function workingFolderOf(pid: number): string | undefined {
  return readOrNothing(() => fs.readlinkSync(`/proc/${pid}/cwd`));
}

/**
 * Returns the processes that have this working folder. On systems other than Linux, the list is
 * always empty.
 */
export function findProcessesIn(folder: string): readonly number[] {
  if (process.platform !== "linux") return [];
  const pids = fs.readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => workingFolderOf(pid) === folder);
}

export function errorCode(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

/** Returns the content of a file, or undefined if the file does not exist. */
export function readLines(file: string): readonly string[] | undefined {
  try {
    return fs.readFileSync(file, "utf8").split("\n");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/**
 * Reads the state of a process from `/proc`, which only Linux has. The program's name is in
 * brackets and may contain any character, so the fields after the last bracket are read.
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

/**
 * The operating system user that runs PostgreSQL. `ids` are given to new processes. They are empty
 * if PostgreSQL runs as the same user as the gateway.
 */
export type DatabaseUser = {
  readonly name: string;
  readonly ids: { readonly uid: number; readonly gid: number } | Record<string, never>;
};

/**
 * Chooses the operating system user that runs PostgreSQL. PostgreSQL refuses to run as root. If the
 * gateway runs as root, the user is the owner of an existing cluster, or else `postgres`, or else
 * `nobody`.
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
    // Some systems write the user id of `nobody` as -2. It is converted to the unsigned number that
    // the system uses.
    return [{ name, ids: { uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 } }];
  });
}

/**
 * Returns the name of the user that runs the gateway, or the user's id if the system's list of
 * users does not contain it.
 */
export function ownName(): string {
  return readOrNothing(() => userInfo().username) ?? `user ${process.getuid?.() ?? "unknown"}`;
}

/**
 * Returns the first folder or file on the path to `target` that the user may not enter or read.
 * Returns undefined if the user has access to `target`.
 */
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

/**
 * Makes the user the owner of a folder and everything in it. Does nothing if the gateway does not
 * run as root.
 */
export function changeOwner(user: DatabaseUser, path: string): void {
  const { uid, gid } = user.ids;
  if (uid === undefined || gid === undefined) return;
  fs.chownSync(path, uid, gid);
  if (!fs.lstatSync(path).isDirectory()) return;
  for (const entry of fs.readdirSync(path, { withFileTypes: true })) {
    if (!entry.isSymbolicLink()) changeOwner(user, join(path, entry.name));
  }
}

/**
 * Makes missing folders, with permissions for the user of the database even if the umask of the
 * gateway is strict.
 */
export function makeFolders(user: DatabaseUser, path: string): void {
  const highest = fs.mkdirSync(path, { recursive: true });
  if (highest === undefined || user.ids.uid === undefined) return;
  for (let made = path; made.length >= highest.length; made = dirname(made)) {
    fs.chmodSync(made, fs.statSync(made).mode | 0o011);
  }
}

/**
 * Returns the `node_modules` folder that contains the path, or undefined if the path is not in one.
 */
export function packagesFolderOf(path: string): string | undefined {
  const at = path.indexOf(`${sep}node_modules`);
  return at < 0 ? undefined : `${path.slice(0, at)}${sep}node_modules`;
}

/** Runs a program of PostgreSQL to its end, as the database user. */
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

/**
 * Returns an environment without variables such as PGPORT, which PostgreSQL obeys and which may be
 * set for another server.
 */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  return { PATH: process.env["PATH"], LC_ALL: "C", TZ: "UTC" };
}
