/**
 * The figures of a run: medians over its rounds, ratios between figures of the same round (so that
 * what slows the machine slows both sides), the goals, and all of it as text and as JSON.
 */
import type { Arrivals } from "./arrivals.ts";
import type { Books } from "./books.ts";
import { median } from "./figures.ts";
import type { Callbacks, Cards, Costs, Polls, Turns, Wallets } from "./measure.ts";

export type Round = Turns & {
  readonly callbackSales: Callbacks;
  readonly capturesPerSecond: number;
  readonly cards: Cards;
  readonly frictionlessPerSecond: number;
  readonly polls: Polls;
  readonly pollsOfAll: Polls;
  readonly wallets: Wallets;
  readonly arrivals: Arrivals;
};

export type Figure<Measured> = readonly [
  name: string,
  unit: string,
  read: (round: Measured) => number,
];

export const saleFigures: readonly Figure<Turns>[] = [
  [
    "gateway's time per sale ÷ bare-route request",
    "",
    ({ costs }) => costs.sale.gateway / costs.routeRequest,
  ],
  ["PostgreSQL's time per sale ÷ insert", "", ({ costs }) => costs.sale.database / costs.insert],
  ["processor time of a sale: gateway", "µs", ({ costs }) => costs.sale.gateway],
  ["processor time of a sale: PostgreSQL", "µs", ({ costs }) => costs.sale.database],
  ["processor time of a sale: bank", "µs", ({ costs }) => costs.sale.bank],
  ["processor time of a sale: generator", "µs", ({ costs }) => costs.sale.load],
  ["baseline: of a bare-route request", "µs", ({ costs }) => costs.routeRequest],
  ["baseline: of an insert, PostgreSQL", "µs", ({ costs }) => costs.insert],

  ["accepted sales", "/s", ({ sales }) => sales.acceptedPerSecond],
  ["completed sales", "/s", ({ sales }) => sales.completedPerSecond],
  ["sales refused under that load", "", ({ sales }) => sales.refused],
  ["baseline: single-row inserts", "/s", ({ insertsPerSecond }) => insertsPerSecond],
  ["baseline: bare route", "/s", ({ routePerSecond }) => routePerSecond],
  ["orders per commit, accepting", "", ({ sales }) => sales.means.beginBatch],
  ["orders per commit, finishing", "", ({ sales }) => sales.means.moveBatch],
  ["commit, accepting, mean", "ms", ({ sales }) => sales.means.beginMs],
  ["commit, finishing, mean", "ms", ({ sales }) => sales.means.moveMs],
  ["gateway's memory, highest", "MB", ({ memoryBytes }) => memoryBytes / 1e6],
];

