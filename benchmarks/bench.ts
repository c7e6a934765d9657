/**
 * `npm run bench`: how fast the gateway is on this machine, over real sockets, beside baselines of
 * the same minutes; and whether every order was kept and every cent is where it belongs. A missed
 * target is reported; a lost or doubled order, or books that differ, fail the run.
 */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, loadavg, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Client } from "pg";
import type { InsertJobs } from "./baseline-inserts.ts";
import type { RouteJobs } from "./baseline-route.ts";
import { areClean, auditBooks, type Books, readLedger, readOrders } from "./books.ts";
import { startGatewayProcess } from "./gateway-process.ts";
import type { LoadJobs } from "./load.ts";
import * as measure from "./measure.ts";
import { measureWallets } from "./measure-wallets.ts";
import { startPart } from "./part-process.ts";
import { type Plan, readPlan } from "./plan.ts";
import type { ReceiverJobs } from "./receiver.ts";
import * as report from "./report.ts";

const resultsFile = join(import.meta.dirname, "results", "latest.json");
const memoryEveryMs = 200;
/** Enough for a figure also after a warm-up that went badly. */
const salesPerSecondMin = 1_500;

class ToldToStop extends Error {
  override readonly name = "The benchmark ends";
}

process.exit(await main(readPlan(process.argv.slice(2))));

async function main(plan: Plan): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-bench-"));
  // PostgreSQL, which never runs as root, must be able to pass.
  chmodSync(folder, 0o755);
  const stack = new AsyncDisposableStack();
  try {
    const clean = await Promise.race([run(plan, folder, stack), untilToldToStop()]);
    await stack.disposeAsync();
    if (clean) rmSync(folder, { recursive: true, force: true });
    else say(`The gateway's folder is kept: ${folder}`);
    return clean ? 0 : 1;
  } catch (error) {
    const isTold = error instanceof ToldToStop;
    say(error instanceof Error && !isTold ? (error.stack ?? "") : String(error));
    say("Ending what was started …");
    await stack.disposeAsync();
    if (isTold) rmSync(folder, { recursive: true, force: true });
    else say(`The gateway's folder is kept: ${folder}`);
    return 1;
  }
}

async function run(plan: Plan, folder: string, stack: AsyncDisposableStack): Promise<boolean> {
  say("Starting the gateway with PostgreSQL and the sandbox bank …");
  const stage = await setStage(plan, folder, stack);
  const { gateway } = stage;
  const busyShare = await watchCores(plan.restSeconds);
  say(`While all of it rests, others keep the cores busy to ${(busyShare * 100).toFixed(0)} %.`);
  const atRestBytes = gateway.readMemoryBytes();

  let underLoadBytes = 0;
  using _watch = every(memoryEveryMs, () => {
    underLoadBytes = Math.max(underLoadBytes, gateway.readMemoryBytes());
  });
  const rounds = await measureAll(stage);
  const memory = { atRestBytes, underLoadBytes };

  say("Comparing every order with the bank's ledger …");
  const orders = await readOrders(stage.database);
  const acknowledged = [...stage.acknowledged, ...stage.authenticated];
  const books = auditBooks(acknowledged, orders, await readLedger(gateway.bankUrl));
  publish({ plan, busyShare, rounds, memory, books });
  return areClean(books);
}

async function setStage(
  plan: Plan,
  folder: string,
  stack: AsyncDisposableStack,
): Promise<measure.Stage> {
  const profile = ["--cpu-prof", `--cpu-prof-dir=${plan.profileFolder}`];
  const nodeFlags = plan.profileFolder === undefined ? [] : profile;
  const gateway = await startGatewayProcess(join(folder, "gateway"), { stack, nodeFlags });
  const database = new Client({ connectionString: gateway.databaseUrl });
  // Lost only when the gateway ends, and whoever asks next is told.
  database.on("error", () => undefined);
  await database.connect();
  stack.defer(() => database.end());
  const load = startPart<LoadJobs>("load.ts", stack);
  const otherLoad = startPart<LoadJobs>("load.ts", stack);
  const inserts = startPart<InsertJobs>("baseline-inserts.ts", stack);
  const route = startPart<RouteJobs>("baseline-route.ts", stack);
  const { port: routePort } = await route.ask("listen", undefined);
  const receiver = startPart<ReceiverJobs>("receiver.ts", stack);
  const { port: receiverPort } = await receiver.ask("listen", undefined);
  return {
    plan,
    gateway,
    database,
    load,
    otherLoad,
    inserts,
    routePort,
    receiverPort,
    acknowledged: [],
    authenticated: [],
  };
}

