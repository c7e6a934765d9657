/** A busy gateway handles requests together; another one handles each at once. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { makeRounds } from "./rounds.ts";

const gapMs = 30;

test("the first one goes on at once, those of the same gap together at its end", async () => {
  const untilRound = makeRounds(gapMs, () => true);
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

test("no request waits while the gateway is not busy", async () => {
  let isBusy = false;
  const untilRound = makeRounds(gapMs, () => isBusy);

  const calm = [untilRound(), untilRound(), untilRound()];
  isBusy = true;
  const first = untilRound();
  const second = untilRound();
  isBusy = false;
  await second;
  const after = untilRound();

  assert.deepEqual(calm, [undefined, undefined, undefined]);
  assert.equal(first, undefined);
  assert.ok(second instanceof Promise);
  assert.equal(after, undefined, "the gateway rests although it is not busy any more");
});

test("after a rest one goes on at once again", async () => {
  const untilRound = makeRounds(gapMs, () => true);
  await untilRound();
  await untilRound();

  await new Promise((resolve) => setTimeout(resolve, 2 * gapMs));

  assert.equal(untilRound(), undefined);
});

test("what a part of a long round has begun leaves before the next part is handled", async () => {
  const untilRound = makeRounds(gapMs, () => true);
  await untilRound();
  let handled = 0;
  const handledWhenLeaving: number[] = [];
  const all = Array.from({ length: 150 }, async () => {
    await untilRound();
    handled += 1;
    setImmediate(() => handledWhenLeaving.push(handled));
  });

  await Promise.all(all);
  await new Promise(setImmediate);

  assert.deepEqual([...new Set(handledWhenLeaving)], [48, 96, 144, 150]);
});