// biome-ignore format: a table
export const otherFigures: readonly Figure<Round>[] = [
  ["sales with callbacks, all delivered",    "/s", ({ callbackSales }) => callbackSales.perSecond],
  ["gateway's time per callback ÷ route request", "", ({ callbackSales, costs }) => callbackCost(callbackSales, "gateway") / costs.routeRequest],
  ["processor time of a callback: gateway",  "µs", ({ callbackSales }) => callbackCost(callbackSales, "gateway")],
  ["processor time of a callback: PostgreSQL", "µs", ({ callbackSales }) => callbackCost(callbackSales, "database")],
  ["orders held and captured",               "/s", ({ capturesPerSecond }) => capturesPerSecond],
  ["completed recurrent payments",           "/s", ({ cards }) => cards.rebillsPerSecond],
  ["card information",                       "/s", ({ cards }) => cards.cardInfoPerSecond],
  ["frictionless 3-D Secure sales",          "/s", ({ frictionlessPerSecond }) => frictionlessPerSecond],
  ["wallet sales, both wallets in turn",     "/s", ({ wallets }) => wallets.perSecond],
  ["opening a token, mean",                  "ms", ({ wallets }) => wallets.openingMs],
  ["share of a core spent opening them",     "",   ({ wallets }) => wallets.openingShare],
  ["status polls of orders that ended lately", "/s", ({ polls }) => polls.perSecond],
  ["gateway's time per poll ÷ route request", "",   ({ polls, costs }) => polls.cost.gateway / costs.routeRequest],
  ["processor time of a poll: gateway",      "µs", ({ polls }) => polls.cost.gateway],
  ["processor time of a poll: PostgreSQL",   "µs", ({ polls }) => polls.cost.database],
  ["status polls of any order",              "/s", ({ pollsOfAll }) => pollsOfAll.perSecond],
  ["gateway's time for one of these ÷ the same", "", ({ pollsOfAll, costs }) => pollsOfAll.cost.gateway / costs.routeRequest],

  ["gateway's time per sale at 500/s",       "µs", ({ arrivals }) => arrivals.cost.gateway],
  ["PostgreSQL's time per sale at 500/s",    "µs", ({ arrivals }) => arrivals.cost.database],
  ["overhead at 500/s, median",              "ms", ({ arrivals }) => arrivals.sales.finalMs.p50],
  ["overhead at 500/s, p99",                 "ms", ({ arrivals }) => arrivals.sales.finalMs.p99],
  ["of it until acknowledged, median",       "ms", ({ arrivals }) => arrivals.sales.acknowledgedMs.p50],
  ["of it until acknowledged, p99",          "ms", ({ arrivals }) => arrivals.sales.acknowledgedMs.p99],
  ["of it the load generator's delay, p99",  "ms", ({ arrivals }) => arrivals.sales.sentLateMs.p99],
  ["of it the first commit, p99 at most",    "ms", ({ arrivals }) => arrivals.stageMs.begin],
  ["of it the bank's answer, p99 at most",   "ms", ({ arrivals }) => arrivals.stageMs.bank],
  ["of it the last commit, p99 at most",     "ms", ({ arrivals }) => arrivals.stageMs.move],
  ["of it the bank's answer, mean",          "ms", ({ arrivals }) => arrivals.bankAnswerMs],
  ["the same p99, 50/s wallet sales beside", "ms", ({ arrivals }) => arrivals.besideWallets.finalMs.p99],
  ["baseline: bare route at 500/s, median",  "ms", ({ arrivals }) => arrivals.routeMs.p50],
  ["baseline: bare route at 500/s, p99",     "ms", ({ arrivals }) => arrivals.routeMs.p99],
];

/**
 * Returns the processor time of a callback in microseconds: a sale with a callback minus a sale
 * without.
 */
function callbackCost({ cost, without }: Callbacks, part: "gateway" | "database"): number {
  return cost[part] - without.cost[part];
}

/**
 * The basis of a ratio. Ratios of wall times need a quiet machine; those of processor time and
 * memory do not.
 */
type Basis = "processor" | "wall" | "memory";

type Goal = readonly [
  name: string,
  basis: Basis,
  goal: readonly [sign: "≥" | "≤", limit: number, aim?: number],
  read: (round: Round, memory: Memory) => number,
];

export type Memory = {
  readonly atRestBytes: number;
  /** The highest memory during the first round's sales, before any other kind of load. */
  readonly underSalesBytes: number;
};

// biome-ignore format: a table
const goals: readonly Goal[] = [
  ["gateway's time per sale ÷ bare-route request", "processor", ["≤", 4, 3],     ({ costs }) => costs.sale.gateway / costs.routeRequest],
  ["PostgreSQL's time per sale ÷ insert",          "processor", ["≤", 1.5],      ({ costs }) => costs.sale.database / costs.insert],
  ["gateway's time at 500/s ÷ under full load",    "processor", ["≤", 2],        ({ arrivals, costs }) => arrivals.cost.gateway / costs.sale.gateway],
  ["completed sales ÷ single-row inserts",         "wall",      ["≥", 0.4, 0.5], ({ sales, insertsPerSecond }) => sales.completedPerSecond / insertsPerSecond],
  ["accepted sales ÷ bare route",                  "wall",      ["≥", 0.2],      ({ sales, routePerSecond }) => sales.acceptedPerSecond / routePerSecond],
  ["status polls ÷ bare route",                    "wall",      ["≥", 0.6],      ({ polls }) => polls.perSecond / polls.routePerSecond],
  ["sales with callbacks ÷ without",               "wall",      ["≥", 0.75],     ({ callbackSales }) => callbackSales.perSecond / callbackSales.without.perSecond],
  ["recurrent payments ÷ plain sales",             "wall",      ["≥", 0.8],      ({ sales, cards }) => cards.rebillsPerSecond / sales.completedPerSecond],
  ["overhead p99 at 500/s ÷ the bare route's",     "wall",      ["≤", 4],        ({ arrivals }) => arrivals.sales.finalMs.p99 / arrivals.routeMs.p99],
  ["that p99 with wallet sales beside ÷ without",  "wall",      ["≤", 2],        ({ arrivals }) => arrivals.besideWallets.finalMs.p99 / arrivals.sales.finalMs.p99],
  ["gateway's memory at rest, MB",                 "memory",    ["≤", 130],      (_, { atRestBytes }) => atRestBytes / 1e6],
  ["gateway's memory under full load, MB",         "memory",    ["≤", 350],      (_, { underSalesBytes }) => underSalesBytes / 1e6],
];

