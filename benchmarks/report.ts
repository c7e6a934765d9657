/**
 * The figures of a run: medians over its rounds, ratios between figures of the same round (so that
 * what slows the machine slows both sides), the targets, and all of it as text and as JSON.
 */
import type { Books } from "./books.ts";
import type { CpuTime } from "./cpu-time.ts";
import { median, type Overhead, type Percentiles } from "./figures.ts";
import type { Cards, Costs, Turns, Wallets } from "./measure.ts";

export type Round = Turns & {
  readonly routeArrivalsMs: Percentiles;
  readonly callbackSalesPerSecond: number;
  readonly capturesPerSecond: number;
  readonly cards: Cards;
  readonly frictionlessPerSecond: number;
  readonly pollsPerSecond: number;
  readonly arrivals: Overhead & { readonly bankAnswerMs: number; readonly cost: CpuTime };
  readonly wallets: Wallets;
};

export type Memory = { readonly atRestBytes: number; readonly underLoadBytes: number };

export type Verdict = {
  readonly name: string;
  readonly value: number;
  readonly target: string;
  readonly reached: boolean;
};

type Row = readonly [name: string, unit: string, read: (round: Round) => number];

// biome-ignore format: a table
const rows: readonly Row[] = [
  ["accepted sales",                         "/s", ({ sales }) => sales.acceptedPerSecond],
  ["completed sales",                        "/s", ({ sales }) => sales.completedPerSecond],
  ["sales refused under that load",          "",   ({ sales }) => sales.refused],
  ["sales with callbacks, all delivered",    "/s", ({ callbackSalesPerSecond }) => callbackSalesPerSecond],
  ["orders held and captured",               "/s", ({ capturesPerSecond }) => capturesPerSecond],
  ["completed recurrent payments",           "/s", ({ cards }) => cards.rebillsPerSecond],
  ["card information",                       "/s", ({ cards }) => cards.cardInfoPerSecond],
  ["frictionless 3-D Secure sales",          "/s", ({ frictionlessPerSecond }) => frictionlessPerSecond],
  ["frictionless 3-D Secure ÷ plain sales",  "",   ({ frictionlessPerSecond, sales }) => frictionlessPerSecond / sales.completedPerSecond],
  ["wallet sales, both wallets in turn",     "/s", ({ wallets }) => wallets.perSecond],
  ["opening a token, mean",                  "ms", ({ wallets }) => wallets.openingMs],
  ["share of a core spent opening them",     "",   ({ wallets }) => wallets.openingShare],
  ["overhead, 50/s wallet sales along, p99",  "ms", ({ wallets }) => wallets.alongsideP99Ms],
  ["status polls",                           "/s", ({ pollsPerSecond }) => pollsPerSecond],
  ["baseline: single-row inserts",           "/s", ({ insertsPerSecond }) => insertsPerSecond],
  ["baseline: bare route",                   "/s", ({ routePerSecond }) => routePerSecond],

  ["processor time of a sale: gateway",      "µs", ({ costs }) => costs.sale.gateway],
  ["processor time of a sale: PostgreSQL",   "µs", ({ costs }) => costs.sale.database],
  ["processor time of a sale: bank",         "µs", ({ costs }) => costs.sale.bank],
  ["processor time of a sale: generator",    "µs", ({ costs }) => costs.sale.load],
  ["the gateway's at 500/s",                 "µs", ({ arrivals }) => arrivals.cost.gateway],
  ["PostgreSQL's at 500/s",                  "µs", ({ arrivals }) => arrivals.cost.database],
  ["baseline: of a bare-route request",      "µs", ({ costs }) => costs.routeRequest],
  ["baseline: of an insert, PostgreSQL",     "µs", ({ costs }) => costs.insert],

  ["overhead at 500/s, median",              "ms", ({ arrivals }) => arrivals.finalMs.p50],
  ["overhead at 500/s, p99",                 "ms", ({ arrivals }) => arrivals.finalMs.p99],
  ["of it until acknowledged, median",       "ms", ({ arrivals }) => arrivals.acknowledgedMs.p50],
  ["of it until acknowledged, p99",          "ms", ({ arrivals }) => arrivals.acknowledgedMs.p99],
  ["of it the load generator's delay, p99",  "ms", ({ arrivals }) => arrivals.sentLateMs.p99],
  ["of it the bank's answer, mean",          "ms", ({ arrivals }) => arrivals.bankAnswerMs],
  ["baseline: bare route at 500/s, p99",     "ms", ({ routeArrivalsMs }) => routeArrivalsMs.p99],

  ["orders per commit, accepting",           "",   ({ sales }) => sales.means.beginBatch],
  ["orders per commit, finishing",           "",   ({ sales }) => sales.means.moveBatch],
  ["commit, accepting, mean",                "ms", ({ sales }) => sales.means.beginMs],
  ["commit, finishing, mean",                "ms", ({ sales }) => sales.means.moveMs],
];

type Goal = readonly [
  name: string,
  sign: "≥" | "≤",
  limit: number,
  unit: string,
  read: (round: Round, memory: Memory) => number,
];

