/**
 * Part of every test process: appends what a test file has cost to the file that TOLLGATE_COSTS
 * names, and says what keeps the process running when its tests are over. A cost covers the
 * process, the programs that it has started and their children, but not the database server that
 * files share.
 */
import { appendFileSync, readdirSync, readFileSync } from "node:fs";
import { after } from "node:test";
import { isMainThread } from "node:worker_threads";

export type Cost = { readonly file: string; readonly wallMs: number; readonly cpuMs: number };

const place = process.env["TOLLGATE_COSTS"];
/** The kernel's clock ticks of 1/100 s, on every Linux that Node runs on. */
const msPerTick = 10;
const endsWithinMs = 30_000;

let [recordedFile, wallBefore, cpuBefore] = [process.argv[1] ?? "", 0, 0];

// Worker threads inherit the import of this file.
if (place !== undefined && isMainThread) process.on("exit", () => recordCost(recordedFile));

if (process.env["NODE_TEST_CONTEXT"] !== undefined && isMainThread) {
  after(() => setTimeout(tellWhatIsLeft, endsWithinMs).unref());
}

function tellWhatIsLeft(): void {
  const left = process.getActiveResourcesInfo().filter((name) => name !== "Immediate");
  process.stderr.write(`The tests are over, and these are left: ${left.join(", ")}\n`);
}

/** Records the cost since the previous call; what follows the last call is added to its file. */
export function recordCost(file: string): void {
  recordedFile = file;
  if (place === undefined) return;
  const [wallMs, cpuMs] = [performance.now(), readCpuMs(process.pid)];
  // A browser that has ended leaves the times of its own children uncounted.
  const cost: Cost = { file, wallMs: wallMs - wallBefore, cpuMs: Math.max(0, cpuMs - cpuBefore) };
  [wallBefore, cpuBefore] = [wallMs, cpuMs];
  appendFileSync(place, `${JSON.stringify(cost)}\n`);
}

/** Processor time of a process, of its children that have ended and of those that still run. */
export function readCpuMs(pid: number): number {
  if (process.platform !== "linux") return Object.values(process.cpuUsage()).reduce(add) / 1000;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The fields behind the program's name: user and system time, then the same of ended children.
    const ticks = stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .slice(11, 15)
      .map(Number);
    return childrenOf(pid)
      .map(readCpuMs)
      .reduce(add, ticks.reduce(add) * msPerTick);
  } catch {
    // The process has ended meanwhile: its parent counts it.
    return 0;
  }
}

function childrenOf(pid: number): readonly number[] {
  const threads = readdirSync(`/proc/${pid}/task`);
  const lists = threads.map((id) => readFileSync(`/proc/${pid}/task/${id}/children`, "utf8"));
  return lists.flatMap((list) => list.split(" ").filter(Boolean)).map(Number);
}

function add(one: number, other: number): number {
  return one + other;
}
