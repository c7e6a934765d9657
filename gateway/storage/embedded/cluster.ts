/**
 * The cluster: the folder in which PostgreSQL keeps its files. Made aside and renamed when it is
 * whole, so that a first start cut short leaves nothing that a second one would stumble over.
 */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import { dirname, join } from "node:path";
import type { Binaries } from "./binaries.ts";
import { majorVersion } from "./binaries.ts";
import type { DatabaseUser } from "./database-user.ts";
import {
  chooseDatabaseUser,
  findBlockedBy,
  giveTo,
  letPass,
  ownName,
  packagesFolderOf,
} from "./database-user.ts";
import { errorCode } from "./processes.ts";
import { StartProblem } from "./start-problem.ts";

export const superuser = "tollgate";

export type Cluster = {
  readonly folder: string;
  readonly binaries: Binaries;
  readonly user: DatabaseUser;
  readonly password: string;
  readonly logFile: string;
};

/** Where the cluster is or will be, and who works on it; checked to be within that user's reach. */
export type Place = Pick<Cluster, "folder" | "binaries" | "user">;

export function openPlace(folder: string, binaries: Binaries): Place | StartProblem {
  const user = chooseDatabaseUser(folder);
  if (user instanceof StartProblem) return user;
  makeWay(dirname(folder), user);
  return findBlocked(user, binaries, dirname(folder)) ?? { folder, binaries, user };
}

/** Makes the cluster on first use; otherwise checks that this gateway can run what is there. */
export async function openCluster(
  place: Place,
  report: (progress: string) => void,
): Promise<Cluster | StartProblem> {
  const { folder } = place;
  const content = contentOf(folder);
  if (content instanceof StartProblem) return content;
  const password = content === "empty" ? newPassword(folder) : readPassword(folder);
  if (password instanceof StartProblem) return password;

  const cluster = { ...place, password, logFile: `${folder}.log` };
  if (content === "empty") {
    const problem = await makeCluster(cluster, report);
    if (problem !== undefined) return problem;
  }
  takeOver(cluster);
  return { ...cluster, folder: fs.realpathSync(folder) };
}

export function passwordFileOf(folder: string): string {
  return join(dirname(folder), "postgres.password");
}

async function makeCluster(
  { folder, binaries, user, password }: Cluster,
  report: (progress: string) => void,
): Promise<StartProblem | undefined> {
  report(`Making the database in ${folder} …`);
  const unfinished = `${folder}.unfinished`;
  fs.rmSync(unfinished, { recursive: true, force: true });
  fs.mkdirSync(unfinished, { mode: 0o700 });
  const passwordFile = `${unfinished}.password`;
  fs.writeFileSync(passwordFile, password, { mode: 0o600 });
  giveTo(user, unfinished);
  giveTo(user, passwordFile);

  // The built-in C.UTF-8 sorts alike on every machine and never changes with the system's locales.
  const locale = ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"];
  const ended = await runAs(user, binaries.initdb, [
    `--pgdata=${unfinished}`,
    `--username=${superuser}`,
    `--pwfile=${passwordFile}`,
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    ...locale,
    "--data-checksums",
    // A new segment is written out before it is used, and whoever commits then waits for all of it.
    "--wal-segsize=2",
  ]);
  fs.rmSync(passwordFile);
  if (ended.code !== 0) {
    return new StartProblem(
      `PostgreSQL could not make its folder ${folder}: ${lastLine(ended.output)}`,
    );
  }
  fs.renameSync(unfinished, folder);
  return undefined;
}

