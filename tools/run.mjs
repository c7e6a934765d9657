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

// Objects of a request are garbage once it is answered. With room for thousands of requests in the
// young generation few are copied first; it costs memory only under load. Twice as much takes 50 MB
// more and saves no time that can be measured.
//
// A sale calls most functions once or twice, and V8 compiles a function for speed after 3000 calls
// or more: a new gateway needed 25,000 sales for its full speed. With 500 it needs 5,000, which is
// a quarter less processor time between them, and is as fast afterwards.
//
// While the young generation is small, after a start, most objects survive a collection, and V8
// decides to make their like in the old generation from then on. There they die soon, and until
// the old generation is collected they keep alive all young objects that they refer to. Without
// that decision a sale costs 12 % less, and the gateway takes 85 MB less under full load.
//
// V8 first collects the old generation while it is small: at 31 and at 95 MB, within the first
// thousands of sales, and then by what those left. With room for 160 MB a sale costs 9 % less,
// about half of it in V8's helper threads. It takes 65 MB more under full load and none at rest.
//
// After eight seconds of rest V8 collects garbage to return memory, and throws compiled code away
// with it: the next thousands of sales cost a third more, and the slowest of them take twice as
// long. After a minute the load is over, not only between two bursts.
//
// The gateway itself collects what its start has left behind (`gateway/main.ts`).
//
// Without the last flag, SIGUSR1 opens a debugger, which can read keys and cards in memory.
const nodeFlags = [
  "--max-semi-space-size=32",
  "--invocation-count-for-turbofan=500",
  "--no-allocation-site-pretenuring",
  "--initial-old-space-size=160",
  "--memory-reducer-delay-ms=60000",
  "--expose-gc",
  "--disable-sigusr1",
];

// glibc returns a large freed block to the system, and raises the size that counts as large each
// time. V8's compiler frees many at the start: 20 to 30 MB of them stayed with the gateway for as
// long as it ran. A size that is set stays as it is.
//
// It also gives each thread a heap of its own. What one thread allocates and another one frees, as
// messages to the callback worker are, leaves holes: after 30,000 callbacks 100 MB of them.
const allocator = { MALLOC_MMAP_THRESHOLD_: "131072", MALLOC_ARENA_MAX: "2" };

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