export type Verdict = {
  readonly name: string;
  readonly basis: Basis;
  readonly value: number;
  readonly target: string;
  readonly reached: boolean;
};

export function judge(rounds: readonly Round[], memory: Memory): readonly Verdict[] {
  return goals.map(([name, basis, [sign, limit, aim], read]) => {
    const value = median(rounds.map((round) => read(round, memory)));
    const reached = sign === "≥" ? value >= limit : value <= limit;
    const target = `${sign} ${limit}${aim === undefined ? "" : ` (aim ${aim})`}`;
    return { name, basis, value, target, reached };
  });
}

type Inserting = Pick<Turns, "insertSlices">;

const variationMax = 0.2;

/** Returns by how much the slowest slice of single-row inserts was slower than the fastest. */
function variationOf(rounds: readonly Inserting[]): number {
  const rates = rounds.flatMap(({ insertSlices }) => insertSlices);
  return 1 - Math.min(...rates) / Math.max(...rates);
}

export function isQuiet(rounds: readonly Inserting[]): boolean {
  return variationOf(rounds) < variationMax;
}

export function printQuietness(rounds: readonly Inserting[]): string {
  const percent = (variationOf(rounds) * 100).toFixed(0);
  const varied = `single-row inserts varied by ${percent} % between slices`;
  return isQuiet(rounds)
    ? `  The machine was quiet: ${varied}.`
    : `  The machine was not quiet: ${varied}. Only processor time and memory decide.`;
}

export function printVerdicts(verdicts: readonly Verdict[], rounds: readonly Turns[]): string {
  const lines = verdicts.map(({ name, basis, value, target, reached }) => {
    const doubt = basis === "wall" && !isQuiet(rounds) ? "undecided: " : "";
    const sign = `${doubt}${reached ? "reached" : "MISSED"}`;
    return `  ${name.padEnd(46)}${print(value).padStart(7)}   ${target.padEnd(16)}${sign}`;
  });
  return [...lines, "", printQuietness(rounds)].join("\n");
}

export function printFigures(rounds: readonly Round[]): string {
  const lines = [...saleFigures, ...otherFigures].map(([name, unit, read]) => {
    const values = rounds.map(read);
    const each = values.map((value) => print(value).padStart(8)).join("");
    return `  ${name.padEnd(46)}${print(median(values)).padStart(7)} ${unit.padEnd(4)}${each}`;
  });
  return [`  ${"figure".padEnd(46)}${"median".padStart(7)}      each round`, ...lines].join("\n");
}

export function printCosts({ sale, routeRequest, insert }: Costs): string {
  const parts = `gateway ${print(sale.gateway)}, PostgreSQL ${print(sale.database)}`;
  const baselines = `bare-route request ${print(routeRequest)}, insert ${print(insert)}`;
  return `µs of processor time a sale: ${parts}; ${baselines}`;
}

