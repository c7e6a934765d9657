/**
 * The data of the portal's home screen: payments, approvals, and the time that the gateway adds to
 * a payment. It comes from figures that a background job maintains.
 */
import { getCurrency } from "../values/iso-codes.ts";
import { Money } from "../values/money.ts";
import { hours, type Instant, later, minutes } from "../values/time.ts";
import type { Handlers } from "./api.ts";
import { type Figure, overheadClasses, sharedBy } from "./order-index.ts";
import { isOperator, type OrderOptions } from "./orders.ts";
import { type GateHealthView, merchantFor, type PortalHealth } from "./reads.ts";
import { notFound } from "./route.ts";
import { viewMoney } from "./shapes.ts";

export type HomeOptions = Pick<OrderOptions, "reads" | "configured"> & {
  /** Returns the reasons why parts of this node are not ready, by the names of these parts. */
  readonly findMissing: () => Promise<Readonly<Record<string, string>>>;
  readonly gateHealth: () => ReadonlyMap<string, GateHealthView>;
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

export function homeHandlers({ reads, configured, findMissing, gateHealth }: HomeOptions) {
  return {
    async "GET /home"({ range = "day", merchant }, caller) {
      const merchantId = merchantFor(caller, configured(), merchant);
      if (merchantId === null) return notFound;
      const { grain, stepMs, lengthMs } = plans[range];
      const since = startOf(caller.now, lengthMs, stepMs);
      const asked = { merchantId, grain, since };
      const [sharesSince, weekMs] = [startOf(caller.now, sharesMs(range), hours(1)), hours(24 * 7)];
      const [inWeek, weekBefore] = [
        { merchantId, grain: "hour", since: sharesSince } as const,
        {
          merchantId,
          grain: "hour",
          since: later(sharesSince, -weekMs),
          until: later(caller.now, -weekMs),
        } as const,
      ];
      const lately = startOf(caller.now, rateMs, minutes(1));
      const [points, sums, present, past, recent, ...now] = await Promise.all([
        ...([reads.listFigures(asked), reads.sumFigures(asked)] as const),
        ...([reads.sumFigures(inWeek), reads.sumFigures(weekBefore)] as const),
        reads.sumFigures({ merchantId, grain: "minute", since: lately }),
        ...([reads.countInDoubt(merchantId), reads.countFailingCallbacks(merchantId)] as const),
        isOperator(caller) ? findHealth() : { links: [], missing: [] },
      ]);
      const [inDoubt, failingCallbacks, health] = now;
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
        shares: { since: sharesSince, rows: sharesOf(present, past, isOperator(caller)) },
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
      links: [...gateHealth()].map(([gate, health]) => ({ gate, ...health })),
      missing: missing.map(([what, why]) => `${what}: ${why}`),
    };
  }
}

/** A day has too few orders for a comparison by the minute, and a week is compared with a week. */
function sharesMs(range: keyof typeof plans): number {
  return range === "hour" || range === "day" ? hours(24) : hours(24 * 7);
}

/** Gates are shown to operators only. The value with the most orders comes first. */
function sharesOf(present: readonly Figure[], past: readonly Figure[], withGates: boolean) {
  return sharedBy.flatMap((by) => {
    if (by === "gate" && !withGates) return [];
    const before = ratesOf(past, by);
    return [...ratesOf(present, by)]
      .map(([value, { approved, ended }]) => {
        const known = before.get(value);
        const rate = known === undefined ? {} : { before: known.approved / known.ended };
        return { by, value, approved, ended, ...rate };
      })
      .sort((one, other) => other.ended - one.ended)
      .slice(0, sharesShown);
  });
}

const sharesShown = 30;

function ratesOf(sums: readonly Figure[], by: string) {
  const rates = new Map<string, { approved: number; ended: number }>();
  for (const { name, key, count } of sums) {
    if (name !== `by ${by}`) continue;
    const [outcome = "", value = ""] = key.split(/ (.*)/s);
    const known = rates.get(value) ?? { approved: 0, ended: 0 };
    rates.set(value, known);
    known.ended += count;
    if (outcome === "approved") known.approved += count;
  }
  return rates;
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
