/**
 * The faults of a seed: when each begins, which part it hits and how long it lasts. A seed leaves
 * out random kinds (a swarm), so that rare combinations occur without the frequent ones.
 */
import type { Random } from "./random.ts";

export type FaultKind = keyof (typeof durations & typeof rareDurations);

export type Fault = {
  readonly kind: FaultKind;
  readonly atMs: number;
  readonly forMs: number;
  /** The index of the node, if the fault hits a node. */
  readonly node: number;
  /** A number from 0 to 1: the size of the jump, or how disorderly the host is. */
  readonly degree: number;
};

/** The minimum and maximum duration of each fault in seconds. */
// biome-ignore format: a table
const durations = {
  node_dies:               [1, 90],      // and starts again
  node_starts_twice:       [20, 300],    // under the same name
  node_freezes:            [1, 240],     // as by SIGSTOP
  node_is_suspended:       [20, 7_200],  // with its steady clock, as a virtual machine
  clock_jumps:             [0, 0],
  clock_drifts:            [10, 300],
  line_is_cut:             [1, 150],
  line_is_slow:            [5, 120],
  links_are_reset:         [0, 0],
  host_line_is_cut:        [1, 120],
  host_is_unruly:          [20, 300],
  host_is_fickle:          [20, 300],    // approves what it has refused or denied
  host_is_silent:          [1, 120],
  host_refuses_reversals:  [20, 300],
  host_refuses_repeats:    [20, 300],    // and answers no first message
  database_is_away:        [1, 60],
  database_is_silent:      [1, 60],
  database_is_read_only:   [1, 60],
  database_loses_answers:  [5, 120],
  standby_takes_over:      [0, 8],       // and lacks the commits of as long a time
  operator_decides:        [60, 600],    // again and again
  keys_are_rotated:        [20, 150],    // the process ends then
  gate_is_removed:         [5, 120],     // or all of them
  endpoint_is_changed:     [5, 120],     // in its 3-D Secure, its limit, or whether it takes a part
  directory_is_unruly:     [20, 300],
  receivers_fail:          [10, 200],
} as const;

/** A seed has at most two of these faults. */
// biome-ignore format: a table
const rareDurations = {
  database_is_long_away:   [46, 100],    // longer than a lease; a node starts again when it is back
  gate_changes_host:       [20, 200],    // by force, and back
} as const;

const allDurations = { ...durations, ...rareDurations };
const frequent = Object.keys(durations) as readonly FaultKind[];
const rare = Object.keys(rareDurations) as readonly FaultKind[];
export const faultKinds = [...frequent, ...rare];

export type Span = { readonly untilMs: number; readonly storms: readonly number[] };

/**
 * Returns the duration of the faults. In one seed of five it is half an hour, because alarms and
 * deadlines take that long.
 */
export function planDuration(random: Random): number {
  return random.chance(0.2) ? 1_800_000 : 300_000;
}

/** Returns times around which most faults and purchases of a seed gather, so that they coincide. */
export function planStorms(random: Random, untilMs: number): readonly number[] {
  const count = random.below(4);
  return Array.from({ length: count }, () => random.between(10_000, untilMs - 40_000));
}

/** Returns a random time, or one soon after a storm has begun. */
export function momentOf(random: Random, storms: readonly number[], untilMs: number): number {
  const isOfStorm = storms.length > 0 && random.chance(0.5);
  return isOfStorm
    ? random.pick(storms) + random.skewed(0, 40_000)
    : random.between(1_000, untilMs);
}

export function planFaults(random: Random, nodes: number, time: Span): readonly Fault[] {
  const options = { nodes, time };
  const stretch = time.untilMs / 300_000;
  const faults = [
    ...drawFaults(random, { ...options, kinds: frequent, most: 40, stretch }),
    ...drawFaults(random.fork("rare"), { ...options, kinds: rare, most: 2, stretch: 1 }),
  ];
  return faults.sort((left, right) => left.atMs - right.atMs);
}

type DrawOptions = {
  readonly nodes: number;
  readonly time: Span;
  readonly kinds: readonly FaultKind[];
  readonly most: number;
  /** The factor by which the longest duration may exceed the table. */
  readonly stretch: number;
};

function drawFaults(random: Random, options: DrawOptions): readonly Fault[] {
  const { untilMs, storms } = options.time;
  const kinds = options.kinds.filter(() => random.chance(0.5));
  const count = kinds.length === 0 ? 0 : 1 + random.below(options.most);
  return Array.from({ length: count }, (): Fault => {
    const kind = random.pick(kinds);
    const [least, most] = allDurations[kind].map((seconds) => seconds * 1000) as [number, number];
    const scaled = most * options.stretch;
    return {
      kind,
      atMs: momentOf(random, storms, untilMs),
      forMs: random.chance(0.5) ? random.skewed(least, scaled) : random.between(least, most / 2),
      node: random.below(options.nodes),
      degree: random.next(),
    };
  });
}

export function describeFault({ kind, forMs, node, degree }: Fault): string {
  const isOfNode = /^(node|clock|line|links)/.test(kind);
  const of = isOfNode ? ` (node ${node + 1})` : "";
  const size = /^clock|unruly/.test(kind) ? `, degree ${degree.toFixed(2)}` : "";
  return `${kind.replaceAll("_", " ")}${of} for ${(forMs / 1000).toFixed(1)} s${size}`;
}
