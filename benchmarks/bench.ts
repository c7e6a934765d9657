/**
 * `npm run bench`: measures the speed of the gateway on this machine, over real sockets, beside
 * baselines of the same run; and whether every order was kept and agrees with the bank to the cent.
 * A missed target is reported; a lost or doubled order, or differing books, fail the run.
 */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, loadavg, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { compareWith } from "./against.ts";
import { areClean, auditBooks, readLedger, readOrders } from "./books.ts";
import { judgeBudget, judgeMedian, printBudget, printMedian } from "./budget.ts";
import { launchHere } from "./gateway.ts";
import { measureGrown, printGrown } from "./grown.ts";
import { measureLatency, measureMedians } from "./latency.ts";
import { judgeLatency, latencyDefinitions, printLatency } from "./latency-report.ts";
import type { Turns } from "./measure.ts";
import { measureMix } from "./mix.ts";
import { mixDefinitions, printMix } from "./mix-report.ts";
import { measurePages, printPages } from "./pages.ts";
import { Ended, type MixPlan, type Plan, readPlan } from "./plan.ts";
import { generateOrders, measurePortal, printPortal } from "./portal.ts";
import * as report from "./report.ts";
import { type Course, measureRound, measureSales, warmUp } from "./rounds.ts";
import { type Setup, screenSales } from "./setup.ts";
import { startGateway, startParts } from "./start.ts";

const resultsFile = join(import.meta.dirname, "results", "latest.json");

process.exit(await main(process.argv.slice(2)));

async function main(parameters: readonly string[]): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-bench-"));
  // PostgreSQL, which never runs as root, must be able to enter.
  chmodSync(folder, 0o755);
  const stack = new AsyncDisposableStack();
  let isClean = false;
  let isKept = true;
  try {
    isClean = await Promise.race([run(readPlan(parameters), folder, stack), untilInterrupted()]);
    isKept = !isClean;
  } catch (error) {
    isKept = !(error instanceof Ended);
    say(error instanceof Error && isKept ? (error.stack ?? "") : String(error));
  }
  await stack.disposeAsync();
  if (isKept) say(`The gateway's folder is kept: ${folder}`);
  else rmSync(folder, { recursive: true, force: true });
  return isClean ? 0 : 1;
}

async function run(plan: Plan, folder: string, stack: AsyncDisposableStack): Promise<boolean> {
  if (plan.against !== undefined) return compareTrees(plan.against, { plan, folder, stack });
  say("Starting the gateway with PostgreSQL and the sandbox bank …");
  const profile = ["--cpu-prof", `--cpu-prof-dir=${plan.profileFolder}`];
  const launch = launchHere([
    ...(plan.profileFolder === undefined ? [] : profile),
    ...(plan.mix === undefined ? [] : ["--trace-gc"]),
  ]);
  const setup = await startGateway({ folder, launch, plan }, await startParts(stack), stack);
  if (plan.screened) await screenSales(setup);
  const busyShare = await watchCores(plan.restSeconds);
  say(`At rest, other processes use ${(busyShare * 100).toFixed(0)} % of the cores.`);
  const atRestBytes = setup.gateway.readMemoryBytes();
  if (plan.grown > 0) return compareGrown(setup, busyShare);
  if (plan.pages) return comparePages(setup, busyShare);
  if (plan.latency) return compareLatency(setup, busyShare, stack);
  if (plan.mix)
    return compareMix(setup, busyShare, { mix: plan.mix, folder: join(folder, "gateway") });
  if (plan.portal > 0) return comparePortal(setup, join(folder, "gateway"), busyShare);
  if (plan.kind === "short" || plan.kind === "budget") return measureShort(setup, busyShare);

  const rounds = await takeRounds(setup, measureRound);
  const books = await compareBooks(setup);
  const memory = { atRestBytes, underSalesBytes: rounds[0]?.memoryBytes ?? Number.NaN };
  const verdicts = report.judge(rounds, memory);
  say(`\n${report.printFigures(rounds)}`);
  say(`\n${report.printVerdicts(verdicts, rounds)}`);
  say(`\n${report.printBooks(books)}`);
  say(report.definitions);
  writeResults(busyShare, { plan, rounds, memory, verdicts, books });
  return areClean(books);
}

async function compareTrees(
  commit: string,
  place: { readonly plan: Plan; readonly folder: string; readonly stack: AsyncDisposableStack },
): Promise<boolean> {
  const busyShare = await watchCores(place.plan.restSeconds);
  const { setup, text, ...comparison } = await compareWith(commit, { ...place, say });
  const books = await compareBooks(setup);
  say(`\n${text}\n\n${report.printBooks(books)}`);
  writeResults(busyShare, { plan: place.plan, ...comparison, books });
  return areClean(books);
}

