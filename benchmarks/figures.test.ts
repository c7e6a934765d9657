/** Figures from the gateway's histograms. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Metrics, p99Between } from "./figures.ts";

const reading = (begin: readonly number[], move: number): Metrics =>
  new Map([
    [`took_bucket{le="5",queue="begin"}`, begin[0] ?? 0],
    [`took_bucket{le="2.5",queue="begin"}`, begin[1] ?? 0],
    [`took_bucket{le="+Inf",queue="begin"}`, begin[2] ?? 0],
    [`took_bucket{le="2.5",queue="move"}`, move],
    [`took_count{queue="begin"}`, begin[2] ?? 0],
  ]);

test("the p99 of a histogram is the limit of its bucket, over all intervals", () => {
  const before = reading([10, 10, 10], 0);
  const p99 = (...after: readonly (readonly number[])[]) =>
    p99Between(
      after.map((each) => [before, reading(each, 1_000)] as const),
      "took",
      'queue="begin"',
    );

  assert.equal(p99([110, 110, 110]), 2.5);
  assert.equal(p99([110, 108, 110]), 5);
  assert.equal(p99([108, 10, 110]), Number.POSITIVE_INFINITY);
  assert.equal(p99([108, 108, 110], [210, 210, 210]), 2.5);
  assert.ok(Number.isNaN(p99()));
});
