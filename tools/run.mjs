/**
 * Starts a source file on the pinned Node, after installing the packages if they are missing or out
 * of date. It is plain JavaScript for any Node from version 20, because it runs before anything is
 * installed.
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
// The cache of compiled sources. Without it, every process loads the compiler for TypeScript.
const compiledFolder = join(root, "node_modules", ".cache", "compiled");
// A production installation is complete and signed, so running it adds no package and no cache.
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

/**
 * Builds the portal and the documentation if they are out of date. The gateway also runs without
 * them, and says so at their addresses.
 */
function buildPages() {
  const parts = { portal: "The portal", "docs-site": "The documentation" };
  for (const [folder, name] of Object.entries(parts)) {
    const build = join(root, folder, "build.ts");
    const { status } = spawnSync(pinnedNode, [build], { stdio: ["ignore", "inherit", "inherit"] });
    if (status !== 0) process.stderr.write(`${name} could not be built; all else works.\n`);
  }
}

function run(path, parameters) {
  // Tests and tools do without the flags, which optimise early: these processes end before that
  // pays.
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
 * Fills the compile cache if a source has changed, unless the environment names another cache. A
 * gateway that has to compile even one file keeps the compiler, 26 MB, in memory. In production
 * there is no cache, because an account that can write it could change what runs.
 */
function warm(flags) {
  if (process.env.NODE_COMPILE_CACHE !== undefined || isProduction) return {};
  const cache = { NODE_COMPILE_CACHE: compiledFolder };
  // Node keeps compiled sources per set of flags.
  const stamp = join(compiledFolder, `filled${flags.join("")}`);
  if (changedAt(stamp) >= newestSourceAt()) return cache;
  try {
    mkdirSync(compiledFolder, { recursive: true });
    // The stamp is written before the sources are read, so that a later change is noticed.
    writeFileSync(stamp, "");
  } catch {
    // The cache is not writable: the sources run with what it contains.
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

/** Returns 0 for a file that does not exist. */
function changedAt(file) {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/**
 * Passes signals to the child. Ctrl-C arrives several times: from the terminal at every process of
 * the group, and once more from npm. The child must get one signal only, because a second one makes
 * it end at once.
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

/** Whether this process group is in the foreground of a terminal. */
function terminalReachesChild() {
  try {
    const line = readFileSync("/proc/self/stat", "utf8");
    const [, , group, , , foreground] = line.slice(line.lastIndexOf(")") + 2).split(" ");
    return group === foreground;
  } catch {
    return process.stdin.isTTY === true;
  }
}

/** Stops the child when npm was killed, because npm then passes no signal on. */
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
