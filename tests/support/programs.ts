/**
 * The project's programs as child processes: any that a test can kill, and the command line to its
 * end. None outlives the test: a shell reads from a pipe that only the test's process can write to,
 * and kills the child when the pipe is closed.
 */
import assert from "node:assert/strict";
import { type ChildProcess, execFile, type StdioOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { until } from "./until.ts";

export type Program = {
  readonly child: ChildProcess;
  readonly isRunning: boolean;
  /** Resolves when it has ended, however long it takes. */
  readonly ended: Promise<unknown>;
  /** What it has printed so far, both streams together. */
  readonly output: string;
  /** At once and without a word; resolves when it is gone. */
  kill(): Promise<void>;
  /** As an operator does; answers the exit code, and nothing when it had to be killed. */
  stop(): Promise<number | undefined>;
};

const root = join(import.meta.dirname, "../..");
const stopsWithinMs = 120_000;

/** As an operator does it before the first start in production. */
export async function migrateFirst(settings: Settings): Promise<void> {
  const program = startProgram(["gateway/cli/gw.ts", "migrate", "--yes"], settings);
  await until("the schema is there", () => !program.isRunning || undefined);
  assert.equal(program.child.exitCode, 0, program.output);
}

/** What is undefined is not in the program's environment either. */
type Settings = Readonly<NodeJS.ProcessEnv>;

export function startProgram(command: readonly string[], settings: Settings): Program {
  return startChild([process.execPath, ...command], root, settings);
}

/** A script of bash, in a folder; what it leaves behind ends with this process. */
export function startShell(script: string, folder: string, settings: Settings): Program {
  return startChild(["bash", script], folder, settings);
}

function startChild(
  [program = "", ...parameters]: readonly string[],
  cwd: string,
  settings: Settings,
): Program {
  const env = { ...cleanEnvironment(), ...settings };
  const stdio: StdioOptions = ["ignore", "pipe", "pipe"];
  const child = spawn(program, parameters, { cwd, env, stdio, detached: true });
  const guard = startGuard('kill -9 "-$0" "$0"', String(child.pid));
  const ended = once(child, "exit").finally(() => guard.kill("SIGKILL"));
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text) => {
      output += text;
    });
  }
  const isRunning = () => child.exitCode === null && child.signalCode === null;

  return {
    child,
    get isRunning() {
      return isRunning();
    },
    ended,
    get output() {
      return output;
    },
    async kill() {
      if (isRunning()) child.kill("SIGKILL");
      await ended;
    },
    async stop() {
      if (isRunning()) child.kill("SIGTERM");
      // With its own programs, of which one may be the gateway.
      const late = setTimeout(() => process.kill(-(child.pid ?? 0), "SIGKILL"), stopsWithinMs);
      await ended;
      clearTimeout(late);
      return child.exitCode ?? undefined;
    },
  };
}

/** The program with more; its state stays readable. */
export function extendProgram<Own extends Program, More extends object>(program: Own, more: More) {
  // A spread would read the state once.
  return Object.defineProperties(more, Object.getOwnPropertyDescriptors(program)) as Own & More;
}

/** Runs a line of shell when this process is gone, also by SIGKILL, unless the guard is killed. */
export function startGuard(line: string, argument: string): ChildProcess {
  const guard = spawn("sh", ["-c", `cat; ${line}`, argument], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  guard.stdin?.on("error", () => undefined);
  guard.unref();
  return guard;
}

/** Without the settings in the environment of the test run. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(GW|NODE_TEST)_/.test(name));
  return Object.fromEntries(kept);
}

/** `gw` as an operator runs it beside a gateway. */
export type GwRun = {
  readonly words: readonly string[];
  readonly settings: NodeJS.ProcessEnv;
  readonly input: string;
};
export type Ran = { readonly code: number; readonly printed: string; readonly complaint: string };

/** A world, and what the operator has set beyond what the world's gateway has. */
type Place = {
  readonly installation: { readonly databaseUrl: string };
  readonly dataDir: string;
  readonly settings?: Readonly<Record<string, string>>;
};

/** Loading the modules takes longer than any command: a thread that has them serves again. */
const idleThreads: Worker[] = [];

export function runGw(place: Place, ...words: readonly string[]): Promise<Ran> {
  return runGwWith("", place, ...words);
}

/** With something on its standard input. */
export async function runGwWith(
  input: string,
  place: Place,
  ...words: readonly string[]
): Promise<Ran> {
  const thread =
    idleThreads.pop() ?? new Worker(new URL("./operator/gw-thread.ts", import.meta.url));
  thread.ref();
  thread.postMessage({ words, settings: settingsAt(place), input } satisfies GwRun);
  const [ran] = await once(thread, "message");
  // An idle thread keeps no test file from ending.
  thread.unref();
  idleThreads.push(thread);
  return ran;
}

/** In a process of its own, as the shell starts it. */
export function runGwProcess(place: Place, ...words: readonly string[]): Promise<Ran> {
  const { promise, resolve } = Promise.withResolvers<Ran>();
  const env = settingsAt(place);
  const gw = join(root, "gateway/cli/gw.ts");
  const child = execFile(process.execPath, [gw, ...words], { env }, (_, printed, complaint) =>
    resolve({ code: child.exitCode ?? -1, printed, complaint }),
  );
  return promise;
}

function settingsAt({ installation, dataDir, settings }: Place): NodeJS.ProcessEnv {
  const own = { GW_DATABASE_URL: installation.databaseUrl, GW_DATA_DIR: dataDir };
  return { ...cleanEnvironment(), ...own, ...settings };
}

/** What a command prints for programs. */
export async function readGw(world: Place, ...words: readonly string[]): Promise<unknown> {
  const { code, printed, complaint } = await runGw(world, ...words, "--json");
  if (code !== 0) throw new Error(`gw ${words.join(" ")} ended with ${code}: ${complaint}`);
  return JSON.parse(printed);
}