async function measureAll(stage: measure.Stage): Promise<readonly report.Round[]> {
  const { plan } = stage;
  say(`Warming up with one sale, then ${plan.warmUpOrders} …`);
  // Alone, as an operator's first one is: what the database learns from it must serve for more.
  await measure.measureSales(stage, "first", 1);
  const warm = await measure.measureSales(stage, "warm", plan.warmUpOrders);
  say(`Warm: completed ${perSecond(warm.completedPerSecond)}, refused ${warm.refused}`);
  await measure.measureRoute({ ...stage, plan: { ...plan, routeSeconds: 1 } });

  const rounds: report.Round[] = [];
  for (let round = 1; round <= plan.rounds; round += 1) {
    const { completedPerSecond } = rounds.at(-1)?.sales ?? warm;
    const rate = Math.max(completedPerSecond, salesPerSecondMin);
    rounds.push(await measureRound(stage, round, Math.round(rate * plan.saleSeconds)));
  }
  return rounds;
}

async function measureRound(
  stage: measure.Stage,
  round: number,
  count: number,
): Promise<report.Round> {
  const { plan } = stage;
  const tell = (what: string) => say(`Round ${round} of ${plan.rounds}: ${what}`);
  const insertsPerSecond = await measure.measureInserts(stage);
  tell(`single-row inserts ${perSecond(insertsPerSecond)}`);
  const routePerSecond = await measure.measureRoute(stage);
  const routeArrivalsMs = await measure.measureRouteArrivals(stage);
  tell(
    `bare route ${perSecond(routePerSecond)}, at 500/s p99 ${routeArrivalsMs.p99.toFixed(1)} ms`,
  );
  const sales = await measure.measureSales(stage, `sale${round}`, count);
  tell(
    `${count} sales, accepted ${perSecond(sales.acceptedPerSecond)}, ` +
      `completed ${perSecond(sales.completedPerSecond)}`,
  );
  const toldPerSecond = await measure.measureTold(stage, `told${round}`, Math.round(count / 2));
  tell(`sales with callbacks ${perSecond(toldPerSecond)}`);
  const capturesPerSecond = await measure.measureCaptures(
    stage,
    `held${round}`,
    Math.round(count / 4),
  );
  tell(`held and captured ${perSecond(capturesPerSecond)}`);
  const cards = await measure.measureCards(stage, `again${round}`, Math.round(count / 2));
  tell(
    `recurrent payments ${perSecond(cards.rebillsPerSecond)}, ` +
      `card information ${perSecond(cards.cardInfoPerSecond)}`,
  );
  const frictionlessPerSecond = await measure.measureFrictionless(
    stage,
    `secure${round}`,
    Math.round(count / 4),
  );
  tell(`frictionless 3-D Secure sales ${perSecond(frictionlessPerSecond)}`);
  const pollsPerSecond = await measure.measurePolls(stage);
  tell(`status polls ${perSecond(pollsPerSecond)}`);
  const arrivals = await measure.measureArrivals(stage, `open${round}`);
  const { p50, p99 } = arrivals.finalMs;
  tell(`overhead at ${plan.arrivalsPerSecond}/s: ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`);
  const wallets = await measureWallets(stage, round);
  tell(
    `wallet sales ${perSecond(wallets.perSecond)}, opening ${wallets.openingMs.toFixed(1)} ms; ` +
      `overhead with 50/s alongside: p99 ${wallets.alongsideP99Ms.toFixed(1)} ms`,
  );
  const baselines = { insertsPerSecond, routePerSecond, routeArrivalsMs };
  return {
    ...baselines,
    sales,
    toldPerSecond,
    capturesPerSecond,
    frictionlessPerSecond,
    cards,
    pollsPerSecond,
    arrivals,
    wallets,
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

  const [core] = cpus();
  const machine = {
    model: core?.model,
    cores: cpus().length,
    memoryBytes: totalmem(),
    node: process.version,
    busyShareAtRest: busyShare,
    loadAverage: loadavg(),
  };
  const results = { at: new Date().toISOString(), machine, plan, rounds, memory, verdicts, books };
  mkdirSync(join(resultsFile, ".."), { recursive: true });
  writeFileSync(resultsFile, `${JSON.stringify(results, undefined, 2)}\n`);
  say(`\nWritten to ${resultsFile}`);
}

/** Which share of the cores is in use while nothing of ours has anything to do. */
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

/** Never comes to a good end: a run that was told to stop has measured nothing. */
function untilToldToStop(): Promise<never> {
  return new Promise((_, reject) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      process.on(signal, () => reject(new ToldToStop(`told to stop by ${signal}`)));
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
