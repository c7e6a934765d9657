/** Requests that come together go on together, and one that comes alone does not wait. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { makeRounds } from "./rounds.ts";

const gapMs = 30;

test("the first one goes on at once, those of the same gap together at its end", async () => {
  const untilRound = makeRounds(gapMs);
  const startedAt = performance.now();
  const order: number[] = [];

  const first = untilRound();
  const others = [1, 2, 3].map(async (each) => {
    await untilRound();
    order.push(each);
  });
  await others[0];
  const inOneTurn = [...order];
  await Promise.all(others);

  assert.equal(first, undefined);
  assert.ok(performance.now() - startedAt >= gapMs - 1);
  assert.deepEqual(inOneTurn, [1, 2, 3]);
  assert.ok(untilRound() instanceof Promise, "the gap after a round has begun");
});

test("after a rest one goes on at once again", async () => {
  const untilRound = makeRounds(gapMs);
  await untilRound();
  await untilRound();

  await new Promise((resolve) => setTimeout(resolve, 2 * gapMs));

  assert.equal(untilRound(), undefined);
});

test("a long round leaves turns of the event loop to others", async () => {
  const untilRound = makeRounds(gapMs);
  await untilRound();
  let count = 0;
  const perTurn: number[] = [];
  const all = Array.from({ length: 150 }, async () => {
    await untilRound();
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
