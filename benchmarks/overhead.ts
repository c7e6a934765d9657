/**
 * The gateway's overhead: from the moment a request was due until the gateway knew that the order's
 * final state is committed, taken from the line that its log has for every finished order. The
 * bank's own time is not subtracted, which makes the figure the stricter one.
 */
import { open } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import type { ArrivalTimes } from "./http-load.ts";
import { percentile } from "./statistics.ts";

export type Overhead = {
  readonly orders: number;
  /** From due to acknowledged. */
  readonly acknowledgedMs: Percentiles;
  /** From due to the final commit. */
  readonly finalMs: Percentiles;
  /** How late the load generator itself was; part of the two above. */
  readonly sentLateMs: Percentiles;
};

export type Percentiles = { readonly p50: number; readonly p99: number; readonly max: number };

// The log cuts its times to whole milliseconds: the order was final at most this much later.
const logGrainMs = 1;
const logFlushMs = 1_500;

/** An order that was refused has an overhead without end. */
export async function readOverhead(
  log: { readonly file: string; readonly fromByte: number },
  arrivals: ArrivalTimes & { readonly orderIds: readonly string[] },
): Promise<Overhead> {
  const { dueAtMs, sentAtMs, answeredAtMs, orderIds } = arrivals;
  await pause(logFlushMs);
  const finalAtMs = await readFinalTimes(log);
  const finalMs = orderIds.map((orderId, index) => {
    if (orderId === "") return Number.POSITIVE_INFINITY;
    const at = finalAtMs.get(orderId);
    if (at === undefined) throw new Error(`the log does not tell that order ${orderId} ended`);
    return at + logGrainMs - (dueAtMs[index] ?? 0);
  });
  return {
    orders: orderIds.length,
    acknowledgedMs: delaysOf(answeredAtMs, dueAtMs),
    finalMs: percentilesOf(finalMs),
    sentLateMs: delaysOf(sentAtMs, dueAtMs),
  };
}

/** When each order ended, by its id, from the log's part after `fromByte`. */
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

export function delaysOf(atMs: Float64Array, dueAtMs: Float64Array): Percentiles {
  return percentilesOf(atMs.map((at, index) => at - (dueAtMs[index] ?? 0)));
}

function percentilesOf(values: Iterable<number>): Percentiles {
  const all = [...values];
  return { p50: percentile(all, 0.5), p99: percentile(all, 0.99), max: percentile(all, 1) };
}
