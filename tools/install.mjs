/**
 * Brings node_modules in step with package-lock.json. A stamp in node_modules says for which files
 * it was last made whole, so an install that was cut short is seen and made anew.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { basename, delimiter, join } from "node:path";
import { holdLock } from "./install-lock.mjs";

const progressEveryMs = 3_000;
const linesShown = 30;

// Wanted whatever the user's own npm settings are: the tools for `npm test`, the programs for this
// platform, and the scripts that put the pinned Node and PostgreSQL in place.
const options = [
  ...["--no-audit", "--no-fund", "--loglevel=error"],
  ...["--include=dev", "--include=optional", "--ignore-scripts=false"],
];

/** Comes back with a sentence when the packages cannot be installed. */
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
  const ticking = setInterval(() => {
    process.stderr.write(`  … ${Math.round((Date.now() - began) / 1000)} s\n`);
  }, progressEveryMs);
  try {
    const ended = isWhole(root)
      ? await updatePackages(root, nameWorker)
      : await installAnew(root, nameWorker);
    if (ended.code !== 0) return explain(root, ended);

    fs.rmSync(markerFile(root), { force: true });
    fs.writeFileSync(stampFile(root), fingerprint(root));
  } finally {
    clearInterval(ticking);
  }
  const seconds = ((Date.now() - began) / 1000).toFixed(1);
  process.stderr.write(`Packages installed in ${seconds} s.\n`);
  return undefined;
}

/** npm writes its own list last, and we remove our marker after that: all else was cut short. */
function isWhole(root) {
  const listed = fs.existsSync(join(root, "node_modules", ".package-lock.json"));
  return listed && !fs.existsSync(markerFile(root));
}

function updatePackages(root, nameWorker) {
  fs.rmSync(stampFile(root), { force: true });
  fs.writeFileSync(markerFile(root), "");
  return runNpm(root, ["install"], nameWorker);
}

async function installAnew(root, nameWorker) {
  fs.rmSync(join(root, "node_modules"), { recursive: true, force: true });
  const ended = await runNpm(root, ["ci"], nameWorker);
  // `npm ci` refuses a lock file that is not complete for every platform or not quite up to date.
  if (!/EUSAGE/.test(ended.output)) return ended;
  return runNpm(root, ["install", "--no-save"], nameWorker);
}

function runNpm(root, command, nameWorker) {
  const [program, ...first] = npmProgram(root);
  // Root's strict umask would hide PostgreSQL from the unprivileged user who is to run it.
  const umask = process.umask(0o022);
  const child = spawn(program, [...first, ...command, ...options], {
    cwd: root,
    env: { ...process.env, PATH: pathWithoutOurs(root) },
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

/** The npm that called us, on the Node that it runs on: not on the one it is about to replace. */
function npmProgram(root) {
  const { npm_execpath: script, npm_node_execpath: node } = process.env;
  const usable = script?.endsWith(".js") && basename(script).startsWith("npm");
  if (!usable || !node || node.startsWith(join(root, "node_modules"))) return ["npm"];
  return [node, script];
}

function pathWithoutOurs(root) {
  const folders = (process.env.PATH ?? "").split(delimiter);
  return folders.filter((folder) => !folder.startsWith(join(root, "node_modules"))).join(delimiter);
}

function explain(root, { code, interrupted, output }) {
  if (interrupted)
    return "The installation was interrupted: run the same command again to finish it.";
  process.stderr.write(`${output.trim().split("\n").slice(-linesShown).join("\n")}\n`);
  if (/EACCES|EPERM|EROFS/.test(output)) return notWritable(root);
  if (/ENOSPC/.test(output)) return "The disk is full: make room and run the same command again.";
  if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ECONNRESET/.test(output)) {
    return (
      "Packages could not be downloaded: check the network or npm's proxy setting and run the " +
      "same command again."
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

function markerFile(root) {
  return join(root, "node_modules", ".tollgate-installing");
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