// biome-ignore format: a table
const goals: readonly Goal[] = [
  ["completed sales ÷ single-row inserts",        "≥", 0.5, "",    ({ sales, insertsPerSecond }) => sales.completedPerSecond / insertsPerSecond],
  ["accepted sales ÷ bare route",                 "≥", 0.3, "",    ({ sales, routePerSecond }) => sales.acceptedPerSecond / routePerSecond],
  ["sales with callbacks ÷ without",              "≥", 0.7, "",    ({ sales, callbackSalesPerSecond }) => callbackSalesPerSecond / sales.completedPerSecond],
  ["recurrent payments ÷ plain sales",            "≥", 0.8, "",    ({ sales, cards }) => cards.rebillsPerSecond / sales.completedPerSecond],
  ["status polls ÷ bare route",                   "≥", 0.5, "",    ({ pollsPerSecond, routePerSecond }) => pollsPerSecond / routePerSecond],
  ["overhead p99 at 500/s, ms",                   "≤", 15,  " ms", ({ arrivals }) => arrivals.finalMs.p99],
  ["p99 with wallet sales alongside ÷ without",   "≤", 2,   "",    ({ arrivals, wallets }) => wallets.alongsideP99Ms / arrivals.finalMs.p99],
  ["gateway's time per sale ÷ bare-route request", "≤", 4,  "",    ({ costs }) => costs.sale.gateway / costs.routeRequest],
  ["PostgreSQL's time per sale ÷ insert",         "≤", 1.5, "",    ({ costs }) => costs.sale.database / costs.insert],
  ["gateway's time at 500/s ÷ under full load",   "≤", 2,   "",    ({ arrivals, costs }) => arrivals.cost.gateway / costs.sale.gateway],
  ["gateway at rest, MB",                         "≤", 150, " MB", (_, { atRestBytes }) => atRestBytes / 1e6],
];

export function judge(rounds: readonly Round[], memory: Memory): readonly Verdict[] {
  return goals.map(([name, sign, limit, unit, read]) => {
    const value = median(rounds.map((round) => read(round, memory)));
    const reached = sign === "≥" ? value >= limit : value <= limit;
    return { name, value, target: `${sign} ${limit}${unit}`, reached };
  });
}

export function printFigures(rounds: readonly Round[], memory: Memory): string {
  const lines = rows.map(([name, unit, read]) => {
    const values = rounds.map(read);
    const each = values.map((value) => print(value).padStart(8)).join("");
    return `  ${name.padEnd(42)}${print(median(values)).padStart(9)} ${unit.padEnd(4)}${each}`;
  });
  return [
    `  ${"figure".padEnd(42)}${"median".padStart(9)}      each round`,
    ...lines,
    `  ${"gateway's memory at rest".padEnd(42)}${megabytes(memory.atRestBytes)}`,
    `  ${"gateway's memory under load, highest".padEnd(42)}${megabytes(memory.underLoadBytes)}`,
  ].join("\n");
}

export function printCosts({ sale, routeRequest, insert }: Costs): string {
  const parts = `gateway ${print(sale.gateway)}, PostgreSQL ${print(sale.database)}`;
  const baselines = `bare-route request ${print(routeRequest)}, insert ${print(insert)}`;
  return `µs of processor time a sale: ${parts}; ${baselines}`;
}

/** Medians over the rounds, each with its least and its greatest value. */
export function printCostRatios(rounds: readonly Turns[]): string {
  const line = (name: string, read: (costs: Costs) => number) => {
    const values = rounds.map(({ costs }) => read(costs));
    const spread = `${print(Math.min(...values))} to ${print(Math.max(...values))}`;
    return `  ${name.padEnd(46)}${print(median(values)).padStart(6)}   (${spread})`;
  };
  return [
    line(
      "gateway's time per sale ÷ bare-route request",
      ({ sale, routeRequest }) => sale.gateway / routeRequest,
    ),
    line("PostgreSQL's time per sale ÷ insert", ({ sale, insert }) => sale.database / insert),
  ].join("\n");
}

export function printVerdicts(verdicts: readonly Verdict[]): string {
  const lines = verdicts.map(({ name, value, target, reached }) => {
    const sign = reached ? "reached" : "MISSED";
    return `  ${name.padEnd(42)}${print(value).padStart(9)}     ${target.padEnd(10)}${sign}`;
  });
  return lines.join("\n");
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
  wallet sales  encrypted tokens of both wallets with cryptograms, until all are final
  overhead      open arrivals, from the moment a request was due until the gateway knew its final
                commit (its log's line, rounded up to the next ms); the bank's own time and the load
                generator's delay are not subtracted
  processor     user and system time of all threads, or processes, as the kernel counts it; inserts,
                the bare route and sales are measured in short slices by turns
  ratios        of figures of the same round, then the median over the rounds
  bare route    a Fastify route that reads the same form and answers a short text; at 500/s it
                shows how much of the overhead's p99 is the machine's own
  inserts       one 600-byte row per transaction, ten connections, same driver and server`;

function megabytes(bytes: number): string {
  return `${print(bytes / 1e6).padStart(9)} MB`;
}

function print(value: number): string {
  if (value >= 1000) return Math.round(value).toLocaleString("en");
  return value >= 100 ? value.toFixed(0) : value.toFixed(2);
}
