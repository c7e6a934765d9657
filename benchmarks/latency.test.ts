/** The moment from which a latency is measured, and when a goal in inserts is reached. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { percentilesOf } from "./figures.ts";
import { type Cell, delaysOf, type Latency } from "./latency.ts";
import { judgeLatency, printLatency } from "./latency-report.ts";

test("a percentile is the least value that so many do not exceed, and a refusal is never answered", () => {
  const thousand = Array.from({ length: 1_000 }, (_, index) => 1_000 - index);

  assert.deepEqual(percentilesOf(thousand), {
    p50: 500,
    p95: 950,
    p99: 990,
    p999: 999,
    max: 1_000,
  });
  const refused = percentilesOf([...thousand, Number.POSITIVE_INFINITY]);
  assert.deepEqual([refused.p50, refused.max], [501, Number.POSITIVE_INFINITY]);
  assert.ok(Number.isNaN(percentilesOf([]).p50));
});

test("a stall before a request is sent counts, but for the grain of the generator's timer", () => {
  const times = {
    startedAtMs: 0,
    endedAtMs: 0,
    dueAtMs: Float64Array.of(100, 100, 100),
    sentAtMs: Float64Array.of(100, 100.5, 150),
    answeredAtMs: Float64Array.of(103, 103.5, 153),
  };

  assert.deepEqual(delaysOf(times), [3, 3, 52]);
});

const cell = (rate: string, kind: Cell["kind"], p50: number, p99: number, bankMs?: number) => ({
  rate,
  kind,
  count: 10,
  refused: 0,
  ...(bankMs !== undefined && { means: { requestMs: 5, beginMs: 2, bankAnswerMs: bankMs } }),
  ms: { p50, p95: p99, p99, p999: p99, max: p99 },
});
const latency = (burners: number): Latency => ({
  maximumPerSecond: 1_000,
  insertMs: 2,
  insertSlices: [2, 2],
  burners,
  cells: [
    cell("50/s", "sale", 6, 16.1),
    cell("500/s", "sale", 6.1, 24),
    cell("500/s", "synchronous sale", 13, 50, 1),
    cell("500/s", "capture", 99, 99),
    cell("80 % of the maximum", "sale", 99, 99),
  ],
});

test("goals are in inserts, and a synchronous sale has twice as many and the bank's time", () => {
  const verdicts = judgeLatency(latency(0));

  assert.deepEqual(
    verdicts.map(({ rate, kind, figure, limit, reached }) => [rate, kind, figure, limit, reached]),
    [
      ["50/s", "sale", "p50", 3, true],
      ["50/s", "sale", "p99", 8, false],
      ["500/s", "sale", "p50", 3, false],
      ["500/s", "sale", "p99", 12, true],
      ["500/s", "synchronous sale", "p50", 6.5, true],
      ["500/s", "synchronous sale", "p99", 24.5, false],
    ],
  );
  const report = printLatency(latency(0), verdicts);
  assert.match(report, /3 of 6 goals reached, 3 missed\.\n/);
  assert.match(report, /means: request 5\.00, first commit 2\.00, bank 1\.00 ms$/m);
});

test("beside busy cores nothing is judged", () => {
  assert.deepEqual(judgeLatency(latency(2)), []);
  assert.match(printLatency(latency(2), []), /beside 2 processes/);
});
