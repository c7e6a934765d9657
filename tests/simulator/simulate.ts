/**
 * `npm run simulate -- --seeds 200` runs seeds from 1 on, `--seed 17` one of them, `--fresh` one
 * that is new; `--from`, `--orders` and `--seconds` bound the run, `--cells` lists the cells of the
 * transition tables that were not reached. A seed that breaks a law is shown with the shortest
 * history that was found, or with its own (`--whole`), and the exit status is 1.
 */
import { parseArgs } from "node:util";
import { allCells } from "./cells.ts";
import { describeFault, faultKinds } from "./faults.ts";
import { shorten } from "./shorten.ts";
import { type Outcome, planOf, simulate } from "./simulation.ts";

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "20" },
    from: { type: "string", default: "1" },
    seed: { type: "string" },
    fresh: { type: "boolean", default: false },
    orders: { type: "string", default: "100" },
    seconds: { type: "string", default: "0" },
    whole: { type: "boolean", default: false },
    cells: { type: "boolean", default: false },
  },
});

const startedAt = process.hrtime.bigint();
const secondsSinceStart = () => Number(process.hrtime.bigint() - startedAt) / 1e9;
const orders = Number(values.orders);
const limitS = Number(values.seconds) || Number.POSITIVE_INFINITY;
const fresh = values.fresh ? String(1e6 + (Number(startedAt) % 1e9)) : undefined;
const only = values.seed ?? fresh;
const [from, count] =
  only === undefined ? [Number(values.from), Number(values.seeds)] : [Number(only), 1];
if (fresh !== undefined) console.log(`seed ${fresh}`);

const total = { seeds: 0, orders: 0, charges: 0, events: 0, virtualMs: 0, faults: 0 };
const reached = new Set<string>();
const met = new Map<string, number>(faultKinds.map((kind) => [kind, 0]));
for (let seed = from; seed < from + count && secondsSinceStart() < limitS; seed += 1) {
  const outcome = await simulate(seed, planOf(seed, orders));
  add(outcome);
  if (outcome.violations.length === 0) continue;
  show(values.whole ? outcome : await shorten(outcome));
  process.exitCode = 1;
  break;
}
summarize();

function add({ plan, ...outcome }: Outcome): void {
  total.seeds += 1;
  total.orders += outcome.orders;
  total.charges += outcome.charges;
  total.events += outcome.events;
  total.virtualMs += outcome.virtualMs;
  total.faults += plan.faults.length;
  for (const { kind } of plan.faults) met.set(kind, (met.get(kind) ?? 0) + 1);
  for (const cell of outcome.reached) reached.add(cell);
  if (count === 1) console.log(`seed ${outcome.seed}: trace ${outcome.hash}`);
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
  console.log(`\n${story.join("\n")}\n\nAgain: npm run simulate -- --seed ${seed}`);
}

function summarize(): void {
  const hours = Math.round(total.virtualMs / 3_600_000);
  console.log(
    `${total.seeds} seeds in ${Math.round(secondsSinceStart())} s: ${total.orders} orders, ` +
      `${total.charges} charges, ${total.faults} faults, ${total.events} events, ` +
      `${hours} hours of virtual time, ${reached.size} of ${allCells.length} cells`,
  );
  if (values.cells) console.log(allCells.filter((cell) => !reached.has(cell)).join("\n"));
  if (count < 20) return;
  const counts = [...met].map(([kind, times]) => `${kind.replaceAll("_", " ")} ${times}`);
  console.log(counts.join(", "));
}
