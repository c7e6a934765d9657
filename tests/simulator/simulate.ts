/**
 * `npm run simulate -- --seeds 200` runs seeds from 1 on, on two cores (`--workers`), `--seed 17`
 * one of them, `--fresh` one that is new, `--short` those of `npm test`. `--from`, `--orders` and
 * `--seconds` bound the run; `--nodes 3` and `--anywhere` (the host answers over any connection)
 * set for all seeds what each one chooses otherwise; `--cells` lists the cells of the transition
 * tables that were not reached. A seed that breaks a law is shown with the shortest history that
 * was found, or with its own (`--whole`); the run goes on until each process has found `--findings`
 * of them, and the exit status is 1.
 */
import { fork } from "node:child_process";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { allCells, unreachable } from "./cells.ts";
import { describeFault, faultKinds } from "./faults.ts";
import { ordersPerSeed, shortSeeds } from "./seeds.ts";
import { shorten } from "./shorten.ts";
import { type Outcome, planOf, simulate } from "./simulation.ts";

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "20" },
    from: { type: "string", default: "1" },
    every: { type: "string", default: "1" },
    seed: { type: "string" },
    fresh: { type: "boolean", default: false },
    short: { type: "boolean", default: false },
    orders: { type: "string", default: "100" },
    seconds: { type: "string", default: "0" },
    workers: { type: "string", default: String(Math.min(2, availableParallelism())) },
    findings: { type: "string", default: "1" },
    whole: { type: "boolean", default: false },
    cells: { type: "boolean", default: false },
    nodes: { type: "string" },
    anywhere: { type: "boolean", default: false },
  },
});

const startedAt = process.hrtime.bigint();
const secondsSinceStart = () => Number(process.hrtime.bigint() - startedAt) / 1e9;
const limitS = Number(values.seconds) || Number.POSITIVE_INFINITY;
const fresh = values.fresh ? String(1e6 + (Number(startedAt) % 1e9)) : undefined;
const only = values.seed ?? fresh;
const all = values.short ? Math.max(...shortSeeds) : Number(values.seeds);
const [from, count] = only === undefined ? [Number(values.from), all] : [Number(only), 1];
const orders = values.short ? ordersPerSeed : Number(values.orders);
const chosen = {
  ...(values.nodes !== undefined && { nodes: Number(values.nodes) }),
  ...(values.anywhere && { answersAnywhere: true }),
};
const choices = [
  ...(values.nodes === undefined ? [] : ["--nodes", values.nodes]),
  ...(values.anywhere ? ["--anywhere"] : []),
];
if (fresh !== undefined) console.log(`seed ${fresh}`);

const progressMs = 60_000;
const sums = { seeds: 0, orders: 0, charges: 0, events: 0, virtualMs: 0, faults: 0 };
type Total = {
  readonly sums: typeof sums;
  readonly reached: readonly string[];
  readonly met: Readonly<Record<string, number>>;
};
const total = {
  sums,
  fewest: Number.POSITIVE_INFINITY,
  reached: new Set<string>(),
  met: {} as Record<string, number>,
};
const isWorker = process.send !== undefined;
const workers = Math.min(Number(values.workers), count);
if (!isWorker && workers > 1) {
  const shares = Array.from({ length: workers }, (_, index) => runShare(index));
  const progress = setInterval(tellProgress, progressMs);
  const codes = await Promise.all(shares);
  clearInterval(progress);
  if (codes.some((code) => code !== 0)) process.exitCode = 1;
} else {
  await runSeeds();
}
if (isWorker) process.disconnect?.();
else summarize();

/** Runs one share of the seeds in another process. */
function runShare(index: number): Promise<number | null> {
  const { seconds, findings } = values;
  const share = ["--from", `${from + index}`, "--every", `${workers}`, "--orders", `${orders}`];
  const bounds = ["--seeds", `${count - index}`, "--seconds", seconds, "--findings", findings];
  const flags = [...(values.whole ? ["--whole"] : []), ...(values.short ? ["--short"] : [])];
  const child = fork(fileURLToPath(import.meta.url), [...share, ...bounds, ...flags, ...choices]);
  child.on("message", (message) => add(message as Total));
  return new Promise((resolve) => child.on("close", resolve));
}

async function runSeeds(): Promise<void> {
  const every = Number(values.every);
  let left = Number(values.findings);
  for (let seed = from; seed < from + count && secondsSinceStart() < limitS; seed += every) {
    if (values.short && !shortSeeds.includes(seed)) continue;
    const outcome = await simulate(seed, planOf(seed, orders, chosen));
    if (isWorker) process.send?.(totalOf(outcome));
    else add(totalOf(outcome));
    if (only !== undefined) console.log(`seed ${outcome.seed}: trace ${outcome.hash}`);
    if (outcome.violations.length === 0) continue;
    show(values.whole ? outcome : await shorten(outcome));
    process.exitCode = 1;
    left -= 1;
    if (left <= 0) break;
  }
}

function tellProgress(): void {
  console.log(`${sums.seeds} of ${count} seeds after ${Math.round(secondsSinceStart())} s`);
}

function totalOf({ plan, orders, charges, events, virtualMs, reached }: Outcome): Total {
  const met: Record<string, number> = {};
  for (const { kind } of plan.faults) met[kind] = (met[kind] ?? 0) + 1;
  const counted = { seeds: 1, orders, charges, events, virtualMs, faults: plan.faults.length };
  return { sums: counted, reached: [...reached], met };
}

/** Adds the totals of one seed. */
function add(more: Total): void {
  total.fewest = Math.min(total.fewest, more.sums.orders);
  for (const name of Object.keys(sums) as (keyof typeof sums)[]) sums[name] += more.sums[name];
  for (const [kind, times] of Object.entries(more.met)) {
    total.met[kind] = (total.met[kind] ?? 0) + times;
  }
  for (const cell of more.reached) total.reached.add(cell);
}

function show({ seed, plan, violations, story }: Outcome): void {
  console.log(`\nSeed ${seed} breaks a law:`);
  for (const { law, detail, orderId } of violations.slice(0, 5)) {
    console.log(`  ${law}: order ${orderId}, ${detail}`);
  }
  const { faults, purchases } = plan;
  console.log(`\nShortest history: ${purchases.length} purchases, ${faults.length} faults.`);
  for (const fault of faults) {
    console.log(`  at ${(fault.atMs / 1000).toFixed(1)} s: ${describeFault(fault)}`);
  }
  console.log(
    `\n${story.join("\n")}\n\n` +
      `Again: npm run simulate -- --seed ${seed} --orders ${orders} ${choices.join(" ")}`.trimEnd(),
  );
}

function summarize(): void {
  const { seeds, orders, charges, faults, events, virtualMs } = sums;
  const { reached } = total;
  const reachable = allCells.filter((cell) => !unreachable.has(cell));
  console.log(
    `${seeds} seeds in ${Math.round(secondsSinceStart())} s: ` +
      `${orders} orders (at least ${total.fewest} in each), ` +
      `${charges} charges, ${faults} faults, ${events} events, ` +
      `${Math.round(virtualMs / 3_600_000)} hours of virtual time, ` +
      `${reached.size} of ${reachable.length} cells`,
  );
  if (values.cells) console.log(reachable.filter((cell) => !reached.has(cell)).join("\n"));
  if (count < 20) return;
  const counts = faultKinds.map((kind) => `${kind.replaceAll("_", " ")} ${total.met[kind] ?? 0}`);
  console.log(counts.join(", "));
}
