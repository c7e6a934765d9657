/**
 * The processes that the benchmark starts. Its own parts are forked files that are asked over the
 * channel that Node gives them. The gateway is `gw start` on a fresh folder, with PostgreSQL and
 * the sandbox bank as it starts them itself and every setting at its default.
 */
import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { findEmbeddedUrl } from "../gateway/storage/embedded.ts";
import { findChild, type Processes, workersOf } from "./cpu-time.ts";
import type { Target } from "./requests.ts";

/** By name, the question and its answer. */
type Jobs = Readonly<Record<string, readonly [job: unknown, result: unknown]>>;

export type Part<Offered extends Jobs> = {
  readonly pid: number;
  ask<Name extends keyof Offered & string>(
    name: Name,
    job: Offered[Name][0],
  ): Promise<Offered[Name][1]>;
};

type Question = { readonly name: string; readonly job: unknown };
type Answer = { readonly result?: unknown; readonly failure?: string };

/** One question at a time: the next is asked when the last one is answered. */
export function startPart<Offered extends Jobs>(
  file: string,
  stack: AsyncDisposableStack,
): Part<Offered> {
  if (stack.disposed) throw new Error("the benchmark is ending");
  const child = fork(`${import.meta.dirname}/${file}`, { serialization: "advanced" });
  stack.defer(async () => {
    if (hasEnded(child)) return;
    child.kill("SIGKILL");
    await once(child, "exit");
  });

  return {
    pid: child.pid ?? 0,
    ask(name, job) {
      return new Promise((resolve, reject) => {
        const onExit = () => reject(new Error(`${file} has ended`));
        if (!child.connected) return onExit();
        child.once("exit", onExit);
        child.once("message", ({ result, failure }: Answer) => {
          child.off("exit", onExit);
          if (failure !== undefined) reject(new Error(`${file}: ${failure}`));
          else resolve(result);
        });
        child.send({ name, job });
      });
    },
  };
}

/** Called in the part's process, which then answers questions until the benchmark has ended. */
export function offer<Offered extends Jobs>(
  answers: {
    readonly [Name in keyof Offered]: (job: Offered[Name][0]) => Promise<Offered[Name][1]>;
  },
): void {
  // Names come from `ask`, whose type allows no others.
  const byName = new Map<string, (job: unknown) => Promise<unknown>>(Object.entries(answers));
  process.on("message", async ({ name, job }: Question) => {
    try {
      process.send?.({ result: await byName.get(name)?.(job) });
    } catch (error) {
      process.send?.({ failure: error instanceof Error ? error.stack : String(error) });
    }
  });
  process.once("disconnect", () => process.exit(0));
}

export type GatewayProcess = {
  readonly target: Target;
  /** The same merchant's endpoint with 3-D Secure. */
  readonly secure: Target;
  readonly bankUrl: string;
  readonly databaseUrl: string;
  readonly logFile: string;
  readonly processes: Pick<Processes, "gateway" | "bank" | "postmaster">;
  readMemoryBytes(): number;
};

export type Launch = {
  readonly command: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  /** The gateway's process: the started one itself, or a child of it. */
  readonly findProcess: (pid: number) => number;
};

const program = join(import.meta.dirname, "../gateway/cli/gw.ts");
const endWithinMs = 60_000;

/** The gateway of this tree, with the flags of this process, which are those of `npm start`. */
export function launchHere(nodeFlags: readonly string[]): Launch {
  return {
    command: [...process.execArgv, ...nodeFlags, program, "start"],
    environment: environmentWithout(/^GW_/),
    findProcess: (pid) => pid,
  };
}

/** The gateway of a tree in another folder: on its own Node, with its own flags and cache. */
export function launchIn(folder: string): Launch {
  return {
    command: [join(folder, "tools/run.mjs"), "gateway/cli/gw.ts", "start"],
    environment: environmentWithout(/^GW_|^NODE_COMPILE_CACHE$/),
    findProcess: (pid) => findChild(pid, /gw\.ts\0start/),
  };
}

