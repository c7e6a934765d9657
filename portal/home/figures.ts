/** Computes what the home screen shows: its time ranges, sums, and columns of orders over time. */
import { momentOf } from "../orders/order-query.ts";
import type { OutputOf } from "../shell/call.ts";

export type Point = OutputOf<"GET /home">["series"][number];

export const ranges = ["hour", "day", "week", "month", "year"] as const;
export const kinds = ["approved", "refused", "processing"] as const;

/** In units of the drawing, which the browser stretches to the width of the screen. */
export const chartSize = { width: 1_000, height: 180 };

/** Without a time range in the URL, the range is the last day. */
export function rangeIn(query: URLSearchParams): (typeof ranges)[number] {
  return ranges.find((each) => each === query.get("range")) ?? "day";
}

export const refusedOutcomes = "declined,filtered,error";
export const endedOutcomes = `approved,${refusedOutcomes}`;
/** For each coloured part of a chart's column, the outcomes to filter the order list by. */
export const outcomesOf = {
  approved: "approved",
  refused: refusedOutcomes,
  processing: "processing",
} as const satisfies Readonly<Record<(typeof kinds)[number], string>>;

/** Returns the URL of the order list with the orders that a figure counts. */
export function ordersSince(since: number, filters: Readonly<Record<string, string>> = {}): string {
  const query = new URLSearchParams({ ...filters, from: momentOf(since) });
  return `orders?${query.toString().replaceAll("%2C", ",")}`;
}

type Share = Pick<OutputOf<"GET /home">["shares"]["rows"][number], "approved" | "ended" | "before">;

/** Returns the change of an approval rate in percentage points, or a dash without a week before. */
export function pointsOf({ approved, ended, before }: Share, format: (points: number) => string) {
  return before === undefined ? "–" : format((approved / ended - before) * 100);
}

export function sumsOf(points: readonly Point[]) {
  const sumOf = (kind: (typeof kinds)[number]) =>
    points.reduce((sum, point) => sum + point[kind], 0);
  return {
    approved: sumOf("approved"),
    refused: sumOf("refused"),
    processing: sumOf("processing"),
  };
}

/** The result is at least 1, because the heights of the columns are divided by it. */
export function mostOf(points: readonly Point[]): number {
  return Math.max(1, ...points.map((point) => kinds.reduce((sum, kind) => sum + point[kind], 0)));
}

type Where = { readonly index: number; readonly count: number; readonly most: number };

/** Returns a chart's column: the area that reacts to the pointer, and the parts, lowest first. */
export function boxesOf(point: Point, { index, count, most }: Where) {
  const { width, height } = chartSize;
  const step = width / Math.max(1, count);
  const x = index * step;
  let top = height;
  const parts = kinds.map((kind) => {
    const tall = (point[kind] * height) / most;
    top -= tall;
    return { kind, x: x + step * 0.12, y: top, width: step * 0.76, height: tall };
  });
  return {
    touch: { x, y: 0, width: step, height },
    parts: parts.filter((part) => part.height > 0),
  };
}
