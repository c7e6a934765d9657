/**
 * Who PostgreSQL runs as. It refuses to run as root, so a gateway started by root gives it to an
 * unprivileged user, and says beforehand which folder that user could not enter.
 */
import * as fs from "node:fs";
import { userInfo } from "node:os";
import { dirname, join, sep } from "node:path";
import { StartProblem } from "./start-problem.ts";

/** `ids` is what a spawned process is given: empty when it runs as we do. */
export type DatabaseUser = {
  readonly name: string;
  readonly ids: { readonly uid: number; readonly gid: number } | Record<string, never>;
};

/** The owner of an existing cluster, else `postgres`, else `nobody`; ourselves unless root. */
export function chooseDatabaseUser(folder: string): DatabaseUser | StartProblem {
  if (process.getuid?.() !== 0) return { name: ownName(), ids: {} };

  const users = readUsers();
  const owner = fs.statSync(folder, { throwIfNoEntry: false });
  if (owner !== undefined && owner.uid !== 0) {
    const known = users.find((user) => user.ids.uid === owner.uid);
    return known ?? { name: String(owner.uid), ids: { uid: owner.uid, gid: owner.gid } };
  }
  const user =
    users.find((candidate) => candidate.name === "postgres") ??
    users.find((candidate) => candidate.name === "nobody");
  return (
    user ??
    new StartProblem(
      "PostgreSQL refuses to run as root and there is no user to run it as: " +
        'make one with "useradd --system postgres", or start the gateway as an ordinary user.',
    )
  );
}

/** The first folder or file on the way to `target` that the user may not pass, by mode bits. */
export function findBlockedBy(
  user: DatabaseUser,
  target: string,
  needed: "enter" | "read",
): string | undefined {
  if (user.ids.uid === undefined) return undefined;
  const real = fs.realpathSync(target);
  for (const path of [...ancestors(target), ...ancestors(real)]) {
    const bits = path === real && needed === "read" ? 0o5 : 0o1;
    if ((permissionsOf(user, path) & bits) !== bits) return path;
  }
  return undefined;
}

/** Makes the whole folder the user's. Does nothing unless we are root. */
export function giveTo(user: DatabaseUser, path: string): void {
  const { uid, gid } = user.ids;
  if (uid === undefined || gid === undefined) return;
  fs.chownSync(path, uid, gid);
  if (!fs.lstatSync(path).isDirectory()) return;
  for (const entry of fs.readdirSync(path, { withFileTypes: true })) {
    if (!entry.isSymbolicLink()) giveTo(user, join(path, entry.name));
  }
}

/** For a folder we have just made: a strict umask must not lock the database user out. */
export function letPass(user: DatabaseUser, path: string): void {
  if (user.ids.uid !== undefined) fs.chmodSync(path, fs.statSync(path).mode | 0o011);
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

function readUsers() {
  const lines = fs.readFileSync("/etc/passwd", "utf8").split("\n");
  return lines.flatMap((line) => {
    const [name = "", , uid = "", gid = ""] = line.split(":");
    if (!/^-?\d+$/.test(uid) || !/^-?\d+$/.test(gid)) return [];
    // Some systems write the number of `nobody` as -2.
    return [{ name, ids: { uid: Number(uid) >>> 0, gid: Number(gid) >>> 0 } }];
  });
}

/** A user without an entry in the list of users has no name. */
export function ownName(): string {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.() ?? "unknown"}`;
  }
}

/** The clone's folder of packages, when the path lies in it. */
export function packagesFolderOf(path: string): string | undefined {
  const at = path.indexOf(`${sep}node_modules`);
  return at < 0 ? undefined : `${path.slice(0, at)}${sep}node_modules`;
}
