/**
 * Which test file runs when: as many at a time as keep two cores busy, the longest first, so that
 * the last ones to run are short. Files that mostly wait run beside those that work.
 */
import { statSync } from "node:fs";

export type Lane = "works" | "waits" | "alone";
type Job = { readonly file: string; readonly lane: Lane };

/** Files of a lane at a time: beside others, and when no others are left. */
// biome-ignore format: a table
const places: Readonly<Record<Lane, { readonly beside: number; readonly last: number }>> = {
  works: { beside: 2, last: 2 },
  waits: { beside: 2, last: 3 },
  alone: { beside: 0, last: 1 },
};

/** In seconds, where a late beginning would make the file the last one; the others go by size. */
// biome-ignore format: a table
const longest: Readonly<Record<string, number>> = {
  "tests/crash/commit-points.test.ts":        150,
  "tests/crash/threeds-points.test.ts":       100,
  "tests/crash/gateway-kills.test.ts":         90,
  "tests/crash/callbacks.test.ts":             80,
  "tests/crash/neighbour-kills.test.ts":       60,
  "tests/browser/pages.test.ts":               55,
  "tests/browser/threeds.test.ts":             50,
  "tests/crash/outages.test.ts":               50,
  "tests/scenarios/random-journeys.test.ts":   50,
  "tests/scenarios/outage.test.ts":            40,
  "tests/scenarios/start-troubles.test.ts":    35,
};
const bytesPerSecond = 600;

export async function runInLanes<Any extends Job>(
  jobs: readonly Any[],
  run: (job: Any) => Promise<void>,
): Promise<void> {
  const waiting = jobs.toSorted((one, other) => secondsOf(other) - secondsOf(one));
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

function secondsOf({ file }: Job): number {
  return longest[file] ?? statSync(file).size / bytesPerSecond;
}