/** Runs a program of PostgreSQL to its end, as the database user and without our environment. */
export function runAs(
  user: DatabaseUser,
  program: string,
  parameters: readonly string[],
): Promise<{ readonly code: number | null; readonly output: string }> {
  return new Promise((resolve) => {
    const child = spawn(program, parameters, {
      ...user.ids,
      cwd: "/",
      env: cleanEnvironment(),
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    child.stdout.on("data", (chunk) => (output += String(chunk)));
    child.stderr.on("data", (chunk) => (output += String(chunk)));
    child.on("error", (error) => resolve({ code: null, output: error.message }));
    child.on("close", (code) => resolve({ code, output }));
  });
}

/** PostgreSQL obeys variables such as PGPORT, which may be set here for another server. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  return { PATH: process.env["PATH"], LC_ALL: "C", TZ: "UTC" };
}

export function lastLine(text: string): string {
  return text.trim().split("\n").at(-1) ?? "";
}

function makeWay(parent: string, user: DatabaseUser): void {
  const highest = fs.mkdirSync(parent, { recursive: true });
  if (highest === undefined) return;
  for (let made = parent; made.length >= highest.length; made = dirname(made)) letPass(user, made);
}

function findBlocked(user: DatabaseUser, binaries: Binaries, parent: string) {
  for (const path of binaries.readable) {
    const blocker = findBlockedBy(user, path, "read");
    if (blocker === undefined) continue;
    const packages = packagesFolderOf(blocker);
    const cure = packages === undefined ? `chmod o+x ${blocker}` : `chmod -R o+rX ${packages}`;
    return new StartProblem(
      `PostgreSQL runs as the user "${user.name}", never as root, and that user may not enter ` +
        `${blocker}: run "${cure}", or move this folder to a place open to all, such as /opt.`,
    );
  }
  const blocker = findBlockedBy(user, parent, "enter");
  if (blocker === undefined) return undefined;
  return new StartProblem(
    `PostgreSQL runs as the user "${user.name}", never as root, and that user may not enter ` +
      `${blocker}: run "chmod o+x ${blocker}", or set GW_DATA_DIR to a folder that it can enter.`,
  );
}

function contentOf(folder: string): "cluster" | "empty" | StartProblem {
  const entries = fs.existsSync(folder) ? fs.readdirSync(folder) : [];
  if (entries.length === 0) return "empty";
  if (!entries.includes("PG_VERSION")) {
    return new StartProblem(
      `The folder ${folder} holds something other than a database: move it away, or set ` +
        "GW_DATA_DIR to another folder.",
    );
  }
  const version = fs.readFileSync(join(folder, "PG_VERSION"), "utf8").trim();
  if (version === majorVersion) return "cluster";
  return new StartProblem(
    `The database in ${folder} was made by PostgreSQL ${version}, and this gateway brings ` +
      `PostgreSQL ${majorVersion}: start the gateway version that made it, or set GW_DATA_DIR to ` +
      "another folder.",
  );
}

/** PostgreSQL refuses a folder that is not its user's own, or that others may read. */
function takeOver({ folder, user }: Cluster): void {
  const owners = [folder, join(folder, "PG_VERSION")].map((path) => fs.statSync(path).uid);
  if (user.ids.uid !== undefined && owners.includes(0)) giveTo(user, folder);
  fs.accessSync(folder, fs.constants.R_OK | fs.constants.W_OK | fs.constants.X_OK);
  if ((fs.statSync(folder).mode & 0o777) !== 0o700) fs.chmodSync(folder, 0o700);
}

function newPassword(folder: string): string {
  const password = randomBytes(24).toString("base64url");
  fs.writeFileSync(passwordFileOf(folder), password, { mode: 0o600 });
  return password;
}

function readPassword(folder: string): string | StartProblem {
  const file = passwordFileOf(folder);
  if (fs.existsSync(file)) return fs.readFileSync(file, "utf8").trim();
  return new StartProblem(
    `The password of the database in ${folder} is missing: put ${file} back, or move ${folder} ` +
      "away to start with an empty database.",
  );
}

// biome-ignore format: a table
const explanations: Readonly<Record<string, string>> = {
  EACCES:  "is not writable for",
  EPERM:   "is not writable for",
  EROFS:   "is on a disk that cannot be written by",
  ENOENT:  "cannot be made by",
  ENOTDIR: "is not a folder that can be used by",
  EEXIST:  "is not a folder that can be used by",
  ENOSPC:  "is on a full disk, as found by",
};

/** Trouble with files that the person at the terminal can put right; any other is thrown on. */
export function explain(error: unknown, folder: string): StartProblem {
  const explanation = explanations[errorCode(error)];
  if (explanation === undefined || !(error instanceof Error)) throw error;
  const place = "path" in error && typeof error.path === "string" ? error.path : folder;
  return new StartProblem(
    `The data folder ${explanation} the user "${ownName()}" (${place}): ` +
      "put that right, or set GW_DATA_DIR to a folder that this user can write.",
  );
}
