/**
 * The thread that sends callbacks sends like the main thread, and no attempt outlives the thread.
 */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import { TestClock } from "../values/testing.ts";
import { systemClock } from "../values/time.ts";
import type { AddressOptions } from "./addresses.ts";
import { startCallbackWorker } from "./callback-worker.ts";
import { answerWith, hang, startReceiver } from "./testing/receiver.ts";

const timeoutMs = 15_000;
const addresses: AddressOptions = {
  ports: [],
  allowsLoopback: true,
  privateNetworks: [],
  names: [],
};

function makeSender(
  t: TestContext,
  { clock = systemClock, threadClock = systemClock, opened = addresses } = {},
) {
  const lost: string[] = [];
  const { send, stop } = startCallbackWorker(
    { addresses: opened, resolvesBySystem: true, proxy: undefined },
    { clock, timeoutMs, threadClock, onLost: (cause) => void lost.push(cause) },
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
    method: "GET",
    url: `${shop.url}/told?a=b`,
    body: "",
    status: 503,
    answer: "",
    failure: undefined,
    retryAfterMs: 7_000,
  });
  assert.ok(at >= before && at <= Date.now() && durationMs >= 0);
  assert.deepEqual([form.status, form.method, form.body], [503, "POST", "c=d"]);
  assert.match(refused.failure ?? "", /never called/);
  const headers = shop.heard.map((heard) => heard.headers);
  assert.ok(headers.some((each) => each["webhook-id"] === "7-1"));
  assert.ok(headers.some((each) => each["x-y"] === "z"));
});

test("what the operator has opened is for endpoints that may use it, also over a kept connection", async (t) => {
  const inside = await startReceiver(t);
  const ports = [inside.port];
  const opened = { ...addresses, ports, allowsLoopback: false, names: ["127.0.0.1"] };
  const { get, send } = makeSender(t, { opened });
  const own = { method: "GET", url: inside.url, headers: {}, body: "", isPrivate: true } as const;

  const allowed = await send(own);
  const refused = await get(inside.url);

  assert.equal(allowed.status, 200);
  assert.match(refused.failure ?? "", /never called/);
  assert.equal(inside.heard.length, 1);
});

test("a thread that ends leaves nobody waiting, and the next try starts another", async (t) => {
  const silent = await startReceiver(t, hang);
  const shop = await startReceiver(t);
  const { get, lost } = makeSender(t);

  const thread = await threadOf(() => get(`${silent.url}/`));
  const second = get(`${silent.url}/`);
  await silent.isHeard;
  await thread.worker.terminate();

  // The first callback may have ended the thread, while the second did not.
  const [first, innocent] = [await thread.first, await second];
  assert.match(first.failure ?? "", /lost/);
  assert.deepEqual([first.isGatewayFault, innocent.isGatewayFault], [false, true]);
  assert.equal(lost.length, 1);
  assert.equal((await get(`${shop.url}/`)).status, 200);
});

test("the gateway's clock ends a try in the thread, which goes on", async (t) => {
  const silent = await startReceiver(t, hang);
  const shop = await startReceiver(t);
  const clock = new TestClock();
  const { get, lost } = makeSender(t, { clock });

  const sent = get(`${silent.url}/`);
  await silent.isHeard;
  clock.move(timeoutMs - 1);
  const other = await get(`${shop.url}/`);
  clock.move(1);

  assert.equal(other.status, 200);
  assert.match((await sent).failure ?? "", /timed out/);
  assert.equal((await get(`${shop.url}/`)).status, 200);
  assert.deepEqual(lost, []);
});

test("a thread that says nothing long after a try must be over is replaced", async (t) => {
  const silent = await startReceiver(t, hang);
  const clock = new TestClock();
  const { get, lost } = makeSender(t, { clock, threadClock: clock });

  const sent = get(`${silent.url}/`);
  await silent.isHeard;
  // The clock moves within one turn, in which no message of the thread is read.
  clock.move(timeoutMs);
  clock.move(4_999);
  assert.deepEqual(lost, []);
  clock.move(1);

  assert.match((await sent).failure ?? "", /timed_out/);
  assert.deepEqual(lost, ["it hangs"]);
});

test("whoever stops ends what is under way, and sends no more", async (t) => {
  const silent = await startReceiver(t, hang);
  const { get, stop, lost } = makeSender(t);

  const sent = get(`${silent.url}/`);
  await silent.isHeard;
  stop();

  assert.match((await sent).failure ?? "", /node stops/);
  assert.match((await get(`${silent.url}/`)).failure ?? "", /node stops/);
  assert.deepEqual(lost, []);
});

/** Returns the thread that starts during a send, which Node reports to the process. */
async function threadOf<Sent>(send: () => Promise<Sent>) {
  const { promise, resolve } = Promise.withResolvers<Worker>();
  process.once("worker", resolve);
  const first = send();
  await turn();
  return { first, worker: await promise };
}
