/**
 * The faults of a run with their times and durations, as a pure function of the seed. Faults of one
 * part never overlap; faults of different parts do.
 */
import { makeRandom, type Random } from "../simulator/random.ts";

export type Fault = {
  readonly kind: Kind;
  /** The process or the line that the fault hits. */
  readonly part: string;
  readonly atMs: number;
  readonly forMs: number;
  readonly way: string;
};

type KindOfFault = {
  readonly share: number;
  readonly parts: readonly string[];
  readonly ways: readonly string[];
  readonly seconds: readonly [shortest: number, longest: number];
};

const nodes = ["left", "right"];
const lines = [
  ...["left-database", "right-database", "merchants-left", "merchants-right"],
  ...["acquirer", "directory", "replication"],
];
/**
 * The ways to cut a line. Bytes in a silent line arrive when it is back, or the connection is
 * reset.
 */
const cuts = ["reset", "silent, then late", "silent, then reset", "deaf", "mute", "slow"];

/** A lease lasts eight seconds, and a node may be stopped for three times as long. */
// biome-ignore format: a table
export const kinds = {
  "node killed":        { share: 4, parts: nodes,        ways: ["one", "one", "both"],           seconds: [0.2, 8] },
  "node stopped":       { share: 4, parts: nodes,        ways: [""],                             seconds: [0.5, 25] },
  "node out of memory": { share: 2, parts: nodes,        ways: [""],                             seconds: [10, 10] },
  "line cut":           { share: 8, parts: lines,        ways: cuts,                             seconds: [0.5, 12] },
  "bank killed":        { share: 1, parts: ["bank"],     ways: [""],                             seconds: [0.2, 6] },
  "bank stopped":       { share: 1, parts: ["bank"],     ways: [""],                             seconds: [0.5, 12] },
  "primary killed":     { share: 1, parts: ["database"], ways: [""],                             seconds: [0.2, 4] },
  "primary stopped":    { share: 1, parts: ["database"], ways: [""],                             seconds: [0.5, 10] },
  "failover":           { share: 3, parts: ["database"], ways: ["killed", "frozen, wakes up later"], seconds: [1, 10] },
  "standby stopped":    { share: 1, parts: ["database"], ways: [""],                             seconds: [0.5, 8] },
  "standby killed":     { share: 1, parts: ["database"], ways: [""],                             seconds: [0.2, 4] },
  "disk full":          { share: 2, parts: ["database"], ways: ["primary", "primary", "standby"], seconds: [3, 12] },
  "receiver failing":   { share: 2, parts: ["receiver"], ways: ["refuses", "hangs", "hangs up"], seconds: [2, 20] },
} as const satisfies Readonly<Record<string, KindOfFault>>;

export type Kind = keyof typeof kinds;
const kindNames = Object.keys(kinds) as readonly Kind[];
const meanGapMs = 7_000;
const firstAtMs = 3_000;
/** The minimum time between two faults of a part. */
const restMs = 2_000;

export function planOf(seed: number, minutes: number): readonly Fault[] {
  const random = makeRandom(seed, "chaos");
  const endMs = minutes * 60_000;
  const busyUntil = new Map<string, number>();
  const faults: Fault[] = [];
  for (let atMs = firstAtMs; atMs < endMs; atMs += random.between(0, 2 * meanGapMs)) {
    const fault = drawFault(random, Math.round(atMs));
    const touched = partsOf(fault);
    if (touched.some((part) => (busyUntil.get(part) ?? 0) > atMs)) continue;
    if (fault.atMs + fault.forMs > endMs) continue;
    faults.push(fault);
    for (const part of touched) busyUntil.set(part, fault.atMs + fault.forMs + restMs);
  }
  return faults;
}

/** Returns the parts that no other fault may hit at the same time. */
export function partsOf({ kind, part, way }: Fault): readonly string[] {
  if (kind === "node killed" && way === "both") return nodes;
  // A standby that cannot follow would not be in step for the next failover.
  return part === "replication" ? ["database"] : [part];
}

function drawFault(random: Random, atMs: number): Fault {
  const kind = random.pick(kindNames.flatMap((name) => Array(kinds[name].share).fill(name)));
  const { parts, ways, seconds } = kinds[kind as Kind];
  const [shortest, longest] = seconds;
  // Most faults are short, and some are long.
  const forMs = 1000 * (shortest + (longest - shortest) * random.next() ** 2);
  return {
    kind,
    part: random.pick<string>(parts),
    way: random.pick<string>(ways),
    atMs,
    forMs: Math.round(forMs),
  };
}