/** The user's settings of the gateway must not change what is measured. */
export function environmentWithout(names: RegExp): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !names.test(name)));
}

/** Figures are read from the log, which is not rotated meanwhile. */
const ownSettings = { GW_WORKERS: "1", GW_LOG_FILE_BYTES_MAX: "999999999" };

export async function startGatewayProcess(
  folder: string,
  { stack, launch }: { stack: AsyncDisposableStack; launch: Launch },
): Promise<GatewayProcess> {
  if (stack.disposed) throw new Error("the benchmark is ending");
  const child = spawn(process.execPath, launch.command, {
    // Its own process group: of a Ctrl-C it must get one signal, ours, or it would end at once.
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    // Figures of one process: with several, each answers /metrics for itself.
    env: { ...launch.environment, ...freePorts, ...ownSettings, GW_DATA_DIR: folder },
  });
  stack.defer(() => stop(child, folder));
  await untilUp(child);
  const databaseUrl = findEmbeddedUrl(join(folder, "postgres"));
  if (child.pid === undefined || databaseUrl === undefined) {
    throw new Error("no gateway, no database");
  }
  const pid = launch.findProcess(child.pid);
  const pids = [pid, ...workersOf(pid)];
  return {
    ...readDemonstration(join(folder, "demo.json")),
    databaseUrl,
    logFile: join(folder, "gateway.log"),
    processes: {
      gateway: pid,
      bank: findChild(pid, /sandbox-bank/),
      postmaster: readPostmaster(folder),
    },
    readMemoryBytes: () => pids.reduce((bytes, each) => bytes + readMemoryBytes(each), 0),
  };
}

const freePorts = {
  GW_PORT: "0",
  GW_RESULTS_PORT: "0",
  GW_BANK_DIRECTORY_PORT: "0",
  GW_BANK_PORT: "0",
  GW_BANK_HOST_PORT: "0",
  GW_BANK_BINARY_HOST_PORT: "0",
  GW_BANK_ISO93_HOST_PORT: "0",
};

function untilUp(child: ChildProcess): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let said = "";
  const listen = (chunk: unknown) => {
    said = `${said}${chunk}`.slice(-10_000);
    if (/^Tollgate is up/m.test(said)) resolve();
  };
  child.stdout?.on("data", listen);
  child.stderr?.on("data", listen);
  child.once("error", reject);
  child.once("exit", () => reject(new Error(`the gateway did not start:\n${said}`)));
  return promise;
}

function readDemonstration(file: string): Pick<GatewayProcess, "target" | "secure" | "bankUrl"> {
  const { baseUrl, merchant, endpoints, bank } = JSON.parse(readFileSync(file, "utf8"));
  const target = {
    port: Number(new URL(String(baseUrl)).port),
    endpoint: String(endpoints.plain),
    login: String(merchant.login),
    controlKey: String(merchant.controlKey),
  };
  const secure = { ...target, endpoint: String(endpoints.secure) };
  return { target, secure, bankUrl: String(bank.url) };
}

function readMemoryBytes(pid: number): number {
  const file = `/proc/${pid}/status`;
  const status = existsSync(file) ? readFileSync(file, "utf8") : "";
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024;
}

/** One signal and the time to end cleanly; then the gateway and its database are killed. */
async function stop(child: ChildProcess, folder: string): Promise<void> {
  if (hasEnded(child)) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  const late = new Promise((resolve) => setTimeout(resolve, endWithinMs, "late").unref());
  if ((await Promise.race([ended, late])) !== "late") return;

  // The bank ends with its parent; PostgreSQL is started to outlive it, and gets its own signal.
  const postmaster = readPostmaster(folder);
  // The whole group: the started process may be the gateway's parent.
  if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  await ended;
  if (postmaster > 1) process.kill(postmaster, "SIGQUIT");
}

function readPostmaster(folder: string): number {
  const file = join(folder, "postgres", "postmaster.pid");
  return existsSync(file) ? Number.parseInt(readFileSync(file, "utf8"), 10) : 0;
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}
