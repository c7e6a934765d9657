/** The database's time at a node whose own clocks are wrong, are set, or stand still. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { asInstant, type Instant } from "../../values/time.ts";
import { openDatabaseClock, watchSkew } from "./database-clock.ts";

const start = 1_800_000_000_000;

/** Makes a machine whose own clock is ahead of the database's, and an answer that takes time. */
function makeMachine({ aheadMs = 0, delaysMs = [0] }: { aheadMs?: number; delaysMs?: number[] }) {
  const machine = { databaseMs: start, ownMs: start + aheadMs, steadyMs: 5_000 };
  const jumps: number[] = [];
  let asked = 0;
  const pass = (durationMs: number) => {
    machine.databaseMs += durationMs;
    machine.ownMs += durationMs;
    machine.steadyMs += durationMs;
  };
  return {
    machine,
    jumps,
    pass,
    get asked() {
      return asked;
    },
    open: () =>
      openDatabaseClock({
        clock: {
          now: () => asInstant(machine.ownMs),
          after: () => () => undefined,
          steadyMs: () => machine.steadyMs,
        },
        /** The whole delay passes before the database reads its clock, which is the worst case. */
        async readTime(): Promise<Instant> {
          pass(delaysMs[asked % delaysMs.length] ?? 0);
          asked += 1;
          return asInstant(machine.databaseMs);
        },
        onJump: (jumpMs) => jumps.push(jumpMs),
      }),
  };
}

test("a node whose clock is a minute ahead or behind uses the database's time", async () => {
  for (const aheadMs of [60_000, -60_000]) {
    const { open, machine, pass } = makeMachine({ aheadMs });
    const clock = await open();

    pass(7_000);

    assert.equal(clock.now(), machine.databaseMs);
    assert.equal(clock.skewMs(), aheadMs);
  }
});

test("the shortest of several round trips counts", async () => {
  const { open, machine } = makeMachine({ delaysMs: [2_000, 800, 4, 900] });

  const clock = await open();

  assert.ok(Math.abs(clock.now() - machine.databaseMs) <= 2);
});

test("a slow measurement that agrees with an earlier one does not replace it", async () => {
  const delaysMs = [0, 0, 0, 0, 3_000, 3_000, 3_000, 3_000];
  const { open, machine, jumps } = makeMachine({ delaysMs });
  const clock = await open();

  await clock.measure();

  assert.equal(clock.now(), machine.databaseMs);
  assert.deepEqual(jumps, []);
});

test("a clock that is set between two measurements is noticed, and no claim uses it", async () => {
  const { open, machine, pass, jumps } = makeMachine({});
  const clock = await open();

  machine.ownMs += 3_600_000;
  pass(1_000);
  // The clock does not know yet which of the two times is right. The later one decides that a lease
  // has ended, and no lease begins.
  const [meanwhile, earliest] = [clock.now(), clock.earliest()];
  await clock.certain();

  assert.equal(meanwhile, machine.databaseMs + 3_600_000);
  assert.equal(earliest, machine.databaseMs);
  assert.equal(clock.now(), machine.databaseMs);
  assert.deepEqual(jumps, [3_600_000]);
});

test("a machine that slept uses the later of its clocks until it has asked the database", async () => {
  const { open, machine, jumps } = makeMachine({});
  const clock = await open();

  // The steady clock stood still while this time passed.
  machine.ownMs += 120_000;
  machine.databaseMs += 120_000;
  const meanwhile = clock.now();
  await clock.certain();

  assert.equal(meanwhile, machine.databaseMs);
  assert.equal(clock.now(), machine.databaseMs);
  assert.deepEqual(jumps, [120_000]);
});

test("a clock that is set back does not set the time back", async () => {
  const { open, machine, pass } = makeMachine({});
  const clock = await open();

  machine.ownMs -= 3_600_000;
  pass(1_000);

  assert.equal(clock.now(), machine.databaseMs);
});

test("the time of another database server counts from the next measurement on", async () => {
  const { open, machine, jumps } = makeMachine({});
  const clock = await open();

  machine.databaseMs += 40_000;
  await clock.measure();

  assert.equal(clock.now(), machine.databaseMs);
  assert.deepEqual(jumps, [40_000]);
});

test("claims wait for a measurement only when a clock was set", async () => {
  const counted = makeMachine({});
  const clock = await counted.open();
  const before = counted.asked;

  await clock.certain();

  assert.equal(counted.asked, before);
});

test("a wrong clock is reported once, and again after it was right in between", async () => {
  let skewMs = 900;
  const reported: number[] = [];
  const clock = { measure: async () => undefined, skewMs: () => skewMs };
  const look = watchSkew(clock, 500, (each) => reported.push(each));

  for (const next of [800, -700, 400, -600]) {
    skewMs = next;
    await look();
  }

  assert.deepEqual(reported, [900, -600]);
});
