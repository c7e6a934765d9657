/**
 * `npm run bench`: how fast the gateway is on this machine, over real sockets, next to baselines of
 * the same run; and whether every order was kept and agrees with the bank to the cent. A missed
 * target is reported; a lost or doubled order, or books that differ, fail the run.
 */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, loadavg, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Client } from "pg";
import type { BaselineJobs } from "./baselines.ts";
import { areClean, auditBooks, type Books, readLedger, readOrders } from "./books.ts";
import { measureGrown, printGrown } from "./grown.ts";
import type { LoadJobs } from "./load.ts";
import * as measure from "./measure.ts";
import { type Plan, readPlan } from "./plan.ts";
import { startGatewayProcess, startPart } from "./processes.ts";
import * as report from "./report.ts";
import type { Setup } from "./setup.ts";

const resultsFile = join(import.meta.dirname, "results", "latest.json");
const memoryEveryMs = 200;
/** Enough for a figure even after a slow warm-up. */
const salesPerSecondMin = 1_500;

class Interrupted extends Error {
  override readonly name = "The benchmark ends";
}

process.exit(await main(readPlan(process.argv.slice(2))));

async function main(plan: Plan): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-bench-"));
  // PostgreSQL, which never runs as root, must be able to enter.
  chmodSync(folder, 0o755);
  const stack = new AsyncDisposableStack();
  let isClean = false;
  let isInterrupted = false;
  try {
    isClean = await Promise.race([run(plan, folder, stack), untilInterrupted()]);
  } catch (error) {
    isInterrupted = error instanceof Interrupted;
    say(error instanceof Error && !isInterrupted ? (error.stack ?? "") : String(error));
    say("Stopping all processes …");
  }
  await stack.disposeAsync();
  if (isClean || isInterrupted) rmSync(folder, { recursive: true, force: true });
  else say(`The gateway's folder is kept: ${folder}`);
  return isClean ? 0 : 1;
}

async function run(plan: Plan, folder: string, stack: AsyncDisposableStack): Promise<boolean> {
  say("Starting the gateway with PostgreSQL and the sandbox bank …");
  const setup = await startAll(plan, folder, stack);
  const { gateway } = setup;
  const busyShare = await watchCores(plan.restSeconds);
  say(`At rest, other processes use ${(busyShare * 100).toFixed(0)} % of the cores.`);
  const atRestBytes = gateway.readMemoryBytes();

  let underLoadBytes = 0;
  using _watch = every(memoryEveryMs, () => {
    underLoadBytes = Math.max(underLoadBytes, gateway.readMemoryBytes());
  });
  if (plan.grown > 0) return compareGrown(setup, busyShare);
  if (plan.kind === "short") return measureShort(setup, busyShare);
  const rounds = await measureAll(setup);
  const memory = { atRestBytes, underLoadBytes };

  const books = await compareBooks(setup);
  publish({ plan, busyShare, rounds, memory, books });
  return areClean(books);
}

/** Only what a sale costs in processor time. */
async function measureShort(setup: Setup, busyShare: number): Promise<boolean> {
  const { plan } = setup;
  const { completedPerSecond } = await warmUp(setup);
  const count = Math.round(Math.max(completedPerSecond, salesPerSecondMin) * plan.saleSeconds);
  const rounds: measure.Turns[] = [];
  for (let round = 1; round <= plan.rounds; round += 1) {
    const turns = await measure.measureByTurns(setup, `sale${round}`, count);
    say(`Round ${round} of ${plan.rounds}: ${report.printCosts(turns.costs)}`);
    rounds.push(turns);
  }
  const costs = report.printCostRatios(rounds);
  const books = await compareBooks(setup);
  say(`\n${costs}\n\n${report.printBooks(books)}`);
  writeResults(busyShare, { plan, rounds, books });
  return areClean(books);
}

async function compareBooks({ database, gateway, acknowledged, authenticated }: Setup) {
  say("Comparing every order with the bank's ledger …");
  const orders = await readOrders(database);
  const entries = await readLedger(gateway.bankUrl);
  return auditBooks([...acknowledged, ...authenticated], orders, entries);
}

async function compareGrown(setup: Setup, busyShare: number): Promise<boolean> {
  const grown = await measureGrown(setup, setup.plan.grown, say);
  const books = await compareBooks(setup);
  say(`\n${printGrown(grown)}\n\n${report.printBooks(books)}`);
  writeResults(busyShare, { plan: setup.plan, grown, books });
  return areClean(books);
}

async function startAll(plan: Plan, folder: string, stack: AsyncDisposableStack): Promise<Setup> {
  const profile = ["--cpu-prof", `--cpu-prof-dir=${plan.profileFolder}`];
  const nodeFlags = plan.profileFolder === undefined ? [] : profile;
  const gateway = await startGatewayProcess(join(folder, "gateway"), { stack, nodeFlags });
  const database = new Client({ connectionString: gateway.databaseUrl });
  // The connection is lost only when the gateway ends, and the next query reports it.
  database.on("error", () => undefined);
  await database.connect();
  stack.defer(() => database.end());
  const startBaseline = () => startPart<BaselineJobs>("baselines.ts", stack);
  const route = startBaseline();
  const { port: routePort } = await route.ask("listenRoute", undefined);
  const { port: receiverPort } = await startBaseline().ask("listenReceiver", undefined);
  const load = startPart<LoadJobs>("load.ts", stack);
  return {
    plan,
    gateway,
    database,
    load,
    processes: { ...gateway.processes, load: load.pid, route: route.pid },
    otherLoad: startPart<LoadJobs>("load.ts", stack),
    inserts: startBaseline(),
    routePort,
    receiverPort,
    acknowledged: [],
    authenticated: [],
  };
}