export function printArrivals(arrivals: Arrivals, perSecond: number): string {
  const { sales, routeMs, besideWallets } = arrivals;
  const p99s = [sales.finalMs, besideWallets.finalMs, routeMs].map(({ p99 }) => print(p99));
  return (
    `overhead at ${perSecond}/s: median ${print(sales.finalMs.p50)} ms, p99 ${p99s[0]} ms, ` +
    `beside wallet sales ${p99s[1]} ms; the bare route's ${p99s[2]} ms`
  );
}

/** Prints medians over the rounds, each with its lowest and highest value. */
export function printCostRatios(rounds: readonly Turns[]): string {
  // The first two are the ratios.
  const lines = saleFigures.slice(0, 2).map(([name, , read]) => {
    const values = rounds.map(read);
    const spread = `${print(Math.min(...values))} to ${print(Math.max(...values))}`;
    return `  ${name.padEnd(46)}${print(median(values)).padStart(6)}   (${spread})`;
  });
  return [...lines, printQuietness(rounds)].join("\n");
}

type Compared<Measured> = { readonly earlier: Measured; readonly now: Measured };

/** Prints both medians of each figure, and the ratio within a round with its spread. */
export function printComparison<Measured>(
  figures: readonly Figure<Measured>[],
  rounds: readonly Compared<Measured>[],
): string {
  const heads = ["earlier", "now", "ratio", "least", "greatest"];
  const line = (name: string, cells: readonly string[]) =>
    `  ${name.padEnd(46)}${cells.map((cell) => cell.padStart(9)).join("")}`;
  const lines = figures.map(([name, unit, read]) => {
    const [earlier, now] = [rounds.map((r) => read(r.earlier)), rounds.map((r) => read(r.now))];
    const ratios = now.map((value, index) => value / (earlier[index] ?? Number.NaN));
    const cells = [median(earlier), median(now), median(ratios)];
    const spread = [Math.min(...ratios), Math.max(...ratios)];
    return line(`${name}${unit === "" ? "" : `, ${unit}`}`, [...cells, ...spread].map(print));
  });
  return [line("figure (medians)", heads), ...lines].join("\n");
}

export function printBooks(books: Books): string {
  const { acknowledged, orders, approved, ledgerEntries, lost, doubled, differing } = books;
  const examples = [...lost.slice(0, 5), ...doubled.slice(0, 5), ...differing.slice(0, 5)];
  return [
    `  ${acknowledged} sales acknowledged, ${orders} orders in the database, ` +
      `${approved} approved, ` +
      `${ledgerEntries} entries in the bank's ledger`,
    `  ${lost.length} lost, ${doubled.length} doubled, ${differing.length} differing from the bank`,
    ...examples.map((example) => `    ${example}`),
  ].join("\n");
}

export const definitions = `
  accepted      from the first request to the last acknowledgement, closed loop
  completed     the same orders, from the first request until a second connection to the database
                sees every one of them committed and final; only approved ones are counted
  captured      preauthorised until all are final, then captured until all are final again
  frictionless  the sale, one status, the upload of the method's result, until all are final
  polls         of 2,000 orders that ended lately, which the gateway keeps in memory, and of any
                order of the run, of which it keeps few; by turns with the bare route
  callback      a sale with a callback less a sale without, measured by turns
  wallet sales  encrypted tokens of both wallets with cryptograms, until all are final
  overhead      open arrivals, from the moment a request was due until the gateway knew its final
                commit (its log's line, rounded up to the next ms); the bank's own time and the load
                generator's delay are not subtracted
  processor     user and system time of all threads, or processes, as the kernel counts it; inserts,
                the bare route and sales are measured in short slices by turns
  ratios        of figures of the same round, then the median over the rounds
  bare route    a Fastify route that reads the same form and answers a short text; at 500/s it
                shows how much of the overhead's p99 is the machine's own, measured by turns
  inserts       one 600-byte row per transaction, ten connections, same driver and server`;

export function perSecond(rate: number): string {
  return `${Math.round(rate)}/s`;
}

function print(value: number): string {
  if (!Number.isFinite(value)) return "–";
  if (value >= 1000) return Math.round(value).toLocaleString("en");
  return value >= 100 ? value.toFixed(0) : value.toFixed(2);
}
