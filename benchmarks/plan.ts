/**
 * What a run measures and for how long, from its command line: `--quick` for a minute's look,
 * `--short` for the processor time of a sale alone,
 * `--profile <folder>` for a CPU profile of the gateway, `--connections <n>`, `--rounds <n>`,
 * `--grown <n>` for sales with so many stored orders.
 */
import { resolve } from "node:path";
import { parseArgs } from "node:util";

export type Plan = Readonly<typeof full> & {
  readonly kind: "full" | "quick" | "short";
  readonly profileFolder: string | undefined;
  /** With how many stored orders sales are compared; 0 for the other measurements. */
  readonly grown: number;
};

const full = {
  rounds: 3,
  /** Keep-alive connections of the load generator. */
  connections: 128,
  insertConnections: 10,
  warmUpOrders: 15_000,
  restSeconds: 4,
  /** In how many slices inserts, the bare route and sales are measured by turns. */
  slices: 4,
  insertSeconds: 5,
  routeSeconds: 4,
  saleSeconds: 8,
  pollSeconds: 4,
  arrivalSeconds: 12,
  arrivalsPerSecond: 500,
};

const quick: typeof full = {
  ...full,
  rounds: 1,
  warmUpOrders: 5_000,
  restSeconds: 3,
  insertSeconds: 3,
  routeSeconds: 3,
  saleSeconds: 4,
  pollSeconds: 2,
  arrivalSeconds: 10,
};

/** Long enough for the just-in-time compiler to be done, and for a figure within a few percent. */
const short: typeof full = {
  ...full,
  rounds: 3,
  warmUpOrders: 12_000,
  restSeconds: 1,
  insertSeconds: 2,
  routeSeconds: 2,
  saleSeconds: 3,
};

export function readPlan(parameters: readonly string[]): Plan {
  const { values } = parseArgs({
    args: [...parameters],
    options: {
      quick: { type: "boolean", default: false },
      short: { type: "boolean", default: false },
      profile: { type: "string" },
      connections: { type: "string" },
      rounds: { type: "string" },
      grown: { type: "string" },
    },
  });
  const kind = values.short ? "short" : values.quick ? "quick" : "full";
  const chosen = { full, quick, short }[kind];
  return {
    ...chosen,
    kind,
    rounds: readCount(values.rounds, chosen.rounds),
    connections: readCount(values.connections, chosen.connections),
    grown: readCount(values.grown, 0),
    profileFolder: values.profile === undefined ? undefined : resolve(values.profile),
  };
}

function readCount(text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new Error(`${text} is not a count`);
  return Number(text);
}