/** Measures only the processor time of a sale. */
async function measureShort(setup: Setup, busyShare: number): Promise<boolean> {
  const { plan } = setup;
  const rounds = await takeRounds(setup, measureSales);
  const medians = plan.kind === "budget" ? await measureMedians(setup) : [];
  const books = await compareBooks(setup);
  say(`\n${report.printCostRatios(rounds)}\n\n${report.printBooks(books)}`);
  if (plan.kind === "budget") {
    const budget = judgeBudget(rounds);
    const median = judgeMedian(medians);
    say(`\n${printBudget(budget)}\n${printMedian(median)}`);
    if (!budget.isKept) throw new Ended("a sale costs too much processor time");
    if (!median.isKept) throw new Ended("a sale at 50/s takes too long");
    return areClean(books);
  }
  writeResults(busyShare, { plan, rounds, books });
  return areClean(books);
}

async function takeRounds<Measured extends Turns>(
  setup: Setup,
  measure: (setup: Setup, course: Course) => Promise<Measured>,
): Promise<readonly Measured[]> {
  const { plan } = setup;
  const count = await warmUp(setup, say);
  const rounds: Measured[] = [];
  for (let round = 1; round <= plan.rounds; round += 1) {
    const tell = (text: string) => say(`Round ${round} of ${plan.rounds}: ${text}`);
    rounds.push(await measure(setup, { round, count, say: tell }));
  }
  return rounds;
}

async function compareBooks({ database, gateway, acknowledged, authenticated }: Setup) {
  say("Comparing every order with the bank's ledger …");
  const orders = await readOrders(database);
  const entries = await readLedger(gateway.bankUrl);
  return auditBooks([...acknowledged, ...authenticated], orders, entries);
}

async function compareGrown(setup: Setup, busyShare: number): Promise<boolean> {
  const grown = await measureGrown(setup, setup.plan.grown, say);
  return conclude(setup, busyShare, { text: printGrown(grown), measured: { grown } });
}

async function comparePages(setup: Setup, busyShare: number): Promise<boolean> {
  const pages = await measurePages(setup, say);
  return conclude(setup, busyShare, { text: printPages(pages), measured: { pages } });
}

async function compareLatency(
  setup: Setup,
  busyShare: number,
  stack: AsyncDisposableStack,
): Promise<boolean> {
  const count = await warmUp(setup, say);
  const latency = await measureLatency(setup, { count, say, stack });
  const verdicts = judgeLatency(latency);
  const text = `${printLatency(latency, verdicts)}\n${latencyDefinitions}`;
  return conclude(setup, busyShare, { text, measured: { latency, verdicts } });
}

async function compareMix(
  setup: Setup,
  busyShare: number,
  { mix: plan, folder }: { readonly mix: MixPlan; readonly folder: string },
): Promise<boolean> {
  await warmUp(setup, say);
  const mix = await measureMix(setup, plan, { folder, say });
  const text = `${printMix(mix)}\n${mixDefinitions}`;
  return conclude(setup, busyShare, { text, measured: { mix } });
}

async function conclude(
  setup: Setup,
  busyShare: number,
  { text, measured }: { readonly text: string; readonly measured: object },
): Promise<boolean> {
  const books = await compareBooks(setup);
  say(`\n${text}\n\n${report.printBooks(books)}`);
  writeResults(busyShare, { plan: setup.plan, ...measured, books });
  return areClean(books);
}

async function comparePortal(setup: Setup, folder: string, busyShare: number): Promise<boolean> {
  const { plan } = setup;
  await warmUp(setup, say);
  await generateOrders(folder, plan.portal);
  const portal = await measurePortal(folder, say);
  say(`\n${printPortal(portal)}`);
  writeResults(busyShare, { plan, portal });
  return true;
}

function writeResults(busyShare: number, measured: object): void {
  const [core] = cpus();
  const machine = {
    model: core?.model,
    cores: cpus().length,
    memoryBytes: totalmem(),
    node: process.version,
    busyShareAtRest: busyShare,
    loadAverage: loadavg(),
  };
  const results = { at: new Date().toISOString(), machine, ...measured };
  mkdirSync(join(resultsFile, ".."), { recursive: true });
  writeFileSync(resultsFile, `${JSON.stringify(results, undefined, 2)}\n`);
  say(`\nWritten to ${resultsFile}`);
}

/** Returns the share of the cores in use while the benchmark's own processes are idle. */
async function watchCores(seconds: number): Promise<number> {
  const [before, after] = [coreTimes(), await pause(seconds * 1000).then(coreTimes)];
  return 1 - (after.idle - before.idle) / (after.all - before.all);
}

function coreTimes(): { readonly idle: number; readonly all: number } {
  const times = cpus().map(({ times: { user, nice, sys, idle, irq } }) => ({
    idle,
    all: user + nice + sys + idle + irq,
  }));
  return times.reduce((sum, core) => ({ idle: sum.idle + core.idle, all: sum.all + core.all }));
}

/** Never resolves: an interrupted run has measured nothing. */
function untilInterrupted(): Promise<never> {
  return new Promise((_, reject) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      process.on(signal, () => reject(new Ended(`interrupted by ${signal}`)));
    }
  });
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
