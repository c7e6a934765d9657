/**
 * A program of ours as a child process that a test can kill. It never outlives the test: a shell
 * holds one end of a pipe to us, and kills the child when the other end is gone, however we ended.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

export type Program = {
  readonly child: ChildProcess;
  readonly isRunning: boolean;
  /** What it has printed so far, both streams together. */
  readonly output: string;
  /** At once and without a word; resolves when it is gone. */
  kill(): Promise<void>;
  /** As an operator does; answers the exit code, and nothing when it had to be killed. */
  stop(): Promise<number | undefined>;
};

const root = join(import.meta.dirname, "../..");
const stopsWithinMs = 120_000;

export function startProgram(
  command: readonly string[],
  settings: Readonly<Record<string, string>>,
): Program {
  const child = spawn(process.execPath, [...command], {
    cwd: root,
    env: { ...cleanEnvironment(), ...settings },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const guard = startGuard('kill -9 "$0"', String(child.pid));
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
    get output() {
      return output;
    },
    async kill() {
      if (isRunning()) child.kill("SIGKILL");
      await ended;
    },
    async stop() {
      if (isRunning()) child.kill("SIGTERM");
      const late = setTimeout(() => child.kill("SIGKILL"), stopsWithinMs);
      await ended;
      clearTimeout(late);
      return child.exitCode ?? undefined;
    },
  };
}

/** Runs a line of shell when this process is gone, however it ended, unless the guard is killed. */
export function startGuard(line: string, argument: string): ChildProcess {
  const guard = spawn("sh", ["-c", `cat; ${line}`, argument], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  guard.stdin?.on("error", () => undefined);
  guard.unref();
  return guard;
}

/** Settings of whoever runs the tests are not the test's. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(GW|NODE_TEST)_/.test(name));
  return Object.fromEntries(kept);
}
