/**
 * Schedules the test files: as many at a time as keep two cores busy, the longest first, so that
 * the last ones are short. Files that mostly wait run beside files that use the processor.
 */
import { readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

export type Lane = "works" | "waits" | "alone";
type Job = { readonly files: readonly string[]; readonly lane: Lane };

/**
 * The number of files of a lane that run at a time: beside other lanes, and when no others are
 * left.
 */
const places: Readonly<Record<Lane, { readonly beside: number; readonly last: number }>> = {
  works: { beside: 3, last: 3 },
  waits: { beside: 2, last: 3 },
  alone: { beside: 0, last: 1 },
};

/** The seconds of the longest files, which must begin early. Other files are ordered by size. */
const longest: Readonly<Record<string, number>> = {
  "tests/crash/commit-points.test.ts": 35,
  "tests/crash/callbacks.test.ts": 25,
  "tests/crash/database-silence.test.ts": 45,
  "tests/crash/gateway-kills.test.ts": 40,
  "tests/crash/threeds-points.test.ts": 15,
  "tests/crash/outages.long.test.ts": 30,
  "tests/browser/pages.test.ts": 30,
  "tests/browser/threeds.test.ts": 30,
  "tests/simulator/simulator.test.ts": 40,
  "tests/scenarios/payments/random-journeys.test.ts": 35,
  "tests/scenarios/operation/start-troubles.test.ts": 20,
};
/**
 * The size that stands for one second. Files in `tests` start gateways; the others are unit tests.
 */
const bytesPerSecond = { tests: 800, others: 5_000 };
const sharedSecondsMax = 110;

export async function runInLanes<Any extends Job>(
  jobs: readonly Any[],
  run: (job: Any) => Promise<void>,
): Promise<void> {
  const waiting = jobs.toSorted((one, other) => secondsOf(other.files) - secondsOf(one.files));
  const running = new Map<Any, Promise<void>>();
  while (waiting.length + running.size > 0) {
    for (const job of [...waiting]) {
      if (!hasPlace(job)) continue;
      waiting.splice(waiting.indexOf(job), 1);
      running.set(
        job,
        run(job).finally(() => running.delete(job)),
      );
    }
    await Promise.race(running.values());
  }

  function hasPlace({ lane }: Job): boolean {
    const active = [...running.keys()];
    const isLast = ![...waiting, ...active].some((other) => comesBefore(other, lane));
    const count = active.filter((other) => other.lane === lane).length;
    return count < places[lane][isLast ? "last" : "beside"];
  }
}

function comesBefore(other: Job, lane: Lane): boolean {
  return other.lane !== lane && (other.lane !== "alone" || lane === "alone");
}

/**
 * Groups files that share a process, so that sources are loaded and gateways are started once. A
 * group has files of one workspace, and as many as keep the lanes balanced. A file that needs a
 * process of its own is alone.
 */
export function shareProcesses(files: readonly string[]): readonly (readonly string[])[] {
  const shared = files
    .filter((file) => longest[file] === undefined && !needsOwnProcess(file))
    .sort();
  const batches: string[][] = [];
  for (const file of shared) {
    const batch = batches.at(-1);
    const isNeighbour = batch?.[0] !== undefined && workspaceOf(batch[0]) === workspaceOf(file);
    if (batch && isNeighbour && secondsOf([...batch, file]) <= sharedSecondsMax) batch.push(file);
    else batches.push([file]);
  }
  return [...batches, ...files.filter((file) => !shared.includes(file)).map((file) => [file])];
}

/**
 * Whether the file uses something that a process has only once: hooks around every test, settings,
 * processor time or memory.
 */
function needsOwnProcess(file: string): boolean {
  const uses =
    /^ *(before|after)Each\(|once\(process|process\.(env\[[^\]]+\] =|once|(cpu|memory)Usage)/m;
  const source = readFileSync(file, "utf8");
  const helpers = [...source.matchAll(/from "(\.[^"]*\/(?:testing|support)\/[^"]+)"/g)];
  const sources = helpers.map(([, path = ""]) => readFileSync(join(dirname(file), path), "utf8"));
  return uses.test(source) || sources.some((each) => /^ *(before|after)Each\(/m.test(each));
}

function workspaceOf(file: string): string {
  return file.slice(0, file.indexOf("/"));
}

function secondsOf(files: readonly string[]): number {
  const rateOf = (file: string) =>
    workspaceOf(file) === "tests" ? bytesPerSecond.tests : bytesPerSecond.others;
  return files.reduce(
    (seconds, file) => seconds + (longest[file] ?? statSync(file).size / rateOf(file)),
    0,
  );
}
