/**
 * `npm run fuzz -- --minutes 30` fuzzes all targets in turn, from a new seed or from `--seed`;
 * `--target` chooses one of them. A finding is printed with its seed and the shortest input, and
 * saved in `tests/fuzz/findings/`; moved to `tests/fuzz/cases/` it is a test. The exit status is
 * then 1. `tests/results/fuzz.json` has the figures.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startWorld } from "../support/world.ts";
import { codecTargets } from "./codecs.ts";
import { makeHttpTargets } from "./http.ts";
import { signatureTargets } from "./signatures.ts";
import { betweenBatches, type Finding, runBatch, type Target } from "./target.ts";
import { startWatchdog } from "./watchdog.ts";
import { makeWireTargets } from "./wire.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "1" },
    seed: { type: "string" },
    target: { type: "string" },
    runs: { type: "string", default: "100" },
  },
});

const seed = Number(values.seed ?? Math.floor(Math.random() * 1_000_000_000));
const isOver = () => performance.now() - startedMs > Number(values.minutes) * 60_000;
const runs = Number(values.runs);

let stopWorld: () => unknown = () => undefined;
const end = {
  after(clean: () => unknown) {
    stopWorld = clean;
  },
};
// A run of low priority on a busy machine may wait for its database.
const settings = { GW_DATABASE_CONNECT_TIMEOUT_S: "60" };
const world = await startWorld(end, settings);
const all: readonly Target[] = [
  ...[...codecTargets, ...signatureTargets],
  ...(await makeHttpTargets(world)),
  ...(await makeWireTargets(end, settings)),
];
const wanted = all.filter(({ name }) => values.target === undefined || values.target === name);
const findings: Finding[] = [];
const tallies = new Map(wanted.map(({ name }) => [name, new Map<string, number>()]));
const watchdog = await startWatchdog({ folder: folder("fuzz/findings") });
console.log(`seed ${seed}`);
const startedMs = performance.now();

let batch = 0;
do {
  for (const target of wanted) {
    if (findings.some((finding) => finding.target === target.name)) continue;
    const outcomes = tallies.get(target.name) ?? new Map();
    const { watch } = watchdog;
    const finding = await runBatch(target, { seed: seed + batch, runs, watch }, outcomes);
    watchdog.rest();
    if (finding !== undefined) report(finding);
    await betweenBatches();
    if (isOver()) break;
  }
  batch += 1;
} while (!isOver() && findings.length < wanted.length);
summarize();
await stopWorld();

function report(finding: Finding): void {
  findings.push(finding);
  process.exitCode = 1;
  const file = join(folder("fuzz/findings"), `${finding.target}-${finding.seed}.json`);
  writeFileSync(file, `${JSON.stringify(finding, null, 2)}\n`);
  console.log(`\n${finding.target}, seed ${finding.seed}: ${finding.problem}`);
  console.log(`shortest input: ${JSON.stringify(finding.input).slice(0, 2_000)}\nsaved: ${file}\n`);
}

function summarize(): void {
  const targets = [...tallies].map(([target, outcomes]) => ({
    target,
    inputs: [...outcomes.values()].reduce((sum, count) => sum + count, 0),
    outcomes: Object.fromEntries([...outcomes].sort(([, one], [, other]) => other - one)),
  }));
  for (const { target, inputs, outcomes } of targets) {
    const most = Object.entries(outcomes).slice(0, 5);
    const listed = most.map(([outcome, count]) => `${outcome} ${count}`).join(", ");
    console.log(`${target.padEnd(20)} ${String(inputs).padStart(8)}  ${listed}`);
  }
  const seconds = Math.round((performance.now() - startedMs) / 1000);
  const result = { seed, seconds, targets, findings };
  writeFileSync(join(folder("results"), "fuzz.json"), `${JSON.stringify(result, null, 2)}\n`);
  console.log(`${findings.length} findings in ${seconds} s`);
}

function folder(name: string): string {
  const path = join(import.meta.dirname, "..", name);
  mkdirSync(path, { recursive: true });
  return path;
}
