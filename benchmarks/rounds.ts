/** The rounds of a run: first the warm-up, then sales with their baselines, or all measurements. */
import { measureArrivals } from "./arrivals.ts";
import * as measure from "./measure.ts";
import * as report from "./report.ts";
import type { Setup } from "./setup.ts";

type Say = (text: string) => void;

/** The minimum rate, which suffices for a figure even after a slow warm-up. */
const salesPerSecondMin = 1_500;

/** Warms up. Returns how many sales a round measures at once. */
export async function warmUp(setup: Setup, say: Say): Promise<number> {
  const { warmUpOrders, saleSeconds } = setup.plan;
  say(`Warming up with one sale, then ${warmUpOrders} …`);
  // A single sale comes first, as on a new installation: the database plans its statements for it,
  // and the plans must serve for more.
  await measure.measureSales(setup, "first", 1);
  const { completedPerSecond, refused } = await measure.measureSales(setup, "warm", warmUpOrders);
  say(`Warm: completed ${report.perSecond(completedPerSecond)}, refused ${refused}`);
  await measure.warmRoute(setup);
  return Math.round(Math.max(completedPerSecond, salesPerSecondMin) * saleSeconds);
}

export type Course = { readonly round: number; readonly count: number; readonly say: Say };

/** Measures only the processor time of a sale. */
export async function measureSales(setup: Setup, course: Course): Promise<measure.Turns> {
  const { round, count, say } = course;
  const turns = await measure.measureByTurns(setup, `sale${round}`, count);
  say(report.printCosts(turns.costs));
  return turns;
}

const warmUpCallbacks = 1_500;

/**
 * Warms up callbacks and polls, whose code the warm-up's sales do not run: the first 3,000
 * callbacks of a gateway cost its compiler's threads 330 µs each. This follows the sales, whose
 * memory is measured.
 */
async function warmOthers(setup: Setup): Promise<void> {
  await measure.measureCallbacks(setup, "warmcallback", warmUpCallbacks);
  await measure.measurePolls(setup, "lately");
}

export async function measureRound(setup: Setup, course: Course): Promise<report.Round> {
  const { round, count, say } = course;
  const [half, quarter] = [Math.round(count / 2), Math.round(count / 4)];
  const rate = (name: string, value: number) => {
    say(`${name} ${report.perSecond(value)}`);
    return value;
  };
  const turns = await measureSales(setup, course);
  if (round === 1) await warmOthers(setup);
  const { sales } = turns;
  rate("single-row inserts", turns.insertsPerSecond);
  rate("bare route", turns.routePerSecond);
  rate(`${sales.orders} sales, accepted`, sales.acceptedPerSecond);
  rate(`${sales.orders} sales, completed`, sales.completedPerSecond);
  const callbackSales = await measure.measureCallbacks(setup, `callback${round}`, half);
  rate("sales with callbacks", callbackSales.perSecond);
  const captures = await measure.measureCaptures(setup, `held${round}`, quarter);
  const capturesPerSecond = rate("held and captured", captures);
  const cards = await measure.measureCards(setup, `again${round}`, half);
  rate("recurrent payments", cards.rebillsPerSecond);
  rate("card information", cards.cardInfoPerSecond);
  const frictionless = await measure.measureFrictionless(setup, `secure${round}`, quarter);
  const frictionlessPerSecond = rate("frictionless 3-D Secure sales", frictionless);
  const polls = await measure.measurePolls(setup, "lately");
  rate("status polls of orders that ended lately", polls.perSecond);
  const pollsOfAll = await measure.measurePolls(setup, "all");
  rate("status polls of any order", pollsOfAll.perSecond);
  const wallets = await measure.measureWallets(setup, `wallet${round}`);
  rate(`wallet sales, ${wallets.openingMs.toFixed(1)} ms to open a token,`, wallets.perSecond);
  const arrivals = await measureArrivals(setup, round);
  say(report.printArrivals(arrivals, setup.plan.arrivalsPerSecond));
  return {
    ...turns,
    callbackSales,
    capturesPerSecond,
    frictionlessPerSecond,
    cards,
    polls,
    pollsOfAll,
    wallets,
    arrivals,
  };
}
