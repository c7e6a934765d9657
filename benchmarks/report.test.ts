/**
 * The conclusions of a run: whether the machine was quiet, whether the budget is kept, and what
 * changed.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { judgeBudget, judgeMedian, printMedian } from "./budget.ts";
import { isQuiet, printComparison } from "./report.ts";

const means = { bankAnswerMs: 1, beginBatch: 1, beginMs: 1, moveBatch: 1, moveMs: 1 };
const sales = { orders: 1, refused: 0, acceptedPerSecond: 1, completedPerSecond: 1, means };
const time = { gateway: 0, database: 1, bank: 1, load: 1, route: 1 };

function turnsOf(gatewayUs: number, insertSlices: readonly number[] = [1]) {
  return {
    insertsPerSecond: 1,
    insertSlices,
    routePerSecond: 1,
    sales,
    memoryBytes: 1,
    costs: { sale: { ...time, gateway: gatewayUs }, routeRequest: 10, insert: 1 },
  };
}

test("the machine was quiet when no slice of inserts was a fifth slower than another", () => {
  assert.ok(isQuiet([turnsOf(1, [1_000, 850]), turnsOf(1, [990, 801])]));
  assert.ok(!isQuiet([turnsOf(1, [1_000, 850]), turnsOf(1, [990, 799])]));
});

test("the best round decides about the budget", () => {
  assert.equal(judgeBudget([turnsOf(900), turnsOf(1), turnsOf(900)]).isKept, true);
  assert.equal(judgeBudget([turnsOf(900), turnsOf(901)]).isKept, false);
});

test("the slice that was furthest below its limit decides about the median", () => {
  const [quiet, busy] = [
    { insertMs: 0.2, routeMs: 0.5, saleMs: 3 },
    { insertMs: 1, routeMs: 0.5, saleMs: 40 },
  ];

  const kept = judgeMedian([busy, quiet, busy]);

  assert.equal(kept.isKept, true);
  assert.match(printMedian(kept), /3\.00 ms in the median.* 15\.0 inserts.* within .* 5\.60 ms/);
  assert.equal(judgeMedian([busy]).isKept, false);
});

test("a comparison shows the ratio within each round, not that of the medians", () => {
  const rounds = [
    { earlier: 100, now: 90 },
    { earlier: 200, now: 100 },
    { earlier: 400, now: 280 },
  ];

  const [, line = ""] = printComparison([["cost", "µs", (cost: number) => cost]], rounds).split(
    "\n",
  );

  assert.match(line, /cost, µs +200 +100 +0\.70 +0\.50 +0\.90$/);
});
