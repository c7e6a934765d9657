/**
 * Processor time of the processes of a measurement, as Linux counts it. It hardly
 * changes when other programs use the same cores, which wall time does.
 */
import { childrenOf, readCommandLine, readProcessTimes } from "../tools/process-times.ts";

/**
 * The ids of the processes of each part. PostgreSQL's are the postmaster and its children. A
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
/** Processor time in microseconds, user and system time together. */
export type CpuTime = Readonly<Record<PartName, number>>;

const usPerMs = 1_000;

export function readCpuTime(processes: Processes): CpuTime {
  const { gateway, bank, postmaster, load, route } = processes;
  return {
    gateway: sum([gateway, ...workersOf(gateway)].map(ownTime)),
    bank: ownTime(bank),
    load: ownTime(load),
    route: ownTime(route),
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

/** Returns the child of a process that runs this program. */
export function findChild(parent: number, program: RegExp): number {
  const child = childrenOf(parent).find((pid) => program.test(readCommandLine(pid)));
  if (child === undefined) throw new Error(`process ${parent} has no child ${program}`);
  return child;
}

/** Reads the time with that of running and ended children. */
function readWithChildren(parent: number): number {
  const { own, ended } = readProcessTimes(parent);
  return (own + ended) * usPerMs + sum(childrenOf(parent).map(ownTime));
}

export function workersOf(gateway: number): readonly number[] {
  return childrenOf(gateway).filter((pid) => /gw\.ts\0serve/.test(readCommandLine(pid)));
}

function ownTime(pid: number): number {
  return readProcessTimes(pid).own * usPerMs;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
