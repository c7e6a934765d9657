/**
 * Reports what a test run costs, file by file: wall time and processor time, as `record-cost.ts`
 * measured them. A run writes them to `tests/results/times.json` and names the most expensive
 * files.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { type Cost, readCpuMs } from "./record-cost.ts";

type FileTimes = { readonly file: string; readonly wallS: number; readonly cpuS: number };
export type Times = {
  readonly wallS: number;
  /**
   * The processor time of the run's processes, as far as their parents waited for them: a browser
   * that has ended leaves out its own children. Files leave out the database server, which they
   * share.
   */
  readonly cpuS: number;
  readonly files: readonly FileTimes[];
};

const named = 10;

/** Makes test processes that start from now on record their costs. */
export function startTimes(root: string): { end(): Times } {
  const place = join(tmpdir(), `tollgate-costs-${process.pid}.jsonl`);
  const startedAt = performance.now();
  // A killed run may have left a file of the same name, because process ids are used again.
  rmSync(place, { force: true });
  process.env["TOLLGATE_COSTS"] = place;
  return {
    end() {
      const lines = existsSync(place) ? readFileSync(place, "utf8").trimEnd().split("\n") : [];
      rmSync(place, { force: true });
      const costs = lines.map((line) => JSON.parse(line) as Cost);
      return {
        wallS: seconds(performance.now() - startedAt),
        cpuS: seconds(readCpuMs(process.pid)),
        files: sumByFile(costs.map((cost) => ({ ...cost, file: relative(root, cost.file) }))),
      };
    },
  };
}

/** Sums the costs of each file, and sorts the most expensive file first. */
export function sumByFile(costs: readonly Cost[]): readonly FileTimes[] {
  const byFile = Map.groupBy(costs, ({ file }) => file);
  const files = [...byFile].map(([file, parts]) => ({
    file,
    wallS: seconds(parts.reduce((sum, { wallMs }) => sum + wallMs, 0)),
    cpuS: seconds(parts.reduce((sum, { cpuMs }) => sum + cpuMs, 0)),
  }));
  return files.sort((one, other) => other.cpuS - one.cpuS);
}

export function writeTimes(path: string, times: Times): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify(times, undefined, 2)}\n`);
}

export function describeTimes({ wallS, cpuS, files }: Times): string {
  const rows = files
    .slice(0, named)
    .map((each) => `${column(each.cpuS)} ${column(each.wallS)}  ${each.file}`);
  return [
    `The ten most expensive of ${files.length} files, in seconds:`,
    "processor     wall  file",
    ...rows,
    `The run took ${inMinutes(wallS)} and ${inMinutes(cpuS)} of processor time.`,
  ].join("\n");
}

function column(amount: number): string {
  return amount.toFixed(1).padStart(9);
}

function inMinutes(amount: number): string {
  return `${(amount / 60).toFixed(1)} min`;
}

function seconds(ms: number): number {
  return Math.round(ms / 10) / 100;
}
