/** The thread that sends callbacks: it sends as we would, and no try outlives it. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import type { Clock } from "../values/time.ts";
import { systemClock } from "../values/time.ts";
import { startCallbackWorker } from "./callback-worker.ts";
import { answerWith, hang, makeStillClock, startReceiver } from "./testing/receiver.ts";

const addresses = { ports: [], allowsLoopback: true, privateNetworks: [], names: [] };

function makeSender(t: TestContext, { clock = systemClock, timeoutMs = 15_000 } = {}) {
  const lost: string[] = [];
  const { send, stop } = startCallbackWorker(
    { addresses, asksSystem: true, timeoutMs, proxy: undefined },
    { clock, onLost: (cause) => lost.push(cause) },
  );
  t.after(stop);
  const headers = { "webhook-id": "7-1" };
  const get = (url: string) => send({ method: "GET", url, headers, body: "" });
  return { get, send, stop, lost };
}

test("what goes out and what comes back is what it would be without a thread", async (t) => {
  const shop = await startReceiver(t, answerWith(503, { "retry-after": "7" }));
  const { get, send } = makeSender(t);
  const before = Date.now();

  const [first, form, refused] = await Promise.all([
    get(`${shop.url}/told?a=b`),
    send({ method: "POST", url: shop.url, headers: { "x-y": "z" }, body: "c=d" }),
    get("http://169.254.169.254/"),
  ]);

  const { at, durationMs, ...rest } = first;
  assert.deepEqual(rest, {
    ...{ method: "GET", url: `${shop.url}/told?a=b`, body: "", status: 503, answer: "" },
    ...{ failure: undefined, retryAfterMs: 7_000 },
  });
  assert.ok(at >= before && at <= Date.now() && durationMs >= 0);
  assert.deepEqual([form.status, form.method, form.body], [503, "POST", "c=d"]);
  assert.match(refused.failure ?? "", /never called/);
  const headers = shop.heard.map((heard) => heard.headers);
  assert.ok(headers.some((each) => each["webhook-id"] === "7-1"));
  assert.ok(headers.some((each) => each["x-y"] === "z"));
});

test("a thread that ends leaves nobody waiting, and the next try starts another", async (t) => {
  const silent = await startReceiver(t, hang);
  const shop = await startReceiver(t);
  const { get, lost } = makeSender(t);

  const thread = await threadOf(() => get(`${silent.url}/`));
  const second = get(`${silent.url}/`);
  await silent.isHeard;
  await thread.worker.terminate();

  // The first may have been the cause of it, the second was not.
  const [first, innocent] = [await thread.first, await second];
  assert.match(first.failure ?? "", /was lost/);
  assert.deepEqual([first.isOurFault, innocent.isOurFault], [false, true]);
  assert.equal(lost.length, 1);
  assert.equal((await get(`${shop.url}/`)).status, 200);
});

test("a thread that says nothing long after a try must be over is replaced", async (t) => {
  const silent = await startReceiver(t, hang);
  const clock = makeMovingClock();
  const { get, lost } = makeSender(t, { clock });

  const sent = get(`${silent.url}/`);
  await silent.isHeard;
  clock.move(19_999);
  assert.deepEqual(lost, []);
  clock.move(1);

  assert.match((await sent).failure ?? "", /was lost/);
  assert.deepEqual(lost, ["it hangs"]);
});

test("whoever stops ends what is under way, and sends no more", async (t) => {
  const silent = await startReceiver(t, hang);
  const { get, stop, lost } = makeSender(t);

  const sent = get(`${silent.url}/`);
  await silent.isHeard;
  stop();

  assert.match((await sent).failure ?? "", /called off/);
  assert.match((await get(`${silent.url}/`)).failure ?? "", /ending/);
  assert.deepEqual(lost, []);
});

/** Node tells the process of every thread that it starts. */
async function threadOf<Sent>(send: () => Promise<Sent>) {
  const { promise, resolve } = Promise.withResolvers<Worker>();
  process.once("worker", resolve);
  const first = send();
  await turn();
  return { first, worker: await promise };
}

function makeMovingClock(): Clock & { move(durationMs: number): void } {
  const still = makeStillClock();
  const timers: { readonly at: number; readonly task: () => void }[] = [];
  let passed = 0;
  return {
    now: () => (still.now() + passed) as ReturnType<Clock["now"]>,
    after(delayMs, task) {
      timers.push({ at: passed + delayMs, task });
      return () => undefined;
    },
    move(durationMs) {
      passed += durationMs;
      const due = timers.filter(({ at }) => at <= passed);
      for (const timer of due) timers.splice(timers.indexOf(timer), 1);
      for (const { task } of due) task();
    },
  };
}
