/**
 * Starts the gateway to measure: `gw start` on a new folder, with the PostgreSQL and the sandbox
 * bank that it starts itself, and default settings.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Test } from "../tests/support/clean-up.ts";
import { findServerOf } from "../tests/support/databases/gateway-server.ts";
import { type Demo, startProcess } from "../tests/support/gateway-process.ts";
import { findChild, type Processes, workersOf } from "./cpu-time.ts";
import type { Target } from "./requests.ts";

export type MeasuredGateway = {
  readonly target: Target;
  /** The same merchant's endpoint with 3-D Secure. */
  readonly secure: Target;
  readonly bankUrl: string;
  readonly databaseUrl: string;
  readonly logFile: string;
  readonly processes: Pick<Processes, "gateway" | "bank" | "postmaster">;
  readMemoryBytes(): number;
  /** Returns the output of the gateway's processes so far. */
  readOutput(): string;
};

export type Launch = {
  readonly command: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  /** Returns the gateway's process, which is the started one or a child of it. */
  readonly findProcess: (pid: number) => number;
};

/**
 * Returns the command of this tree's gateway, with the flags of this process, which are those of
 * `npm start`.
 */
export function launchHere(nodeFlags: readonly string[]): Launch {
  return {
    command: [...process.execArgv, ...nodeFlags, "gateway/cli/gw.ts", "start"],
    environment: {},
    findProcess: (pid) => pid,
  };
}

/** Returns the command of the gateway in another folder, with its own Node, flags and cache. */
export function launchIn(folder: string): Launch {
  return {
    command: [join(folder, "tools/run.mjs"), "gateway/cli/gw.ts", "start"],
    environment: { NODE_COMPILE_CACHE: undefined },
    findProcess: (pid) => findChild(pid, /gw\.ts\0start/),
  };
}

export async function startMeasured(
  dataDir: string,
  { stack, launch }: { stack: AsyncDisposableStack; launch: Launch },
): Promise<MeasuredGateway> {
  if (stack.disposed) throw new Error("the benchmark is ending");
  const owner: Test = { after: (clean) => stack.defer(async () => void (await clean())) };
  const { command, environment } = launch;
  // The benchmark reads figures from the log: the gateway must not rotate it during a run.
  const env = { ...environment, GW_LOG_FILE_BYTES_MAX: "999999999" };
  const gateway = await startProcess(owner, { command, env, dataDir });
  const { child, demo } = gateway;
  const databaseUrl = findServerOf(dataDir);
  if (child.pid === undefined || databaseUrl === undefined) {
    throw new Error("no gateway, no database");
  }
  const pid = launch.findProcess(child.pid);
  const pids = [pid, ...workersOf(pid)];
  return {
    ...targetsOf(demo),
    databaseUrl,
    logFile: join(dataDir, "gateway.log"),
    processes: {
      gateway: pid,
      bank: findChild(pid, /sandbox-bank/),
      postmaster: Number.parseInt(read(join(dataDir, "postgres", "postmaster.pid")), 10),
    },
    readMemoryBytes: () => pids.reduce((bytes, each) => bytes + readMemoryBytes(each), 0),
    readOutput: () => gateway.output,
  };
}

function targetsOf({ baseUrl, merchant, endpoints, bank }: Demo) {
  const { login, controlKey } = merchant;
  const port = Number(new URL(baseUrl).port);
  const target = { port, endpoint: endpoints["plain"] ?? "", login, controlKey };
  return { target, secure: { ...target, endpoint: endpoints["secure"] ?? "" }, bankUrl: bank.url };
}

function readMemoryBytes(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(read(`/proc/${pid}/status`))?.[1] ?? 0) * 1024;
}

function read(file: string): string {
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}
