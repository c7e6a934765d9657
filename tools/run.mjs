/**
 * Starts a source file on the pinned Node, on any machine with Node 20 or newer, after installing
 * the packages when they are missing or out of date. Plain JavaScript, because it runs before
 * anything is installed.
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ensureInstalled } from "./install.mjs";

const runsWith = readFileSync(new URL("../gateway/node-flags", import.meta.url), "utf8").split(
  "\n",
);
const nodeFlags = runsWith.filter((line) => line.startsWith("--"));
const allocator = Object.fromEntries(
  runsWith.filter((line) => line.startsWith("MALLOC_")).map((line) => line.split("=")),
);

const startedAt = Date.now();
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const pinnedNode = join(
  ...[root, "node_modules", "node", "bin"],
  process.platform === "win32" ? "node.exe" : "node",
);
// Compiled sources: without the cache every process loads the compiler for TypeScript.
const compiledFolder = join(root, "node_modules", ".cache", "compiled");
// A production installation is complete and signed: running it adds no package and no cache.
const isProduction = process.env.GW_ENV === "production";
const warmWithinMs = 20_000;
const repeatWithinMs = 1_000;
const parentCheckEveryMs = 1_000;

process.exitCode = await main(process.argv.slice(2));

async function main([file, ...parameters]) {
  if (file === undefined) return refuse("Usage: node tools/run.mjs <file.ts> [parameters …]");
  if (Number.parseInt(process.versions.node, 10) < 20) {
    return refuse(
      `Node 20 or newer is needed, and this is ${process.version}: install a newer one.`,
    );
  }
  const problem = isProduction ? undefined : await ensureInstalled(root, pinnedNode);
  if (problem !== undefined) return refuse(problem);
  if (!existsSync(pinnedNode)) {
    return refuse(
      `The pinned Node is missing (${pinnedNode}): delete the folder node_modules and run ` +
        `${isProduction ? "npm ci, then " : ""}the same command again.`,
    );
  }
  const path = join(root, file);
  if (!existsSync(path)) return refuse(`There is no file ${path} to run.`);
  if (file === "gateway/cli/gw.ts" && parameters[0] === "start") buildPages();
  return run(path, parameters);
}

/** What is stale. The gateway runs without them, and their addresses say so. */
function buildPages() {
  const parts = { portal: "The portal", "docs-site": "The documentation" };
  for (const [folder, name] of Object.entries(parts)) {
    const build = join(root, folder, "build.ts");
    const { status } = spawnSync(pinnedNode, [build], { stdio: ["ignore", "inherit", "inherit"] });
    if (status !== 0) process.stderr.write(`${name} could not be built; all else works.\n`);
  }
}

function run(path, parameters) {
  // Tests and tools end before the flags pay: compiling for speed early makes them slower.
  const flags = dirname(path) === join(root, "tools") ? [] : nodeFlags;
  const env = { ...process.env, ...warm(flags) };
  const child = spawn(pinnedNode, [...flags, path, ...parameters], {
    stdio: "inherit",
    env: { TOLLGATE_STARTED_AT: String(startedAt), ...(flags.length > 0 && allocator), ...env },
  });
  passSignalsTo(child);
  stopWithParent(child);
  return new Promise((resolve) => {
    child.on("error", (error) => resolve(refuse(`The pinned Node cannot run: ${error.message}`)));
    child.on("exit", (code, signal) => resolve(code ?? 128 + constants.signals[signal]));
  });
}

/**
 * Fills the compile cache when a source has changed, unless the environment names another one: a
 * gateway that has to compile one file keeps the compiler, 26 MB, for as long as it runs. In
 * production there is none: an account that can write it could change what runs.
 */
function warm(flags) {
  if (process.env.NODE_COMPILE_CACHE !== undefined || isProduction) return {};
  const cache = { NODE_COMPILE_CACHE: compiledFolder };
  // Node keeps compiled sources per set of flags.
  const stamp = join(compiledFolder, `filled${flags.join("")}`);
  if (changedAt(stamp) >= newestSourceAt()) return cache;
  try {
    mkdirSync(compiledFolder, { recursive: true });
    // Before the sources are read: a later change counts as one.
    writeFileSync(stamp, "");
  } catch {
    // Not writable: the sources run with what the cache has.
    return existsSync(compiledFolder) ? cache : {};
  }
  const env = { ...process.env, ...cache };
  const options = { env, stdio: "ignore", timeout: warmWithinMs };
  spawnSync(pinnedNode, [...flags, join(root, "tools", "warm.ts")], options);
  return cache;
}

function newestSourceAt() {
  const folders = ["gateway", "protocols", "sandbox-bank"].map((name) => join(root, name));
  const files = folders
    .filter(existsSync)
    .flatMap((folder) =>
      readdirSync(folder, { recursive: true }).map((name) => join(folder, name)),
    );
  const sources = files.filter((file) => /(?<!\.test)\.ts$/.test(file));
  return sources.reduce((newest, file) => Math.max(newest, changedAt(file)), 0);
}

/** Zero for a file that is not there. */
function changedAt(file) {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/**
 * Ctrl-C arrives several times: from the terminal at every process of the group, and once more from
 * npm. The child must get one signal, because a second one makes it end at once.
 */
function passSignalsTo(child) {
  const passedAt = new Map();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => {
      if (signal === "SIGINT" && terminalReachesChild()) return;
      const repeated = Date.now() - (passedAt.get(signal) ?? 0) < repeatWithinMs;
      passedAt.set(signal, Date.now());
      if (!repeated) child.kill(signal);
    });
  }
}

/** True when this process group is in the foreground of a terminal. */
function terminalReachesChild() {
  try {
    const line = readFileSync("/proc/self/stat", "utf8");
    const [, , group, , , foreground] = line.slice(line.lastIndexOf(")") + 2).split(" ");
    return group === foreground;
  } catch {
    return process.stdin.isTTY === true;
  }
}

/** An npm that was killed cannot pass a signal on; the child still ends cleanly. */
function stopWithParent(child) {
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    child.kill("SIGTERM");
  }, parentCheckEveryMs).unref();
}

function refuse(sentence) {
  process.stderr.write(`${sentence}\n`);
  return 1;
}
