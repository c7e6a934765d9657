/**
 * Loaded into every test process. It appends the cost of each test file to the file that
 * TOLLGATE_COSTS names, and says what keeps the process running after its tests. A cost covers the
 * process, the programs that it started and their children, but not the database server that files
 * share.
 */
import { appendFileSync } from "node:fs";
import { after } from "node:test";
import { isMainThread } from "node:worker_threads";
import { childrenOf, readProcessTimes } from "./process-times.ts";

export type Cost = { readonly file: string; readonly wallMs: number; readonly cpuMs: number };

const place = process.env["TOLLGATE_COSTS"];
const endsWithinMs = 30_000;

let [recordedFile, wallBefore, cpuBefore] = [process.argv[1] ?? "", 0, 0];

// Worker threads inherit the import of this file, and must not record.
if (place !== undefined && isMainThread) process.on("exit", () => recordCost(recordedFile));

if (process.env["NODE_TEST_CONTEXT"] !== undefined && isMainThread) {
  after(() => setTimeout(tellWhatIsLeft, endsWithinMs).unref());
}

function tellWhatIsLeft(): void {
  const left = process.getActiveResourcesInfo().filter((name) => name !== "Immediate");
  process.stderr.write(`The tests are over, and these are left: ${left.join(", ")}\n`);
}

/** Records the cost since the previous call. The cost after the last call is added to its file. */
export function recordCost(file: string): void {
  recordedFile = file;
  if (place === undefined) return;
  const [wallMs, cpuMs] = [performance.now(), readCpuMs(process.pid)];
  // The difference may be negative: when a browser ends, the times of its own children are no
  // longer counted.
  const cost: Cost = { file, wallMs: wallMs - wallBefore, cpuMs: Math.max(0, cpuMs - cpuBefore) };
  [wallBefore, cpuBefore] = [wallMs, cpuMs];
  appendFileSync(place, `${JSON.stringify(cost)}\n`);
}

/**
 * Returns the processor time of a process, of its children that have ended and of those that still
 * run. On systems other than Linux it is the time of this process alone.
 */
export function readCpuMs(pid: number): number {
  if (process.platform !== "linux") return Object.values(process.cpuUsage()).reduce(add) / 1000;
  const { own, ended } = readProcessTimes(pid);
  return childrenOf(pid)
    .map(readCpuMs)
    .reduce(add, own + ended);
}

function add(one: number, other: number): number {
  return one + other;
}
