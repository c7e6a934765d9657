/** A busy gateway processes requests in rounds, and an idle one each at once. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { makeIsBusy, makeRounds } from "./rounds.ts";

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

/** An event loop whose time a test controls. */
function makeLoop() {
  const times = { idle: 0, active: 0, utilization: 0 };
  return {
    isBusy: makeIsBusy(() => ({ ...times })),
    pass(activeMs: number, idleMs: number): void {
      times.active += activeMs;
      times.idle += idleMs;
    },
  };
}

test("a process is busy above four fifths of the time, and calm again below a half", () => {
  const { isBusy, pass } = makeLoop();
  const seen: boolean[] = [];
  for (const active of [75, 85, 60, 45, 75, 95]) {
    pass(active, 100 - active);
    seen.push(isBusy());
  }

  assert.deepEqual(seen, [false, true, true, false, false, true]);
});

test("a burst shorter than a tenth of a second changes nothing", () => {
  const { isBusy, pass } = makeLoop();
  pass(99, 0);
  const inBurst = isBusy();
  pass(0, 60);
  const after = isBusy();

  assert.deepEqual([inBurst, after], [false, false]);
});

test("a process that was busy before a long rest does not gather after it", () => {
  const { isBusy, pass } = makeLoop();
  pass(200, 0);
  const before = isBusy();
  pass(10, 10_000);

  assert.deepEqual([before, isBusy()], [true, false]);
});
