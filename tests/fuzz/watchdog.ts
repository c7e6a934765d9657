/**
 * Watches the thread that fuzzes from another one: a reader that never ends could not be reported
 * by its own thread. It saves the input as a finding, and ends the process.
 */
import { once } from "node:events";
import { mkdirSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";

/** What is being checked now. */
export type Checked = { readonly target: string; readonly seed: number; readonly input: string };
type Options = {
  /** Where findings are saved. */
  readonly folder: string;
  /** Processor time of the whole process, so that a busy machine is no finding. */
  readonly cpuMsMax?: number;
  /** For an answer that never comes. */
  readonly waitMsMax?: number;
};

const lookEveryMs = 100;

/** Resolves when it watches: a thread does not start while the one that made it is busy. */
export async function startWatchdog(options: Options) {
  const thread = new Worker(new URL(import.meta.url), { workerData: options });
  await once(thread, "message");
  thread.unref();
  return {
    /** Until the next one, or until `rest`. */
    watch: (checked: Checked) => thread.postMessage(checked),
    rest: () => thread.postMessage(undefined),
  };
}

if (!isMainThread && parentPort !== null && Object(workerData).folder !== undefined) {
  const { folder, cpuMsMax = 10_000, waitMsMax = 120_000 }: Options = workerData;
  let checked: Checked | undefined;
  let cpu = process.cpuUsage();
  let sinceMs = performance.now();
  parentPort.on("message", (next: Checked | undefined) => {
    checked = next;
    cpu = process.cpuUsage();
    sinceMs = performance.now();
  });
  setInterval(() => {
    const { user, system } = process.cpuUsage(cpu);
    const isHanging = (user + system) / 1000 > cpuMsMax || performance.now() - sinceMs > waitMsMax;
    if (checked !== undefined && isHanging) bark(folder, checked);
  }, lookEveryMs);
  parentPort.postMessage("watching");
}

/** `process.exit` would end this thread alone. */
function bark(folder: string, checked: Checked): void {
  const file = join(folder, `${checked.target}-hang-${checked.seed}.json`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, `${JSON.stringify({ ...checked, problem: "it does not end" }, null, 2)}\n`);
  const input = JSON.stringify(checked.input).slice(0, 2_000);
  writeSync(
    1,
    `\n${checked.target} does not end, seed ${checked.seed}: ${input}\nsaved: ${file}\n`,
  );
  process.kill(process.pid, "SIGKILL");
}
