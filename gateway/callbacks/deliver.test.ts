/** Delivery with a real database and real sockets: how receivers and merchants share a node. */
import assert from "node:assert/strict";
import { after, type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import type { Order } from "../orders/order.ts";
import { makeCallbackStore } from "../storage/callbacks/callbacks.ts";
import { makeFixedName } from "../storage/server/presence.ts";
import { startDatabase } from "../storage/testing/database-for-tests.ts";
import { makeOwed } from "../storage/testing/stored-rows.ts";
import { asMerchantId, asOrderId, asSerialNumber, receiverOf } from "../values/ids.ts";
import { asInstant } from "../values/time.ts";
import type { DeliveryDecision } from "./callback.ts";
import { startCallbackWorker } from "./callback-worker.ts";
import { eventOf, makeDelivery } from "./callbacks.ts";
import { type Answer, hang, makeStillClock, startReceiver } from "./testing/receiver.ts";

const serialNumber = asSerialNumber("0195933a-7c48-7000-8000-000000000001");
const timeoutMs = 15_000;
const gathered = { batchMax: 256, inFlightMax: 1 };
const retry = { gapsMs: [60_000], random: () => 0.5 };
const addresses = { ports: [], allowsLoopback: true, privateNetworks: [], names: [] };
const { database, stop } = await startDatabase();
after(stop);

test("a merchant whose receivers all hang leaves the others their places", async (t) => {
  const { deliver, clock } = await startDelivery(t);
  const hanging = await Promise.all(Array.from({ length: 34 }, () => startReceiver(t, hang)));
  const shop = await startReceiver(t);
  const { owe, countDue } = makeOwed(database, clock.now());
  const urls = Array.from({ length: 1_360 }, (_, at) => hanging[at % hanging.length]?.url ?? "");
  await owe("7", urls);
  await owe("8", [shop.url], urls.length);

  await deliver.claimDue();
  await shop.isHeard;

  assert.equal([1_024, 1_025].includes(deliver.countInFlight()), true);
  // One merchant gets a quarter of a node's slots. The rest is left to other merchants and nodes.
  assert.equal(await countDue("7"), 1_360 - 1_024);
  assert.equal(await deliver.claimDue(), 0);
  clock.passAll();
  await deliver.idle();
});

test("what waits for a place is not read from the database again, unless much waits", async (t) => {
  const held: Parameters<Answer>[0][] = [];
  let isOpen = false;
  const shop = await startReceiver(t, (response) => {
    if (isOpen) response.end();
    else held.push(response);
  });
  const { deliver, clock, reads } = await startDelivery(t);
  const start = (count: number) => {
    const callback = { url: shop.url, receiver: receiverOf(shop.url), sequence: 1, serialNumber };
    for (let at = 1; at <= count; at += 1) {
      deliver.start({ order: orderOf("7", at), callbacks: [callback], at: clock.now() });
    }
  };

  start(64 + 2_000 + 68);
  while (held.length < 64) await setImmediate();
  isOpen = true;
  for (const response of held) response.end();
  await deliver.idle();

  assert.equal(shop.heard.length, 2_132);
  assert.equal(reads.count, 68);
  start(1);
  await deliver.idle();
  assert.equal(shop.heard.length, 2_133, "all places are free again");
});

test("a try that was lost with its thread counts only for the one that may have lost it", async (t) => {
  const { promise: started, resolve } = Promise.withResolvers<Worker>();
  process.once("worker", resolve);
  const { deliver, clock } = await startDelivery(t);
  const silent = await startReceiver(t, hang);
  const { owe, triesOf, forgetAll } = makeOwed(database, clock.now());
  // Callbacks of earlier tests are older and would be suspected first, so they are deleted.
  await forgetAll();
  await owe("9", [silent.url, silent.url, silent.url]);

  await deliver.claimDue();
  await silent.isHeard;
  await (await started).terminate();
  await deliver.idle();

  assert.deepEqual(await triesOf("9"), [0, 0, 1]);
});

test("a first try that delivers is logged quietly, and an end without delivery loudly", () => {
  const dueAgain = { dueAt: asInstant(1), isCounted: true };
  // biome-ignore format: a table
  const events: readonly (readonly [tries: number, decision: DeliveryDecision, event: string])[] = [
    [0, { ended: "delivered" }, "callback.delivered"],
    [1, { ended: "delivered" }, "callback.attempted"],
    [0, dueAgain,               "callback.attempted"],
    [9, { ended: "given_up" },  "callback.ended"],
    [0, { ended: "stopped" },   "callback.ended"],
  ];
  for (const [tries, decision, event] of events) assert.equal(eventOf({ tries }, decision), event);
});

async function startDelivery(t: TestContext) {
  const clock = makeStillClock();
  const worker = startCallbackWorker(
    { addresses, resolvesBySystem: true, proxy: undefined },
    { clock, timeoutMs, onLost: () => undefined },
  );
  t.after(worker.stop);
  const reads = { count: 0 };
  const findOrder = async () => {
    reads.count += 1;
    return orderOf("7", 1);
  };
  const store = makeCallbackStore(
    { query: database.hot, node: makeFixedName("left"), findOrder },
    gathered,
  );
  const deliver = makeDelivery({
    store,
    worker,
    clock,
    timeoutMs,
    drainMs: 0,
    retry,
    keepDays: 0,
    buildMessage: ({ url }) => ({ method: "GET", url, headers: {}, body: "" }),
    observe: () => undefined,
    log: (event, facts) => assert.notEqual(event, "callback.failed", JSON.stringify(facts)),
  });
  return { deliver, clock, reads };
}

// The test uses only the URL of an order, which is its text.
function orderOf(merchantId: string, at: number): Order {
  return { merchantId: asMerchantId(merchantId), id: asOrderId(String(at)) } as Order;
}
