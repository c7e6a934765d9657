/** The share of active time decides, over spans of a tenth of a second. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { makeIsBusy } from "./event-loop-load.ts";

/** An event loop whose times a test lets pass. */
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
