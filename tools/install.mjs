/**
 * Brings node_modules up to date with package-lock.json, one process at a time. A stamp in
 * node_modules names the files for which it was last completed, so that an interrupted installation
 * is detected and repeated.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { basename, delimiter, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

const progressEveryMs = 3_000;
const linesShown = 30;

// The options do not depend on the user's npm settings. They install the tools for `npm test` and
// the programs for this platform, and run the scripts that put the pinned Node and PostgreSQL in
// place.
const options = [
  ...["--no-audit", "--no-fund", "--loglevel=error"],
  ...["--include=dev", "--include=optional", "--ignore-scripts=false"],
];

/** Returns a sentence if the packages cannot be installed. */
export async function ensureInstalled(root, pinnedNode) {
  if (isInstalled(root, pinnedNode)) return undefined;
  try {
    return await holdLock(join(root, ".installing"), async (nameWorker) =>
      isInstalled(root, pinnedNode) ? undefined : install(root, nameWorker),
    );
  } catch (error) {
    if (!["EACCES", "EPERM", "EROFS"].includes(error.code)) throw error;
    return notWritable(root);
  }
}

function isInstalled(root, pinnedNode) {
  if (!fs.existsSync(pinnedNode) || !fs.existsSync(stampFile(root))) return false;
  return fs.readFileSync(stampFile(root), "utf8") === fingerprint(root);
}

async function install(root, nameWorker) {
  const began = Date.now();
  process.stderr.write("Installing packages …\n");
  const progress = setInterval(() => {
    process.stderr.write(`  … ${Math.round((Date.now() - began) / 1000)} s\n`);
  }, progressEveryMs);
  try {
    fs.rmSync(stampFile(root), { force: true });
    // `npm install` would take packages that the lock file does not fix.
    const ended = await runNpm(root, ["ci"], nameWorker);
    if (ended.code !== 0) return explain(root, ended);
    fs.writeFileSync(stampFile(root), fingerprint(root));
  } finally {
    clearInterval(progress);
  }
  const seconds = ((Date.now() - began) / 1000).toFixed(1);
  process.stderr.write(`Packages installed in ${seconds} s.\n`);
  return undefined;
}

function runNpm(root, command, nameWorker) {
  const [program, ...first] = npmProgram(root);
  // A strict umask of root would hide PostgreSQL from the unprivileged user that runs it.
  const umask = process.umask(0o022);
  const child = spawn(program, [...first, ...command, ...options], {
    cwd: root,
    env: { ...process.env, PATH: pathOutside(root) },
    shell: process.platform === "win32" && first.length === 0,
    stdio: ["ignore", "pipe", "pipe"],
  });
  process.umask(umask);
  if (child.pid !== undefined) nameWorker(child.pid);
  let interrupted = false;
  const stop = (signal) => {
    interrupted = true;
    child.kill(signal);
  };
  process.once("SIGINT", stop).once("SIGTERM", stop).once("SIGHUP", stop);
  return new Promise((resolve) => {
    let output = "";
    child.stdout.on("data", (chunk) => (output += chunk));
    child.stderr.on("data", (chunk) => (output += chunk));
    child.on("error", (error) => resolve({ code: 1, output: error.message }));
    child.on("close", (code) => {
      for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) process.off(name, stop);
      resolve({ code, interrupted, output });
    });
  });
}

/**
 * Returns the npm that called this process, on its own Node, because the installed Node may be
 * replaced.
 */
function npmProgram(root) {
  const { npm_execpath: script, npm_node_execpath: node } = process.env;
  const usable = script?.endsWith(".js") && basename(script).startsWith("npm");
  if (!usable || !node || node.startsWith(join(root, "node_modules"))) return ["npm"];
  return [node, script];
}

function pathOutside(root) {
  const folders = (process.env.PATH ?? "").split(delimiter);
  return folders.filter((folder) => !folder.startsWith(join(root, "node_modules"))).join(delimiter);
}

