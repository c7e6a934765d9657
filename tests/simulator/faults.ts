/**
 * The faults of a seed: when each begins, whom it meets and how long it lasts. A seed leaves out
 * random kinds (a swarm), so that rare combinations meet without the frequent ones.
 */
import type { Random } from "./random.ts";

export type FaultKind = keyof typeof durations;

export type Fault = {
  readonly kind: FaultKind;
  readonly atMs: number;
  readonly forMs: number;
  /** Which of the nodes, where the fault is a node's. */
  readonly node: number;
  /** From 0 to 1: how large the jump is, how unruly the host. */
  readonly degree: number;
};

/** How long each lasts, in seconds: at least, at most. */
// biome-ignore format: a table
const durations = {
  node_dies:               [1, 90],      // and starts again
  node_freezes:            [1, 240],     // as by SIGSTOP
  node_is_suspended:       [20, 7_200],  // with its steady clock, as a virtual machine
  clock_jumps:             [0, 0],
  clock_drifts:            [10, 300],
  line_is_cut:             [1, 150],
  line_is_slow:            [5, 120],
  links_are_reset:         [0, 0],
  host_line_is_cut:        [1, 120],
  host_is_unruly:          [20, 300],
  host_is_silent:          [1, 120],
  host_refuses_reversals:  [20, 300],
  database_is_away:        [1, 60],
  database_is_silent:      [1, 60],
  database_is_read_only:   [1, 60],
  database_loses_answers:  [5, 120],
  standby_takes_over:      [0, 8],       // and lacks the commits of as long a time
  operator_decides:        [30, 300],    // again and again
  receivers_fail:          [10, 200],
} as const;

export const faultKinds = Object.keys(durations) as readonly FaultKind[];

/** In one seed of five the faults last for half an hour: alarms and deadlines take as long. */
export function planDuration(random: Random): number {
  return random.chance(0.2) ? 1_800_000 : 300_000;
}

export function planFaults(random: Random, nodes: number, untilMs: number): readonly Fault[] {
  const kinds = faultKinds.filter(() => random.chance(0.5));
  const count = kinds.length === 0 ? 0 : 1 + random.below(24);
  const faults = Array.from({ length: count }, (): Fault => {
    const kind = random.pick(kinds);
    const [least, most] = durations[kind];
    return {
      kind,
      atMs: random.between(1_000, untilMs),
      forMs: random.skewed(least * 1000, most * 1000 * (untilMs / 300_000)),
      node: random.below(nodes),
      degree: random.next(),
    };
  });
  return faults.sort((left, right) => left.atMs - right.atMs);
}

export function describeFault({ kind, forMs, node, degree }: Fault): string {
  const isOfNode = /^(node|clock|line|links)/.test(kind);
  const of = isOfNode ? ` (node ${node + 1})` : "";
  const size = /^clock|unruly/.test(kind) ? `, degree ${degree.toFixed(2)}` : "";
  return `${kind.replaceAll("_", " ")}${of} for ${(forMs / 1000).toFixed(1)} s${size}`;
}