async function measureAll(setup: Setup): Promise<readonly report.Round[]> {
  const { plan } = setup;
  const warm = await warmUp(setup);
  const rounds: report.Round[] = [];
  for (let round = 1; round <= plan.rounds; round += 1) {
    const { completedPerSecond } = rounds.at(-1)?.sales ?? warm;
    const rate = Math.max(completedPerSecond, salesPerSecondMin);
    rounds.push(await measureRound(setup, round, Math.round(rate * plan.saleSeconds)));
  }
  return rounds;
}

async function warmUp(setup: Setup): Promise<measure.Sales> {
  const { warmUpOrders } = setup.plan;
  say(`Warming up with one sale, then ${warmUpOrders} …`);
  // First a single sale, as on a fresh installation: the database plans its statements for it, and
  // the plans must serve for more.
  await measure.measureSales(setup, "first", 1);
  const warm = await measure.measureSales(setup, "warm", warmUpOrders);
  say(`Warm: completed ${perSecond(warm.completedPerSecond)}, refused ${warm.refused}`);
  await measure.warmRoute(setup);
  return warm;
}

async function measureRound(setup: Setup, round: number, count: number): Promise<report.Round> {
  const { plan } = setup;
  const [half, quarter] = [Math.round(count / 2), Math.round(count / 4)];
  const tell = (text: string) => say(`Round ${round} of ${plan.rounds}: ${text}`);
  const rate = (name: string, value: number) => {
    tell(`${name} ${perSecond(value)}`);
    return value;
  };
  const turns = await measure.measureByTurns(setup, `sale${round}`, count);
  const { sales } = turns;
  rate("single-row inserts", turns.insertsPerSecond);
  rate("bare route", turns.routePerSecond);
  rate(`${sales.orders} sales, accepted`, sales.acceptedPerSecond);
  rate(`${sales.orders} sales, completed`, sales.completedPerSecond);
  tell(report.printCosts(turns.costs));
  const routeArrivalsMs = await measure.measureRouteArrivals(setup);
  tell(`bare route at ${plan.arrivalsPerSecond}/s: p99 ${routeArrivalsMs.p99.toFixed(1)} ms`);
  const callbacks = await measure.measureCallbacks(setup, `callback${round}`, half);
  const callbackSalesPerSecond = rate("sales with callbacks", callbacks);
  const captures = await measure.measureCaptures(setup, `held${round}`, quarter);
  const capturesPerSecond = rate("held and captured", captures);
  const cards = await measure.measureCards(setup, `again${round}`, half);
  rate("recurrent payments", cards.rebillsPerSecond);
  rate("card information", cards.cardInfoPerSecond);
  const frictionless = await measure.measureFrictionless(setup, `secure${round}`, quarter);
  const frictionlessPerSecond = rate("frictionless 3-D Secure sales", frictionless);
  const pollsPerSecond = rate("status polls", await measure.measurePolls(setup));
  const arrivals = await measure.measureArrivals(setup, `open${round}`);
  const { p50, p99 } = arrivals.finalMs;
  tell(`overhead at ${plan.arrivalsPerSecond}/s: ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`);
  const wallets = await measure.measureWallets(setup, round);
  rate(`wallet sales, ${wallets.openingMs.toFixed(1)} ms to open a token,`, wallets.perSecond);
  tell(`overhead with 50/s wallet sales alongside: p99 ${wallets.alongsideP99Ms.toFixed(1)} ms`);
  return {
    ...{ ...turns, routeArrivalsMs, callbackSalesPerSecond },
    ...{ capturesPerSecond, frictionlessPerSecond, cards, pollsPerSecond, arrivals, wallets },
  };
}

type Outcome = {
  readonly plan: Plan;
  readonly busyShare: number;
  readonly rounds: readonly report.Round[];
  readonly memory: report.Memory;
  readonly books: Books;
};

function publish({ plan, busyShare, rounds, memory, books }: Outcome): void {
  const verdicts = report.judge(rounds, memory);
  say(`\n${report.printFigures(rounds, memory)}`);
  say(`\n${report.printVerdicts(verdicts)}`);
  say(`\n${report.printBooks(books)}`);
  say(report.definitions);
  writeResults(busyShare, { plan, rounds, memory, verdicts, books });
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

/** The share of the cores in use while the benchmark's own processes are idle. */
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
      process.on(signal, () => reject(new Interrupted(`interrupted by ${signal}`)));
    }
  });
}

function every(gapMs: number, work: () => void): Disposable {
  const timer = setInterval(work, gapMs);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

function perSecond(rate: number): string {
  return `${Math.round(rate)}/s`;
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
