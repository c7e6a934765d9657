/**
 * A whole gateway as a process, as `npm start` runs it: database, bank and gateway on free ports.
 * Whatever becomes of the test, nothing keeps running: the test's end stops everything, and a
 * watcher does so when the test process itself is gone.
 */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { endProcess, isRunning, stopDatabase } from "./end-gateway.ts";

export type GatewayProcess = {
  /** As `demo.json` or, in production, the line that says where it listens has it. */
  readonly baseUrl: string;
  readonly demo: Demo;
  readonly dataDir: string;
  readonly child: ChildProcess;
  /** What it has printed so far. */
  readonly output: string;
  /** As Ctrl-C does: everything ends in order. */
  stop(): Promise<void>;
  /** As a crash: the database goes on, and the next process on the data folder takes it over. */
  kill(): Promise<void>;
};

export type Demo = {
  readonly baseUrl: string;
  readonly merchant: { readonly login: string; readonly controlKey: string };
  readonly endpoints: Readonly<Record<string, string>>;
  readonly group: string;
  readonly bank: { readonly url: string; readonly host: string };
};

export type ProcessOptions = {
  readonly env?: Readonly<Record<string, string>>;
  /** A folder of the caller's; without it one is made, and removed at the end. */
  readonly dataDir?: string;
};

const program = join(import.meta.dirname, "../../gateway/cli/gw.ts");
const watcher = join(import.meta.dirname, "watch-gateway.ts");
const startWithinMs = 240_000;
const started = new Set<Started>();

type Started = {
  readonly dataDir: string;
  readonly child: ChildProcess;
  readonly watch: ChildProcess;
  readonly isOwnFolder: boolean;
};

export async function startProcess(options: ProcessOptions = {}): Promise<GatewayProcess> {
  const dataDir = options.dataDir ?? (await makeFolder());
  const child = spawn(process.execPath, [program, "start"], {
    env: { ...cleanEnvironment(), ...freePorts, ...options.env, GW_DATA_DIR: dataDir },
    stdio: ["ignore", "pipe", "pipe"],
    // In a group of its own: Ctrl-C at the test must not be its second signal.
    detached: true,
  });
  const watch = startWatcher(child, dataDir);
  started.add({ dataDir, child, watch, isOwnFolder: options.dataDir === undefined });

  const printed = collect(child);
  const ended = once(child, "exit");
  const baseUrl = await untilUp(child, printed);
  const demo = await readDemo(dataDir);
  return {
    baseUrl,
    get demo() {
      assert.ok(demo !== undefined, "there is no demo.json in production");
      return demo;
    },
    dataDir,
    child,
    get output() {
      return printed.text;
    },
    async stop() {
      await endProcess(child);
    },
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** When the file's last test is done, so that a process may be killed and another follow it. */
after(async () => {
  for (const { child } of started) await endProcess(child);
  for (const { dataDir, watch, isOwnFolder } of started) {
    await stopDatabase(dataDir);
    watch.kill("SIGKILL");
    if (isOwnFolder) await rm(dataDir, { recursive: true, force: true });
  }
});

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-process-"));
  // PostgreSQL never runs as root: where we do, its user must be able to pass.
  await chmod(folder, 0o711);
  return folder;
}

const freePorts = {
  GW_PORT: "0",
  GW_RESULTS_PORT: "0",
  GW_BANK_DIRECTORY_PORT: "0",
  GW_BANK_PORT: "0",
  GW_BANK_HOST_PORT: "0",
  GW_BANK_BINARY_HOST_PORT: "0",
};

/** Settings of whoever runs the tests are not the test's. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(GW|NODE_TEST)_/.test(name));
  return Object.fromEntries(kept);
}

/** It holds our end of a pipe, which closes however we end. */
function startWatcher(child: ChildProcess, dataDir: string): ChildProcess {
  const watch = spawn(process.execPath, [watcher, String(child.pid), dataDir], {
    stdio: ["pipe", "ignore", "inherit"],
    detached: true,
  });
  watch.unref();
  return watch;
}

type Printed = { text: string };

function collect(child: ChildProcess): Printed {
  const printed: Printed = { text: "" };
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text) => {
      printed.text += text;
    });
  }
  return printed;
}

/** The address, when everything is up; what was printed is the error when it never is. */
async function untilUp(child: ChildProcess, printed: Printed): Promise<string> {
  const giveUpAt = Date.now() + startWithinMs;
  while (isRunning(child) && Date.now() < giveUpAt) {
    const [, listening] = /^Tollgate listens on (\S+)$/m.exec(printed.text) ?? [];
    const [, shown] = /^ *Gateway +(\S+?)\/$/m.exec(printed.text) ?? [];
    const isComplete = printed.text.includes("Ctrl-C stops everything.");
    if (listening !== undefined) return listening;
    if (shown !== undefined && isComplete) return shown;
    await pause(20);
  }
  await endProcess(child);
  throw new Error(`The gateway did not start:\n${printed.text}`);
}

async function readDemo(dataDir: string): Promise<Demo | undefined> {
  const text = await readFile(join(dataDir, "demo.json"), "utf8").catch(() => undefined);
  return text === undefined ? undefined : JSON.parse(text);
}
