/** Requests that come together go on together, and one that comes alone does not wait. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { makeGroups } from "./groups.ts";

const gapMs = 30;

test("the first one goes on at once, those of the same gap together at its end", async () => {
  const untilGroup = makeGroups(gapMs);
  const startedAt = performance.now();
  const order: number[] = [];

  const first = untilGroup();
  const others = [1, 2, 3].map(async (each) => {
    await untilGroup();
    order.push(each);
  });
  await others[0];
  const inOneTurn = [...order];
  await Promise.all(others);

  assert.equal(first, undefined);
  assert.ok(performance.now() - startedAt >= gapMs - 1);
  assert.deepEqual(inOneTurn, [1, 2, 3]);
  assert.ok(untilGroup() instanceof Promise, "the gap after a group has begun");
});

test("after a rest one goes on at once again", async () => {
  const untilGroup = makeGroups(gapMs);
  untilGroup();
  await untilGroup();

  await new Promise((resolve) => setTimeout(resolve, 2 * gapMs));

  assert.equal(untilGroup(), undefined);
});

test("a large group leaves turns of the event loop to others", async () => {
  const untilGroup = makeGroups(gapMs);
  untilGroup();
  let count = 0;
  const perTurn: number[] = [];
  const all = Array.from({ length: 150 }, async () => {
    await untilGroup();
    count += 1;
  });

  await all[0];
  while (count < 150) {
    perTurn.push(count);
    await new Promise(setImmediate);
  }
  await Promise.all(all);

  assert.deepEqual([...new Set(perTurn)], [64, 128]);
});
