/** Each request to a real thread gets its reply or a fault, even if the thread is lost. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { getPriority } from "node:os";
import { type TestContext, test } from "node:test";
import { TestClock } from "../values/testing.ts";
import type { TestRequest } from "./testing/test-thread.ts";
import { startWorkerThread, ThreadFault, type ThreadOptions } from "./worker-thread.ts";

const replyWithinMs = 5_000;

function startThread(t: TestContext, more: Partial<ThreadOptions> = {}) {
  const clock = new TestClock();
  const lost: string[] = [];
  const { ask, stop } = startWorkerThread<TestRequest, string>({
    file: new URL("./testing/test-thread.ts", import.meta.url),
    inFlightMax: 10,
    replyWithinMs,
    clock,
    onLost: (cause) => void lost.push(cause),
    ...more,
  });
  t.after(stop);
  return { ask, stop, clock, lost };
}

test("each request has its own reply, at once or later", async (t) => {
  const { ask, clock, lost } = startThread(t);

  const replies = await Promise.all([
    ask({ text: "a", when: "later" }),
    ask({ text: "b", when: "now" }),
    ask({ text: "c", when: "later" }),
  ]);
  clock.move(replyWithinMs);

  assert.deepEqual(replies, ["a", "b", "c"]);
  assert.deepEqual(lost, []);
});

const onLinux = { skip: process.platform !== "linux" };

test(
  "the thread has a lower priority than the thread that carries payments",
  onLinux,
  async (t) => {
    const before = new Set(readdirSync("/proc/self/task"));
    const { ask } = startThread(t);
    await ask({ text: "a", when: "now" });

    const begun = readdirSync("/proc/self/task").filter((id) => !before.has(id));
    const priorities = begun.map((id) => getPriority(Number(id)));

    assert.equal(Math.max(...priorities), Math.min(getPriority() + 10, 19));
  },
);

test("a request is cancelled by the clock that was given for it", async (t) => {
  const cancelClock = new TestClock();
  const { ask, clock } = startThread(t, { cancel: { afterMs: 15_000, clock: cancelClock } });

  const reply = ask({ text: "a", when: "cancelled" });
  assert.equal(await ask({ text: "b", when: "later" }), "b");
  // The deadline for the reply begins with the cancellation.
  clock.move(replyWithinMs);
  cancelClock.move(15_000);

  assert.equal(await reply, "cancelled a");
});

test("a thread that never replies again is replaced, and only one request is suspected", async (t) => {
  const { ask, clock, lost } = startThread(t);
  assert.equal(await ask({ text: "a", when: "now" }), "a");

  const requests = [ask({ text: "b", when: "never" }), ask({ text: "c", when: "now" })];
  clock.move(replyWithinMs);
  const faults = await Promise.all(requests);

  assert.deepEqual(
    faults.map((fault) => fault instanceof ThreadFault && [fault.kind, fault.isSuspect]),
    [
      ["timed_out", true],
      ["lost", false],
    ],
  );
  assert.deepEqual(lost, ["it hangs"]);
  assert.equal(await ask({ text: "d", when: "now" }), "d");
});

test("a thread is not lost because the gateway was too busy to read its replies", async (t) => {
  const { ask, clock, lost } = startThread(t);
  await ask({ text: "a", when: "now" });
  const reply = ask({ text: "b", when: "now" });
  await new Promise(setImmediate);

  block(500);
  clock.move(replyWithinMs);

  assert.equal(await reply, "b");
  assert.deepEqual(lost, []);
});

test("no more requests are in flight than allowed, and none after a stop", async (t) => {
  const { ask, stop, lost } = startThread(t, { inFlightMax: 1 });

  const first = ask({ text: "a", when: "cancelled" });
  const second = await ask({ text: "b", when: "now" });
  await stop();

  assert.deepEqual(second, new ThreadFault("overloaded"));
  assert.deepEqual(await first, new ThreadFault("stopped"));
  assert.deepEqual(await ask({ text: "c", when: "now" }), new ThreadFault("stopped"));
  assert.deepEqual(lost, []);
});

test("a thread that cannot be started fails its requests", async (t) => {
  const file = new URL("./testing/no-such-thread.ts", import.meta.url);
  const { ask, lost } = startThread(t, { file });

  const fault = await ask({ text: "a", when: "now" });

  assert.ok(fault instanceof ThreadFault && fault.kind === "lost" && fault.isSuspect);
  assert.match(fault.detail, /no-such-thread/);
  assert.equal(lost.length, 1);
});

test("a thread that ends by itself is replaced", async (t) => {
  const { ask, lost } = startThread(t);
  const started = once(process, "worker");
  const first = ask({ text: "a", when: "cancelled" });
  const [worker] = await started;
  await worker.terminate();

  assert.deepEqual(await first, new ThreadFault("lost", lost[0], true));
  assert.equal(lost.length, 1);
  assert.equal(await ask({ text: "b", when: "now" }), "b");
});

/** Keeps this thread busy, so that no other code runs on it. */
function block(durationMs: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, durationMs);
}
