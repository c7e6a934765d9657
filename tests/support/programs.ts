/**
 * Runs the project's programs as child processes: programs that a test can kill, and commands of
 * the command line. None outlives the test: a shell reads from a pipe that only the test's process
 * can write to, and kills the child when the pipe is closed.
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
  /** Resolves when the program has ended, without a time limit. */
  readonly ended: Promise<unknown>;
  /** The output so far, of both streams together. */
  readonly output: string;
  /** Kills the program without a warning. Resolves when it has ended. */
  kill(): Promise<void>;
  /**
   * Stops the program as an operator does. Returns the exit code, or undefined if it had to be
   * killed.
   */
  stop(): Promise<number | undefined>;
};

const root = join(import.meta.dirname, "../..");
const stopsWithinMs = 120_000;

/** Migrates the database, as an operator does before the first start in production. */
export async function migrateFirst(settings: Settings): Promise<void> {
  const program = startProgram(["gateway/cli/gw.ts", "migrate", "--yes"], settings);
  await until("the schema is there", () => !program.isRunning || undefined);
  assert.equal(program.child.exitCode, 0, program.output);
}

/** Settings of a program. An undefined setting is removed from its environment. */
type Settings = Readonly<NodeJS.ProcessEnv>;

export function startProgram(command: readonly string[], settings: Settings): Program {
  return startChild([process.execPath, ...command], root, settings);
}

/** Starts a script of bash in a folder. What the script leaves running ends with this process. */
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
      // The signal goes to the whole process group, which may contain a gateway that the program
      // started.
      const late = setTimeout(() => process.kill(-(child.pid ?? 0), "SIGKILL"), stopsWithinMs);
      await ended;
      clearTimeout(late);
      return child.exitCode ?? undefined;
    },
  };
}

/** Adds properties to a program, whose state stays readable. */
export function extendProgram<Own extends Program, More extends object>(program: Own, more: More) {
  // A spread would read the current state only once.
  return Object.defineProperties(more, Object.getOwnPropertyDescriptors(program)) as Own & More;
}

/**
 * Runs a line of shell when this process has ended, even by SIGKILL, unless the guard is killed.
 */
export function startGuard(line: string, argument: string): ChildProcess {
  const guard = spawn("sh", ["-c", `cat; ${line}`, argument], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  guard.stdin?.on("error", () => undefined);
  guard.unref();
  return guard;
}

/** Returns the environment without the settings of the test run. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(GW|NODE_TEST)_/.test(name));
  return Object.fromEntries(kept);
}

/** A run of `gw`, as an operator runs it beside a gateway. */
export type GwRun = {
  readonly words: readonly string[];
  readonly settings: NodeJS.ProcessEnv;
  readonly input: string;
};
export type Ran = { readonly code: number; readonly printed: string; readonly complaint: string };

/** A world, and the settings of the operator beyond those of the world's gateway. */
type Place = {
  readonly installation: { readonly databaseUrl: string };
  readonly dataDir: string;
  readonly settings?: Readonly<Record<string, string>>;
};

/**
 * Loading the modules takes longer than any command, so a thread that has loaded them is used
 * again.
 */
const idleThreads: Worker[] = [];

export function runGw(place: Place, ...words: readonly string[]): Promise<Ran> {
  return runGwWith("", place, ...words);
}

/** Runs `gw` with this standard input. */
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
  // An idle thread does not keep the test file's process running.
  thread.unref();
  idleThreads.push(thread);
  return ran;
}

/** Runs `gw` in a separate process, as the shell starts it. */
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

/** Returns the JSON output of a command. */
export async function readGw(world: Place, ...words: readonly string[]): Promise<unknown> {
  const { code, printed, complaint } = await runGw(world, ...words, "--json");
  if (code !== 0) throw new Error(`gw ${words.join(" ")} ended with ${code}: ${complaint}`);
  return JSON.parse(printed);
}
