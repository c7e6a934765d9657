/**
 * The cost of a sale that the gateway may have, in requests of the bare route of the same run, and
 * its duration at 50/s, in durable single-row inserts and such requests. `npm test` fails if a sale
 * costs more than a quarter above the budget, or takes longer than the limit. The best of several
 * short rounds decides, so that a busy moment of the machine never fails a good tree.
 */
import type { Medians } from "./latency.ts";
import type { Turns } from "./measure.ts";

/**
 * The numbers to change: the median that `npm run bench -- --short` prints on a quiet machine. They
 * are lowered when a change has made the gateway faster. They are raised only for a feature that is
 * worth the time, and the commit says why. The bare route gains more from a fast processor than a
 * sale does, so each architecture has its own number.
 */
const requestsPerSale = process.arch === "arm64" ? 3.5 : 6.3;

const tolerance = 1.25;

/** The cost in requests of the bare route per sale. */
export type Budget = {
  /** The lowest ratio of the rounds. */
  readonly ratio: number;
  readonly limit: number;
  readonly isKept: boolean;
};

export function judgeBudget(rounds: readonly Pick<Turns, "costs">[]): Budget {
  const ratios = rounds.map(({ costs }) => costs.sale.gateway / costs.routeRequest);
  const [ratio, limit] = [Math.min(...ratios), requestsPerSale * tolerance];
  return { ratio, limit, isKept: ratio <= limit };
}

export function printBudget({ ratio, limit, isKept }: Budget): string {
  const [measured, allowed] = [ratio.toFixed(2), limit.toFixed(2)];
  const compared = `A sale costs the gateway ${measured} requests of the bare route, at best`;
  if (isKept) return `${compared}: within the budget of ${requestsPerSale} (limit ${allowed}).`;
  return (
    `${compared}; the limit is ${allowed}, a quarter above the budget of ${requestsPerSale}. ` +
    "`npm run bench -- --against <commit>` compares with an earlier commit. If the cost is " +
    "intended, change the number in benchmarks/budget.ts."
  );
}

/** The goal of a sale's median at 50/s, in inserts. */
const insertsPerSale = 3;
/**
 * The additional part of the limit, in bare requests: an insert takes 0.15 ms on one machine and 1
 * ms on another, and the gateway's own work in a sale takes the same time on both.
 */
const requestsBeside = 10;

/** The medians of the slice that was furthest below its limit. */
export type MedianBudget = Medians & { readonly limitMs: number; readonly isKept: boolean };

export function judgeMedian(slices: readonly Medians[]): MedianBudget {
  const judged = slices.map((medians) => {
    const limitMs = insertsPerSale * medians.insertMs + requestsBeside * medians.routeMs;
    return { ...medians, limitMs, isKept: medians.saleMs <= limitMs };
  });
  return judged.reduce((best, next) =>
    next.saleMs / next.limitMs < best.saleMs / best.limitMs ? next : best,
  );
}

export function printMedian({ saleMs, insertMs, limitMs, isKept }: MedianBudget): string {
  const compared = `At 50/s a sale is acknowledged after ${saleMs.toFixed(2)} ms in the median`;
  const inserts = `${(saleMs / insertMs).toFixed(1)} inserts (goal ${insertsPerSale})`;
  const bound =
    `the bound of ${limitMs.toFixed(2)} ms, ${insertsPerSale} inserts and ` +
    `${requestsBeside} bare requests`;
  return `${compared}, at best, or ${inserts}: ${isKept ? "within" : "over"} ${bound}.`;
}
