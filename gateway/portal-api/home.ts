/**
 * The data of the portal's home screen: payments, approvals, and the time that the gateway adds to
 * a payment. It comes from figures that a background job maintains.
 */
import { getCurrency } from "../values/iso-codes.ts";
import { Money } from "../values/money.ts";
import { hours, type Instant, later, minutes } from "../values/time.ts";
import type { Handlers } from "./api.ts";
import { type Figure, overheadClasses } from "./order-index.ts";
import { isOperator, type OrderOptions } from "./orders.ts";
import { merchantFor, type PortalHealth } from "./reads.ts";
import { notFound } from "./route.ts";
import { viewMoney } from "./shapes.ts";

export type HomeOptions = Pick<OrderOptions, "reads" | "configured"> & {
  /** Returns the reasons why parts of this node are not ready, by the names of these parts. */
  readonly findMissing: () => Promise<Readonly<Record<string, string>>>;
  /** Returns for each gate how many links to the acquirer are up, and how many there should be. */
  readonly connections: () => ReadonlyMap<string, Omit<PortalHealth["links"][number], "gate">>;
};

const plans = {
  hour: { lengthMs: hours(1), grain: "minute", stepMs: minutes(1) },
  day: { lengthMs: hours(24), grain: "minute", stepMs: minutes(10) },
  week: { lengthMs: hours(24 * 7), grain: "hour", stepMs: hours(1) },
  month: { lengthMs: hours(24 * 31), grain: "hour", stepMs: hours(6) },
  year: { lengthMs: hours(24 * 366), grain: "day", stepMs: hours(24) },
} as const;

const reasonsShown = 12;
/** The period over which the present number of orders per minute is computed. */
const rateMs = minutes(5);

export function homeHandlers({ reads, configured, findMissing, connections }: HomeOptions) {
  return {
    async "GET /home"({ range = "day", merchant }, caller) {
      const merchantId = merchantFor(caller, configured(), merchant);
      if (merchantId === null) return notFound;
      const { grain, stepMs, lengthMs } = plans[range];
      const since = startOf(caller.now, lengthMs, stepMs);
      const asked = { merchantId, grain, since };
      const lately = startOf(caller.now, rateMs, minutes(1));
      const [points, sums, recent, inDoubt, failingCallbacks, health] = await Promise.all([
        ...([reads.listFigures(asked), reads.sumFigures(asked)] as const),
        reads.sumFigures({ merchantId, grain: "minute", since: lately }),
        ...([reads.countInDoubt(merchantId), reads.countFailingCallbacks(merchantId)] as const),
        isOperator(caller) ? findHealth() : { links: [], missing: [] },
      ]);
      const outcomes = countsOf(sums, "outcome");
      const overhead = percentilesOf(countsOf(sums, "overhead"));
      const rate = approvalRateOf(outcomes);
      return {
        range,
        since,
        stepMs,
        outcomes,
        inDoubt,
        failingCallbacks,
        ...health,
        perMinute: totalOf(countsOf(recent, "outcome")) / (rateMs / minutes(1)),
        series: seriesOf(points, { since, until: caller.now, stepMs }),
        ...(rate === undefined ? {} : { approvalRate: rate }),
        reasons: Object.entries(countsOf(sums, "reason"))
          .map(([reason, count]) => ({ reason, count }))
          .sort((one, other) => other.count - one.count)
          .slice(0, reasonsShown),
        threeds: countsOf(sums, "threeds"),
        net: Object.entries(countsOf(sums, "amount")).map(([currency, minor]) =>
          viewMoney(new Money(BigInt(minor), getCurrency(currency))),
        ),
        ...(overhead === undefined ? {} : { overhead }),
      };
    },
  } satisfies Partial<Handlers>;

  async function findHealth(): Promise<PortalHealth> {
    const missing = Object.entries(await findMissing());
    return {
      links: [...connections()].map(([gate, { up, wanted }]) => ({ gate, up, wanted })),
      missing: missing.map(([what, why]) => `${what}: ${why}`),
    };
  }
}

function startOf(now: Instant, lengthMs: number, stepMs: number): Instant {
  const start = later(now, -lengthMs);
  return later(start, stepMs - (start % stepMs));
}

function countsOf(sums: readonly Figure[], name: string): Readonly<Record<string, number>> {
  const own = sums.filter((figure) => figure.name === name);
  return Object.fromEntries(own.map(({ key, count }) => [key, count]));
}

function totalOf(counts: Readonly<Record<string, number | undefined>>): number {
  return Object.values(counts).reduce<number>((sum, count) => sum + (count ?? 0), 0);
}

/** Orders in progress are not counted. */
function approvalRateOf({ processing = 0, ...ended }: Readonly<Record<string, number>>) {
  const total = totalOf(ended);
  return total === 0 ? undefined : (ended["approved"] ?? 0) / total;
}

type Span = { readonly since: Instant; readonly until: Instant; readonly stepMs: number };

/** Returns the chart's points for the whole period, including points without orders. */
function seriesOf(
  points: readonly (Figure & { readonly at: number })[],
  { since, until, stepMs }: Span,
) {
  const steps = Array.from({ length: Math.ceil((until - since) / stepMs) }, (_, index) => ({
    at: since + index * stepMs,
    approved: 0,
    refused: 0,
    processing: 0,
  }));
  for (const { at, name, key, count } of points) {
    const step = steps[Math.floor((at - since) / stepMs)];
    if (step === undefined || name !== "outcome") continue;
    const kind = key === "approved" || key === "processing" ? key : "refused";
    step[kind] += count;
  }
  return steps;
}

/**
 * Returns percentiles of the time that the gateway adds to a payment. Orders are counted in classes
 * of this time, so a percentile is the upper bound of its class, in milliseconds.
 */
export function percentilesOf(classes: Readonly<Record<string, number>>) {
  const counts = overheadClasses.map((bound) => [bound, classes[bound] ?? 0] as const);
  const total = counts.reduce((sum, [, count]) => sum + count, classes["more"] ?? 0);
  if (total === 0) return undefined;
  const at = (share: number) => {
    let below = 0;
    const found = counts.find(([, count]) => {
      below += count;
      return below >= share * total;
    });
    return found?.[0] ?? 60_000;
  };
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), count: total };
}