function explain(root, { code, interrupted, output }) {
  if (interrupted) return "The installation was interrupted: run the same command again.";
  process.stderr.write(`${output.trim().split("\n").slice(-linesShown).join("\n")}\n`);
  if (/EACCES|EPERM|EROFS/.test(output)) return notWritable(root);
  if (/ENOSPC/.test(output)) return "The disk is full: make room and run the same command again.";
  if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ECONNRESET/.test(output)) {
    return (
      "Packages could not be downloaded: check the network or npm's proxy setting and run the " +
      "same command again."
    );
  }
  if (/EUSAGE/.test(output)) {
    return (
      "package-lock.json does not belong to package.json: run `npm install`, look at what it " +
      "changes in package-lock.json, and run the same command again."
    );
  }
  if (/ENOENT/.test(output) && code === 1 && /spawn npm/.test(output)) {
    return "npm was not found: install Node 20 or newer together with npm.";
  }
  return `npm ended with code ${code}: put right what it says above, then run the command again.`;
}

function notWritable(root) {
  return (
    `Packages cannot be installed, because ${root} is not writable for this user: ` +
    "run the command as the user who owns it, or clone it anew."
  );
}

function stampFile(root) {
  return join(root, "node_modules", ".tollgate-installed");
}

function fingerprint(root) {
  const { workspaces } = JSON.parse(fs.readFileSync(join(root, "package.json"), "utf8"));
  const files = ["package-lock.json", "package.json"];
  files.push(...workspaces.map((workspace) => join(workspace, "package.json")));
  const hash = createHash("sha256").update(`${process.platform} ${process.arch}\n`);
  for (const file of files) {
    const path = join(root, file);
    if (fs.existsSync(path)) hash.update(fs.readFileSync(path));
    hash.update("\0");
  }
  return hash.digest("hex");
}

const retryEveryMs = 200;
const touchEveryMs = 5_000;
const untouchedMaxMs = 60_000;

/**
 * Runs the work under a lock, which is a folder that only one process can create. A dead holder is
 * recognised by its process id, or by a folder that was not touched for a minute. `work` gets a
 * function that names the process doing the work, which may outlive this one.
 */
async function holdLock(folder, work) {
  const remains = [];
  let waiting = false;
  while (!take(folder)) {
    const holder = readHolder(folder);
    if (holder !== undefined && isStale(holder)) {
      // The folder is named after the dead holder, so that only one of several waiting processes
      // can move it.
      const stale = `${folder}.${holder.name}`;
      if (rename(folder, stale)) remains.push(stale);
      continue;
    }
    if (!waiting && holder !== undefined) {
      process.stderr.write(`Waiting for another installation (process ${holder.pids.at(-1)}) …\n`);
      waiting = true;
    }
    await pause(retryEveryMs);
  }
  const touching = setInterval(
    () => fs.utimesSync(noteOf(folder), new Date(), new Date()),
    touchEveryMs,
  );
  try {
    return await work((pid) => fs.writeFileSync(join(folder, "worker"), String(pid)));
  } finally {
    clearInterval(touching);
    for (const path of [...remains, folder]) fs.rmSync(path, { recursive: true, force: true });
  }
}

/**
 * Takes the lock. The folder is created elsewhere with its note and then moved into place, so that
 * every lock names its holder.
 */
function take(folder) {
  const own = `${folder}.${process.pid}-new`;
  fs.rmSync(own, { recursive: true, force: true });
  fs.mkdirSync(own);
  fs.writeFileSync(noteOf(own), `${process.pid}-${Date.now()}`);
  fs.writeFileSync(join(own, ".gitignore"), "*\n");
  const taken = rename(own, folder);
  if (!taken) fs.rmSync(own, { recursive: true });
  return taken;
}

function rename(from, to) {
  try {
    fs.renameSync(from, to);
    return true;
  } catch (error) {
    if (["ENOTEMPTY", "EEXIST", "ENOENT", "EPERM"].includes(error.code)) return false;
    throw error;
  }
}

function readHolder(folder) {
  try {
    const name = fs.readFileSync(noteOf(folder), "utf8");
    const worker = join(folder, "worker");
    const pids = [name, ...(fs.existsSync(worker) ? [fs.readFileSync(worker, "utf8")] : [])];
    return {
      name,
      pids: pids.map((text) => Number.parseInt(text, 10)),
      touchedAt: fs.statSync(noteOf(folder)).mtimeMs,
    };
  } catch (error) {
    if (error.code === "ENOENT") return undefined;
    throw error;
  }
}

function isStale({ pids, touchedAt }) {
  return Date.now() - touchedAt > untouchedMaxMs || !pids.some(isAlive);
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

function noteOf(folder) {
  return join(folder, "holder");
}
