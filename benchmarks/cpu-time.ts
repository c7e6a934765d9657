/**
 * Processor time of the processes of a measurement, as Linux counts it. It hardly
 * changes when other programs use the same cores, which wall time does.
 */
import { readdirSync, readFileSync } from "node:fs";

/**
 * The processes of each part, by their ids. PostgreSQL's are the postmaster and its children; a
 * gateway with several processes (GW_WORKERS) has them as children.
 */
export type Processes = {
  readonly gateway: number;
  readonly bank: number;
  readonly postmaster: number;
  readonly load: number;
  /** The process of the bare route. */
  readonly route: number;
};

export type PartName = Exclude<keyof Processes, "postmaster"> | "database";
/** In microseconds, user and system time together. */
export type CpuTime = Readonly<Record<PartName, number>>;

/** Linux reports the times in hundredths of a second on every architecture. */
const tickUs = 10_000;

export function readCpuTime(processes: Processes): CpuTime {
  const { gateway, bank, postmaster, load, route } = processes;
  return {
    gateway: sum([gateway, ...workersOf(gateway)].map((pid) => readTimes(pid).own)),
    bank: readTimes(bank).own,
    load: readTimes(load).own,
    route: readTimes(route).own,
    database: readWithChildren(postmaster),
  };
}

export function timeBetween(before: CpuTime, after: CpuTime): CpuTime {
  return {
    gateway: after.gateway - before.gateway,
    bank: after.bank - before.bank,
    load: after.load - before.load,
    route: after.route - before.route,
    database: after.database - before.database,
  };
}

/** The child of a process that runs this program. */
export function findChild(parent: number, program: RegExp): number {
  const child = childrenOf(parent).find((pid) => program.test(read(`/proc/${pid}/cmdline`)));
  if (child === undefined) throw new Error(`process ${parent} has no child ${program}`);
  return child;
}

/** With the children that are running and those that have ended. */
function readWithChildren(parent: number): number {
  const { own, ended } = readTimes(parent);
  const running = childrenOf(parent).map((child) => readTimes(child).own);
  return own + ended + sum(running);
}

export function workersOf(gateway: number): readonly number[] {
  return childrenOf(gateway).filter((pid) => /gw\.ts\0serve/.test(read(`/proc/${pid}/cmdline`)));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function readTimes(pid: number): { readonly own: number; readonly ended: number } {
  const fields = fieldsOf(pid);
  const ticks = (index: number) => Number(fields[index] ?? 0);
  return { own: (ticks(11) + ticks(12)) * tickUs, ended: (ticks(13) + ticks(14)) * tickUs };
}

function childrenOf(parent: number): readonly number[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => Number(fieldsOf(pid)[1]) === parent);
}

/** What follows the program's name, which may contain spaces: state, parent, … (proc(5)). */
function fieldsOf(pid: number): readonly string[] {
  const text = read(`/proc/${pid}/stat`);
  return text.slice(text.lastIndexOf(")") + 2).split(" ");
}

/** Empty for a process that ends meanwhile. */
function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
