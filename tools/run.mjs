/**
 * Starts a source file on the pinned Node, on any machine with Node 20 or newer, after installing
 * the packages when they are missing or out of date. Plain JavaScript, because it runs before
 * anything is installed.
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ensureInstalled } from "./install.mjs";

// What a request makes is dead when it is answered; with room for thousands of them, hardly any is
// moved around by the garbage collector first. It costs memory only under load.
const nodeFlags = ["--max-semi-space-size=64"];

const startedAt = Date.now();
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const pinnedNode = join(
  ...[root, "node_modules", "node", "bin"],
  process.platform === "win32" ? "node.exe" : "node",
);
// What Node makes of the sources, kept: without it every process carries the means to make it.
const compiledFolder = join(root, "node_modules", ".cache", "compiled");
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
  const problem = await ensureInstalled(root, pinnedNode);
  if (problem !== undefined) return refuse(problem);
  if (!existsSync(pinnedNode)) {
    return refuse(
      `The pinned Node is missing (${pinnedNode}): delete the folder node_modules and run the ` +
        "same command again.",
    );
  }
  const path = join(root, file);
  if (!existsSync(path)) return refuse(`There is no file ${path} to run.`);
  return run(path, parameters);
}

function run(path, parameters) {
  const env = { ...process.env, ...warm() };
  const child = spawn(pinnedNode, [...nodeFlags, path, ...parameters], {
    stdio: "inherit",
    env: { TOLLGATE_STARTED_AT: String(startedAt), ...env },
  });
  passSignalsTo(child);
  stopWithParent(child);
  return new Promise((resolve) => {
    child.on("error", (error) => resolve(refuse(`The pinned Node cannot run: ${error.message}`)));
    child.on("exit", (code, signal) => resolve(code ?? 128 + constants.signals[signal]));
  });
}

/** Once, where it can be kept, and unless somebody keeps it elsewhere. */
function warm() {
  if (process.env.NODE_COMPILE_CACHE !== undefined) return {};
  const cache = { NODE_COMPILE_CACHE: compiledFolder };
  if (existsSync(compiledFolder)) return cache;
  try {
    mkdirSync(compiledFolder, { recursive: true });
  } catch {
    // Not ours to write to: the sources can be run without.
    return {};
  }
  const env = { ...process.env, ...cache };
  const options = { env, stdio: "ignore", timeout: warmWithinMs };
  spawnSync(pinnedNode, [join(root, "tools", "warm.ts")], options);
  return cache;
}

/**
 * Ctrl-C comes several times: from the terminal to every process of the group, and once more from
 * npm to us. The child must see one, because a second one may mean "at once" to it.
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

/** True when our process group is the one in the foreground of a terminal. */
function terminalReachesChild() {
  try {
    const line = readFileSync("/proc/self/stat", "utf8");
    const [, , group, , , foreground] = line.slice(line.lastIndexOf(")") + 2).split(" ");
    return group === foreground;
  } catch {
    return process.stdin.isTTY === true;
  }
}

/** An npm that was killed hard cannot pass a signal on; the child ends cleanly all the same. */
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
