/**
 * What a sale may cost the gateway, in requests of the bare route of the same run. `npm test` fails
 * when a sale costs more than a quarter above it. The best of several short rounds decides, so that
 * a busy moment of the machine never fails a good tree.
 */
import type { Turns } from "./measure.ts";

/**
 * The number to change: the median that `npm run bench -- --short` prints on a quiet machine. It
 * follows the gateway when a change has made it faster. It is raised only for a feature that is
 * worth the time, and the commit says why.
 */
const requestsPerSale = 3.5;

const tolerance = 1.25;

/** In requests of the bare route per sale. */
export type Budget = {
  /** The least of the rounds. */
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
