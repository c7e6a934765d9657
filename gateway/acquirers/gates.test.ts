/** The acquirers behind the gates follow the configuration, and orders can wait for their links. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { approved, asks, clockAt, meet } from "../orders/testing.ts";
import { asGateId } from "../values/ids.ts";
import { Problem } from "../values/problem.ts";
import { startsAt, TestClock } from "../values/testing.ts";
import { later } from "../values/time.ts";
import { waitForLink } from "./acquirer.ts";
import { askForDueKeys, type Gate, makeGates, type RunningAcquirer } from "./gates.ts";
import { settings } from "./iso8583-host/testing/attempts.ts";

const gate = (id: string, changes: Partial<Gate["settings"]> = {}): Gate => ({
  id: asGateId(id),
  name: `gate-${id}`,
  kind: "sandbox",
  settings: { ...settings, ...changes },
});

/** Acquirers that record the calls to them. */
function startGates(mayStart?: () => boolean) {
  const clock = new TestClock();
  const done: string[] = [];
  const gates = makeGates(clock, mayStart);
  let announce = () => {};
  const unused = () => Promise.reject(new Error("not asked for"));
  gates.open((started, onReady) => {
    if (started.settings.terminalId === "") throw new Error("no terminal");
    done.push(`start ${started.name}`);
    announce = onReady;
    const acquirer: RunningAcquirer = {
      authorize: unused,
      reverse: unused,
      capture: unused,
      refund: unused,
      inquire: undefined,
      inquireAfter: undefined,
      askForKey: unused,
      takeAnswer: () => false,
      hasPlaceFor: () => true,
      isReady: () => false,
      connections: () => ({ up: 0, wanted: 1 }),
      change: ({ settings: { fee } }) => void done.push(`change ${started.name} ${fee?.percent}`),
      stop: async () => void done.push(`stop ${started.name}`),
    };
    return acquirer;
  });
  return { clock, done, gates, announce: () => announce() };
}

test("gates are started, changed and stopped as the configuration says", async () => {
  const { done, gates } = startGates();

  gates.update([gate("1"), gate("2")]);
  gates.update([gate("1"), gate("2", { fee: { percent: "2" } })]);
  gates.update([gate("1")]);
  await gates.stop();

  assert.deepEqual(done, [
    ...["start gate-1", "start gate-2", "change gate-2 2", "stop gate-2", "stop gate-1"],
  ]);
});

test("a configuration that is read while the gates stop starts no link", async () => {
  const { done, gates } = startGates();
  gates.update([gate("1")]);

  const stopped = gates.stop();
  gates.update([gate("1"), gate("2")]);
  await stopped;

  assert.deepEqual(done, ["start gate-1", "stop gate-1"]);
});

test("a gate that cannot be started keeps no other from starting", () => {
  const { done, gates } = startGates();

  assert.throws(() => gates.update([gate("1", { terminalId: "" }), gate("2")]), /no terminal/);

  assert.deepEqual(done, ["start gate-2"]);
});

test("an order waits for the next link, up to a moment, and leaves no timer behind", async () => {
  const { clock, gates, announce } = startGates();
  gates.update([gate("1")]);

  const [first, second] = [gates.nextReady(later(startsAt, 1_000)), gates.nextReady(startsAt)];
  clock.move(0);
  assert.equal(await second, false);
  announce();
  assert.equal(await first, true);
  const third = gates.nextReady(later(startsAt, 500));
  clock.move(500);
  assert.equal(await third, false);
  assert.deepEqual(clock.pendingMs, []);
});

test("an order does not wait longer than the bound, nor than its lease leaves to an answer", async () => {
  const asked = meet(approved("preauth"), asks("capture", 500n));
  const claimableAt = asked.owed?.claimableAt ?? 0;
  const now = later(startsAt, 0);
  const untils: number[] = [];
  const waits = (answerTimeoutMs: number, at: number) =>
    waitForLink(
      asked,
      {
        clock: clockAt(later(now, at - now)),
        answerTimeoutMs,
        linkWaitMs: 1_000,
        nextReady: async (until) => untils.push(until) > 1_000,
      },
      () => false,
    );

  await waits(0, claimableAt - 5_000);
  await waits(4_500, claimableAt - 5_000);
  await waits(5_000, claimableAt - 5_000);

  assert.deepEqual(untils, [claimableAt - 4_000, claimableAt - 4_501]);
});

test("while nothing may start, no link signs on, and those that are up stay and change", async () => {
  const held = startGates(() => false);
  held.gates.update([gate("1")]);
  assert.deepEqual(held.done, []);

  let mayStart = true;
  const { done, gates } = startGates(() => mayStart);
  gates.update([gate("1")]);
  mayStart = false;
  gates.update([gate("1", { fee: { percent: "2" } })]);

  assert.deepEqual(done, ["start gate-1", "change gate-1 2"]);
});

test("a gate whose host could not be asked for its next key is told, and asked again later", async () => {
  const { gates } = startGates();
  const told: string[] = [];
  const postponed: string[] = [];
  const dueKeys = {
    claimDue: async () => [asGateId("1"), asGateId("2"), asGateId("3")],
    postpone: async (id: string) => void postponed.push(id),
  };
  const answers = new Map<string, RunningAcquirer["askForKey"]>([
    ["1", async () => "asked"],
    ["2", async () => new Problem("The host refused.")],
  ]);
  const find = (id: string) => {
    const askForKey = answers.get(id);
    return askForKey && ({ askForKey } as unknown as RunningAcquirer);
  };

  await askForDueKeys({ ...gates, find }, dueKeys, (id, cause) => told.push(`${id}: ${cause}`));

  assert.deepEqual(told, ["2: The host refused.", "3: it is not running"]);
  assert.deepEqual(postponed, ["2", "3"]);
});
