/**
 * Reads what a run measures, and for how long, from its command line: `--quick` for a short run,
 * `--short` for the processor time of a sale alone, `--budget` for what `npm test` runs,
 * `--against <commit>` for a comparison (short, unless `--quick` or `--full` is given),
 * `--profile <folder>` for a CPU profile of the gateway, `--connections <n>`, `--rounds <n>`,
 * `--grown <n>` for sales with so many stored orders, `--screened` for ten screening rules on,
 * `--pages` for sales beside payment pages, `--portal <n>` for the portal with so many orders,
 * `--latency` for latency at fixed rates (with `--quick`, or with `--burn <n>` processes that keep
 * the cores busy), `--mix` for the orders that merchants really have (`--rate <n>` a second for
 * `--seconds <n>`, or for `--minutes <n>`, with the gateway's memory every minute).
 */
import { resolve } from "node:path";
import { parseArgs } from "node:util";

/** Ends the run for a reason that the user can change, with a sentence instead of a stack. */
export class Ended extends Error {
  override readonly name = "The benchmark ends";
}

export type Kind = keyof typeof kinds;

export type Plan = Readonly<typeof full> & {
  readonly kind: Kind;
  /** The commit to compare this tree with. */
  readonly against: string | undefined;
  readonly profileFolder: string | undefined;
  /** The number of stored orders with which sales are compared; 0 for the other measurements. */
  readonly grown: number;
  /** Whether ten screening rules are on. */
  readonly screened: boolean;
  /** Whether only sales beside payment pages are measured. */
  readonly pages: boolean;
  /**
   * The number of stored orders with which only the portal is measured; 0 for the other
   * measurements.
   */
  readonly portal: number;
  /** Whether only latency at fixed rates is measured. */
  readonly latency: boolean;
  /** The number of processes that keep the cores busy during the run. */
  readonly burn: number;
  readonly mix: MixPlan | undefined;
};

export type MixPlan = {
  readonly perSecond: number;
  readonly seconds: number;
  /** The duration of a run that does not measure the parts; 0 for one that does. */
  readonly minutes: number;
};

const full = {
  rounds: 3,
  /** Keep-alive connections of the load generator. */
  connections: 128,
  insertConnections: 10,
  warmUpOrders: 15_000,
  restSeconds: 4,
  /** The number of slices in which inserts, the bare route and sales are measured in turn. */
  slices: 4,
  insertSeconds: 5,
  routeSeconds: 4,
  saleSeconds: 8,
  pollSeconds: 4,
  /** The same for arrivals at the bare route, of sales, and of sales beside wallet sales. */
  arrivalSlices: 4,
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

/** Many short rounds, of which the best one counts: a busy moment spoils the others only. */
const budget: typeof full = {
  ...short,
  rounds: 5,
  slices: 1,
  warmUpOrders: 8_000,
  insertSeconds: 0.2,
  routeSeconds: 0.7,
  saleSeconds: 1,
};

/** Many short rounds: the two gateways take turns, and each round gives a ratio. */
const compared: typeof full = {
  ...short,
  rounds: 8,
  slices: 1,
  insertSeconds: 0.7,
  routeSeconds: 0.7,
  saleSeconds: 1.5,
};

const kinds = { full, quick, short, budget, compared };

const options = {
  full: { type: "boolean" },
  quick: { type: "boolean" },
  short: { type: "boolean" },
  budget: { type: "boolean" },
  against: { type: "string" },
  profile: { type: "string" },
  connections: { type: "string" },
  rounds: { type: "string" },
  grown: { type: "string" },
  screened: { type: "boolean" },
  pages: { type: "boolean" },
  portal: { type: "string" },
  latency: { type: "boolean" },
  burn: { type: "string" },
  mix: { type: "boolean" },
  rate: { type: "string" },
  seconds: { type: "string" },
  minutes: { type: "string" },
} as const;

export function readPlan(parameters: readonly string[]): Plan {
  const values = readOptions(parameters);
  const { against, profile } = values;
  refuseContradictions(values);
  const usual = against === undefined ? "full" : "compared";
  const named = (["full", "quick", "budget", "short"] as const).find((name) => values[name]);
  const kind = named === undefined || (named === "short" && against !== undefined) ? usual : named;
  const chosen = kinds[kind];
  return {
    ...chosen,
    kind,
    against,
    rounds: readCount(values.rounds, chosen.rounds),
    connections: readCount(values.connections, chosen.connections),
    grown: readCount(values.grown, 0),
    screened: values.screened === true,
    pages: values.pages === true,
    portal: readCount(values.portal, 0),
    latency: values.latency === true,
    burn: readCount(values.burn, 0),
    mix: values.mix === true ? readMix(values) : undefined,
    profileFolder: profile === undefined ? undefined : resolve(profile),
  };
}

type Values = ReturnType<typeof readOptions>;

function readMix({ rate, seconds, minutes }: Values): MixPlan {
  return {
    perSecond: readCount(rate, 100),
    seconds: readCount(seconds, 60),
    minutes: readCount(minutes, 0),
  };
}

function refuseContradictions(values: Values): void {
  const { against, profile, budget, grown, pages, portal, latency, mix } = values;
  const modes = [budget, grown, pages, portal, latency, mix].filter((mode) => mode !== undefined);
  if (against !== undefined && (profile !== undefined || modes.length > 0)) {
    throw new Ended("--against is for --short, --quick or --full, and for nothing else");
  }
  if (modes.length > 1) throw new Ended("a run measures one thing: too many options");
  if (values.burn !== undefined && !latency) throw new Ended("--burn is for --latency");
  if ((values.rate ?? values.seconds ?? values.minutes) !== undefined && !mix) {
    throw new Ended("--rate, --seconds and --minutes are for --mix");
  }
  if (values.seconds !== undefined && values.minutes !== undefined) {
    throw new Ended("--seconds or --minutes, not both");
  }
}

function readOptions(parameters: readonly string[]) {
  try {
    return parseArgs({ args: [...parameters], options }).values;
  } catch (error) {
    throw new Ended(error instanceof Error ? error.message : String(error));
  }
}

function readCount(text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new Ended(`${text} is not a count`);
  return Number(text);
}
