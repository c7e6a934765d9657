/**
 * Groups the test files, and chooses those of a run: `npm test` runs all but the slow ones, and
 * `npm test -- long` runs those that are slow or have a longer form.
 */
import * as fs from "node:fs";
import { dirname, join, relative } from "node:path";
import type { Lane } from "./lanes.ts";

export type Group = {
  readonly name: string;
  /** Folders or single files. */
  readonly places: readonly string[];
  /**
   * The lane of the files. Crash tests mostly wait, so they run beside others; load tests and
   * budgets run alone.
   */
  readonly lane: Lane;
  /** The time after which one file counts as hung, even on a busy machine. */
  readonly minutes: number;
  /**
   * Whether the group is too slow for `npm test`. Its files run with `npm test -- long` and by
   * their names.
   */
  readonly isSlow?: true;
};

export const groups: readonly Group[] = [
  {
    name: "unit",
    lane: "works",
    minutes: 5,
    places: [
      "protocols",
      "gateway",
      "sandbox-bank",
      "client",
      "examples",
      "portal",
      "docs-site",
      "benchmarks",
      "tools",
    ],
  },
  { name: "scenarios", lane: "works", minutes: 8, places: ["tests/scenarios", "tests/contract"] },
  { name: "outside", lane: "works", minutes: 8, places: ["tests/outside"] },
  { name: "simulator", lane: "works", minutes: 8, places: ["tests/simulator"] },
  { name: "fuzz", lane: "works", minutes: 8, places: ["tests/fuzz", "tests/chaos"] },
  { name: "crash", lane: "waits", minutes: 10, places: ["tests/crash"] },
  { name: "browser", lane: "works", minutes: 8, places: ["tests/browser"] },
  { name: "upgrade", lane: "waits", minutes: 10, places: ["tests/upgrade"], isSlow: true },
  { name: "load", lane: "alone", minutes: 10, places: ["tests/load"], isSlow: true },
  { name: "budget", lane: "alone", minutes: 10, places: ["tests/budget"], isSlow: true },
];

/**
 * The name of the run of all that is too slow for `npm test`: slow groups, `*.long.test.ts`, and
 * files with a long form.
 */
export const long = "long";

/**
 * The scenarios on Citus, with the merchant in a cell on a worker of the cluster. Each file has its
 * own process, which closes its databases, because each database takes a dozen of the cluster's
 * connections.
 */
export const citus: Group = {
  name: "citus",
  lane: "waits",
  minutes: 20,
  places: ["tests/citus", "tests/scenarios"],
};

export function filesOf({ places }: Group): readonly string[] {
  return places.flatMap(findTests);
}

export function findTests(folder: string): string[] {
  const skip = ["node_modules", "data", "dist"];
  const found = fs.globSync(`${folder}/**/*.test.ts`, {
    exclude: (path) => skip.includes(path.split("/").at(-1) ?? ""),
  });
  return found.map((file) => relative(".", file));
}

/** Whether a test file, or a support file that it uses, depends on the kind of run. */
function hasLongForm(file: string, seen = new Set<string>()): boolean {
  if (file === "tests/support/series.ts") return true;
  seen.add(file);
  const imports = fs.readFileSync(file, "utf8").matchAll(/ from "(\.[^"]+)"/g);
  return [...imports]
    .map(([, path = ""]) => join(dirname(file), path))
    .filter((path) => path.startsWith("tests/support/") && !seen.has(path))
    .some((path) => hasLongForm(path, seen));
}

export function isGroup(name: string): boolean {
  return name === long || [...groups, citus].some((group) => group.name === name);
}

export function isWanted(file: string, group: Group, wanted: readonly string[]): boolean {
  const isSlow = group.isSlow || file.endsWith(".long.test.ts");
  if (wanted.length === 0) return !isSlow;
  if (wanted.includes(group.name)) return true;
  if (wanted.includes(long) && (isSlow || hasLongForm(file))) return true;
  return wanted.some((name) => !isGroup(name) && `${file}/`.startsWith(`${relative(".", name)}/`));
}
