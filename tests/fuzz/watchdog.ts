/**
 * Watches the fuzzing thread from another thread, because a thread cannot report its own endless
 * reader. It saves the input as a finding, and ends the process with status 1.
 */
import { once } from "node:events";
import { mkdirSync, writeFileSync, writeSync } from "node:fs";
import { Session } from "node:inspector";
import { join } from "node:path";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";

/** The input that is being checked. */
export type Checked = { readonly target: string; readonly seed: number; readonly input: string };
type Watched = Checked & {
  /** The processor time of the watched thread when the check began. */
  readonly cpuMs: number;
};
type Options = {
  /** The folder for findings. */
  readonly folder: string;
  /**
   * The limit in processor time of the watched thread only, so that a busy machine is not a
   * finding.
   */
  readonly cpuMsMax?: number;
  /** The limit in real time for an answer that never comes. */
  readonly waitMsMax?: number;
};
type Look = readonly [usage: NodeJS.CpuUsage, stack: string];

const lookEveryMs = 100;
/** A thread that cannot be interrupted, for example in a native parser, is killed. */
const exitWithinMs = 5_000;
/** Evaluated in the watched thread, so that the stack shows its position. */
const lookInside = "[process.threadCpuUsage(), new Error().stack]";

/**
 * Starts the watchdog. Resolves when it watches, because a thread does not start while its creator
 * is busy.
 */
export async function startWatchdog(options: Options) {
  const thread = new Worker(new URL(import.meta.url), { workerData: options });
  await once(thread, "message");
  thread.unref();
  return {
    /** Watches this check until the next one, or until `rest`. */
    watch: (checked: Checked) => thread.postMessage({ ...checked, cpuMs: cpuMsNow() }),
    rest: () => thread.postMessage(undefined),
  };
}

/** Returns the processor time of the calling thread. */
export function cpuMsNow(): number {
  return toMs(process.threadCpuUsage());
}

function toMs({ user, system }: NodeJS.CpuUsage): number {
  return (user + system) / 1000;
}

if (!isMainThread && parentPort !== null && Object(workerData).folder !== undefined) {
  const { folder, cpuMsMax = 3_000, waitMsMax = 120_000 }: Options = workerData;
  const session = new Session();
  session.connectToMainThread();
  let watched: Watched | undefined;
  let sinceMs = performance.now();
  let isOver = false;
  parentPort.on("message", (next: Watched | undefined) => {
    watched = next;
    sinceMs = performance.now();
  });
  setInterval(() => {
    const tookMs = performance.now() - sinceMs;
    if (watched === undefined || isOver || tookMs < cpuMsMax) return;
    const checked = watched;
    if (tookMs > waitMsMax) return end(checked, "no answer comes");
    session.post("Runtime.evaluate", { expression: lookInside, returnByValue: true }, (_, seen) => {
      const [usage, stack]: Look = seen.result.value;
      if (checked !== watched || isOver || toMs(usage) - checked.cpuMs < cpuMsMax) return;
      end(checked, `it does not end\n${stack.split("\n").slice(2).join("\n")}`);
    });
  }, lookEveryMs);
  parentPort.postMessage("watching");

  function end({ cpuMs: _, ...checked }: Watched, problem: string): void {
    isOver = true;
    save(folder, checked, problem);
    session.post("Runtime.evaluate", { expression: "process.exit(1)" });
    setTimeout(() => process.kill(process.pid, "SIGKILL"), exitWithinMs);
  }
}

function save(folder: string, checked: Checked, problem: string): void {
  const { target, seed } = checked;
  const file = join(folder, `${target}-hang-${seed}.json`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, `${JSON.stringify({ ...checked, problem }, null, 2)}\n`);
  const input = JSON.stringify(checked.input).slice(0, 2_000);
  writeSync(1, `\n${target}, seed ${seed}: ${problem}\ninput: ${input}\nsaved: ${file}\n`);
}
