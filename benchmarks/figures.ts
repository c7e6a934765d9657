/**
 * Reads the figures: the gateway's metrics, the lines of its log about finished orders, and
 * statistics over them.
 */
import { open } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import type { ArrivalTimes } from "./http-load.ts";

/** Means over an interval, from the sums and counts of `/metrics`. */
export type Means = {
  readonly bankAnswerMs: number;
  readonly requestMs: number;
  readonly beginBatch: number;
  readonly beginMs: number;
  readonly moveBatch: number;
  readonly moveMs: number;
};

export type Metrics = ReadonlyMap<string, number>;

export async function readMetrics(port: number): Promise<Metrics> {
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
  const lines = (await answer.text()).split("\n").filter((line) => !line.startsWith("#"));
  return new Map(
    lines.map((line) => {
      const space = line.lastIndexOf(" ");
      return [line.slice(0, space), Number(line.slice(space + 1))];
    }),
  );
}

/** Returns the growth of a metric, over all its labels or over those that contain the text. */
export function grownBetween(before: Metrics, after: Metrics, name: string, label = ""): number {
  const sum = (metrics: Metrics) =>
    [...metrics]
      .filter(([key]) => key.startsWith(name) && key.includes(label))
      .reduce((all, [, value]) => all + value, 0);
  return sum(after) - sum(before);
}

export function meansBetween(before: Metrics, after: Metrics): Means {
  const meanOf = (name: string, label: string) =>
    grownBetween(before, after, `${name}_sum`, label) /
    grownBetween(before, after, `${name}_count`, label);
  return {
    bankAnswerMs: meanOf("tollgate_acquirer_answer_ms", 'mti="0200"'),
    requestMs: meanOf("tollgate_request_duration_ms", ""),
    beginBatch: meanOf("tollgate_commit_batch_size", 'queue="begin"'),
    beginMs: meanOf("tollgate_commit_duration_ms", 'queue="begin"'),
    moveBatch: meanOf("tollgate_commit_batch_size", 'queue="move"'),
    moveMs: meanOf("tollgate_commit_duration_ms", 'queue="move"'),
  };
}

/** Two readings of the metrics. */
export type Readings = readonly [before: Metrics, after: Metrics];

/** Returns the upper limit of the bucket with the p99 of a histogram, over several intervals. */
export function p99Between(intervals: readonly Readings[], name: string, label: string): number {
  const grown = new Map<number, number>();
  for (const [before, after] of intervals) {
    for (const [key, count] of after) {
      if (!key.startsWith(`${name}_bucket{`) || !key.includes(label)) continue;
      const limit = /le="([\d.]+)"/.exec(key)?.[1] ?? "Infinity";
      const known = grown.get(Number(limit)) ?? 0;
      grown.set(Number(limit), known + count - (before.get(key) ?? 0));
    }
  }
  const buckets = [...grown].sort(([left], [right]) => left - right);
  const all = buckets.at(-1)?.[1] ?? 0;
  return buckets.find(([, count]) => count >= 0.99 * all)?.[0] ?? Number.NaN;
}

/**
 * The time from when a request was due until the gateway knew that the order's final state was
 * committed. The bank's own time is included, which makes the figure stricter.
 */
export type Overhead = {
  readonly orders: number;
  /** The time from when a request was due to its acknowledgement. */
  readonly acknowledgedMs: Percentiles;
  /** The time from when a request was due to the final commit. */
  readonly finalMs: Percentiles;
  /** The delay of the load generator itself, which is part of the two above. */
  readonly sentLateMs: Percentiles;
};

export type Percentiles = Readonly<Record<"p50" | "p95" | "p99" | "p999" | "max", number>>;

// The log truncates its times to milliseconds, so the order was final at most this much later.
const logGrainMs = 1;
const logFlushMs = 1_500;

export type Arrived = ArrivalTimes & { readonly orderIds: readonly string[] };

/** Computes the overhead over all slices. The overhead of a refused order is infinite. */
export async function readOverhead(
  log: { readonly file: string; readonly fromByte: number },
  slices: readonly Arrived[],
): Promise<Overhead> {
  await pause(logFlushMs);
  const finalAtMs = await readFinalTimes(log);
  const finalMs = slices.flatMap(({ orderIds, dueAtMs }) =>
    orderIds.map((orderId, index) => {
      if (orderId === "") return Number.POSITIVE_INFINITY;
      const at = finalAtMs.get(orderId);
      if (at === undefined) throw new Error(`the log has no line about the end of ${orderId}`);
      return at + logGrainMs - (dueAtMs[index] ?? 0);
    }),
  );
  return {
    orders: finalMs.length,
    acknowledgedMs: delaysOf(slices, ({ answeredAtMs }) => answeredAtMs),
    finalMs: percentilesOf(finalMs),
    sentLateMs: delaysOf(slices, ({ sentAtMs }) => sentAtMs),
  };
}

/** Reads when each order ended, from the part of the log after `fromByte`. */
async function readFinalTimes(log: {
  readonly file: string;
  readonly fromByte: number;
}): Promise<ReadonlyMap<string, number>> {
  const times = new Map<string, number>();
  await using file = await open(log.file);
  for await (const line of file.readLines({ start: log.fromByte })) {
    if (!line.includes('"stage":')) continue;
    const { time, order, stage } = JSON.parse(line);
    if (finalStages.has(stage)) times.set(String(order), Date.parse(time));
  }
  return times;
}

const finalStages = new Set(["approved", "declined", "filtered", "error"]);

/** Returns the delays from when the requests were due. */
export function delaysOf(
  slices: readonly ArrivalTimes[],
  read: (times: ArrivalTimes) => Float64Array,
): Percentiles {
  return percentilesOf(
    slices.flatMap((times) =>
      [...read(times)].map((at, index) => at - (times.dueAtMs[index] ?? 0)),
    ),
  );
}

export function percentilesOf(all: readonly number[]): Percentiles {
  const sorted = Float64Array.from(all).sort();
  return {
    p50: percentile(sorted, 0.5),
    p95: percentile(sorted, 0.95),
    p99: percentile(sorted, 0.99),
    p999: percentile(sorted, 0.999),
    max: percentile(sorted, 1),
  };
}

/** Returns the median of a few rounds, which a disturbed round hardly changes. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  const middle = sorted.length / 2;
  const upper = sorted[Math.floor(middle)] ?? Number.NaN;
  if (!Number.isInteger(middle)) return upper;
  return ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** Returns the smallest value that at least this share of all values does not exceed. */
function percentile(sorted: Float64Array, share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}
