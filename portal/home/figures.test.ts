/** Tests the home screen: the range in its URL, the sums under the chart, and its columns. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { readOrdersQuery } from "../orders/order-query.ts";
import {
  boxesOf,
  chartSize,
  mostOf,
  ordersSince,
  type Point,
  pointsOf,
  rangeIn,
  sumsOf,
} from "./figures.ts";

const point = (approved: number, refused: number, processing = 0): Point => ({
  at: 0,
  approved,
  refused,
  processing,
});

// biome-ignore format: a table
const addresses = [
  ["range=hour", "hour"], ["range=year", "year"], ["", "day"], ["range=century", "day"], ["range=", "day"],
] as const;

for (const [query, range] of addresses) {
  test(`the address “${query}” shows the ${range}`, () => {
    assert.equal(rangeIn(new URLSearchParams(query)), range);
  });
}

test("the change of an approval rate is in points, and a dash without a week before", () => {
  const print = (points: number) => points.toFixed(1);

  assert.equal(pointsOf({ approved: 80, ended: 100, before: 0.9 }, print), "-10.0");
  assert.equal(pointsOf({ approved: 80, ended: 100 }, print), "–");
});

test("a figure links to the orders that it counts, since its range began", () => {
  const since = Date.UTC(2030, 0, 31, 13, 50);

  const address = ordersSince(since, { outcome: "declined,error", reason: "lost_card" });

  assert.deepEqual(readOrdersQuery(new URL(address, "http://portal").searchParams), {
    outcome: ["declined", "error"],
    reason: ["lost_card"],
    from: since,
  });
  assert.equal(ordersSince(since), "orders?from=2030-01-31T13%3A50Z");
});

test("the orders of each kind are summed over all columns", () => {
  assert.deepEqual(sumsOf([point(2, 1), point(3, 0, 4)]), {
    approved: 5,
    refused: 1,
    processing: 4,
  });
});

test("the tallest column sets the scale, which a chart without orders has too", () => {
  assert.equal(mostOf([point(2, 1), point(3, 0, 4)]), 7);
  assert.equal(mostOf([point(0, 0)]), 1);
  assert.equal(mostOf([]), 1);
});

test("the parts of a column are stacked from the bottom up to its height", () => {
  const { touch, parts } = boxesOf(point(2, 1, 1), { index: 1, count: 4, most: 8 });

  assert.deepEqual(touch, { x: 250, y: 0, width: 250, height: chartSize.height });
  assert.deepEqual(
    parts.map(({ kind, y, height }) => [kind, y, height]),
    [
      ["approved", 135, 45],
      ["refused", 112.5, 22.5],
      ["processing", 90, 22.5],
    ],
  );
  for (const { x, width } of parts) assert.ok(x > touch.x && x + width < touch.x + touch.width);
});

test("the tallest column fills the chart, and a kind without orders has no part", () => {
  const { parts } = boxesOf(point(5, 0), { index: 0, count: 1, most: 5 });

  assert.equal(parts.length, 1);
  assert.deepEqual([parts[0]?.y, parts[0]?.height], [0, chartSize.height]);
});
