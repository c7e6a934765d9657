/**
 * `npm run chaos -- --minutes 60` runs two nodes, a database pair and the bank as processes under
 * load, with faults from a seed (`--seed`); then everything settles and the books are compared.
 * `tests/results/chaos.md`, `.json` and `.svg` have the report. The exit status is 1 on a finding.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { setLatency } from "../support/bank/bank-program.ts";
import { untilTrue } from "../support/until.ts";
import { compareBooks, readUnfinished } from "./books.ts";
import { inject } from "./faults.ts";
import { startMerchants } from "./merchants.ts";
import { partsOf, planOf } from "./plan.ts";
import { type Done, type Run, toMarkdown, toSvg } from "./report.ts";
import { startChaosWorld } from "./world.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "5" },
    seed: { type: "string" },
    clients: { type: "string", default: "8" },
  },
});
const seed = Number(values.seed ?? Math.floor(Math.random() * 1_000_000_000));
const minutes = Number(values.minutes);
/** The time after the faults for all unfinished work. */
const settlesWithinMs = 300_000;

let endRun: () => unknown = () => undefined;
const end = {
  after(clean: () => unknown) {
    endRun = clean;
  },
};
console.log(`seed ${seed}`);
const world = await startChaosWorld(end);
await setLatency(world.bank.url, 60);
const startedMs = performance.now();
const now = () => Math.round(performance.now() - startedMs);
const merchants = startMerchants({
  seed,
  set: world.set,
  nodes: world.nodes,
  callbackUrl: world.receiver.url,
  now,
  clients: Number(values.clients),
});
const faults: Done[] = [];
const broken: string[] = [];
await doAll();
await settle();
await summarize();
await endRun();
process.exit();

/** Applies each fault at its time, after the earlier faults of its parts. */
async function doAll(): Promise<void> {
  const lanes = new Map<string, Promise<unknown>>();
  for (const fault of planOf(seed, minutes)) {
    await pause(Math.max(0, fault.atMs - now()));
    const parts = partsOf(fault);
    const done = Promise.all(parts.map((part) => lanes.get(part))).then(() => doOne(fault));
    for (const part of parts) lanes.set(part, done);
  }
  await pause(Math.max(0, minutes * 60_000 - now()));
  await Promise.all(lanes.values());

  async function doOne(fault: ReturnType<typeof planOf>[number]): Promise<void> {
    const beganMs = now();
    let overMs: number | undefined;
    const over = () => {
      overMs ??= now();
    };
    const note = await inject(world, fault, over).catch((error) => {
      broken.push(`${fault.kind} of ${fault.part} could not be done: ${error}`);
      return "could not be done";
    });
    over();
    faults.push({ ...fault, beganMs, overMs: overMs ?? beganMs, note });
    console.log(`${(beganMs / 1000).toFixed(0)} s: ${fault.kind} ${fault.part} ${fault.way}`);
  }
}

/** Waits until each node sells again, merchants have all results, and all due work is done. */
async function settle(): Promise<void> {
  const overMs = now();
  const giveUpAtMs = overMs + settlesWithinMs;
  for (const name of world.nodes.keys()) {
    const sellsAgain = () =>
      merchants.acknowledged.some(({ atMs, node }) => atMs > overMs && node === name);
    await untilTrue("the node sells again", sellsAgain).catch(() => {
      broken.push(`${name} takes no sale after the faults`);
    });
  }
  const finished = merchants.finish();
  await Promise.race([finished, pause(settlesWithinMs, undefined, { ref: false })]);
  while (now() < giveUpAtMs) {
    const left = await readUnfinished({ databaseUrl: world.database.primary.url });
    if (left.length === 0) return;
    await pause(500);
  }
}

async function summarize(): Promise<void> {
  const { primary } = world.database;
  const nodes = [...world.nodes.values()];
  const findings = [
    ...broken,
    ...nodes.flatMap(({ unasked }) => unasked.map((words) => `a node ended by itself: ${words}`)),
    ...(await compareBooks({
      databaseUrl: primary.url,
      dataDir: world.dataDir,
      merchants,
      heard: world.accepted,
      logs: nodes.flatMap(({ programs }) => programs.map(({ output }) => output)),
    })),
  ];
  const { purchases, acknowledged } = merchants;
  const run: Run = {
    seed,
    minutes,
    faults,
    acknowledged,
    findings,
    figures: {
      faults: faults.length,
      purchases: purchases.length,
      "purchases acknowledged": purchases.filter(({ orderIds }) => orderIds.length > 0).length,
      "final statuses told to merchants": purchases.flatMap(({ told }) => told).length,
      "callbacks accepted": world.accepted.length,
      "callbacks refused": world.receiver.heard.length - world.accepted.length,
      "starts of nodes": nodes.flatMap(({ programs }) => programs).length,
      "seconds until all was settled": Math.round(now() / 1000 - minutes * 60),
    },
  };
  const folder = join(import.meta.dirname, "../results");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "chaos.md"), toMarkdown(run));
  writeFileSync(join(folder, "chaos.svg"), toSvg(run));
  writeFileSync(join(folder, "chaos.json"), `${JSON.stringify(run, null, 1)}\n`);
  console.log(toMarkdown(run).split("\n## Faults")[0]);
  if (findings.length === 0) return;
  process.exitCode = 1;
  console.log(`Again: npm run chaos -- --minutes ${minutes} --seed ${seed}`);
}
