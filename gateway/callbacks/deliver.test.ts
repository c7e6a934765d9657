/** Delivery on a real database and real sockets: who gets how much of a node. */
import assert from "node:assert/strict";
import { after, type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import type { Order } from "../orders/order.ts";
import { makeCallbackStore } from "../storage/callbacks.ts";
import { startDatabase } from "../storage/testing/database-for-tests.ts";
import { makeOwed } from "../storage/testing/owed-callbacks.ts";
import { asMerchantId, asOrderId, asSerialNumber, receiverOf } from "../values/ids.ts";
import { later } from "../values/time.ts";
import { makeAddressRules } from "./addresses.ts";
import type { Callback } from "./callback.ts";
import { startCallbackWorker } from "./callback-worker.ts";
import { makeDeliver } from "./deliver.ts";
import { askSystem } from "./look-up.ts";
import { makeSend, type Send } from "./send.ts";
import { type Answer, hang, makeStillClock, startReceiver } from "./testing/receiver.ts";

const serialNumber = asSerialNumber("0195933a-7c48-7000-8000-000000000001");
const leaseMs = 60_000;
const gathered = { batchMax: 256, inFlightMax: 1 };
const retry = { gapsMs: [60_000], random: () => 0.5 };
const addresses = { ports: [], allowsLoopback: true, privateNetworks: [], names: [] };
// Nothing of an order is looked at here: the text is the address.
const order = {} as Order;
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

  assert.equal(deliver.count >= 1_024 && deliver.count <= 1_025, true);
  // A quarter of what a node can do; the rest is left to other nodes.
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
    for (const callback of callbacksOf(clock, shop.url, count)) deliver.start(callback, order);
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
  const apart = startCallbackWorker(
    { addresses, asksSystem: true, timeoutMs: 15_000, proxy: undefined },
    { clock: makeStillClock(), onLost: () => undefined },
  );
  const { deliver, clock } = await startDelivery(t, apart);
  const silent = await startReceiver(t, hang);
  const { owe, triesOf } = makeOwed(database, clock.now());
  await owe("9", [silent.url, silent.url, silent.url]);

  await deliver.claimDue();
  await silent.isHeard;
  await (await started).terminate();
  await deliver.idle();

  assert.deepEqual(await triesOf("9"), [0, 0, 1]);
});

async function startDelivery(t: TestContext, apart?: Send) {
  const clock = makeStillClock();
  const rules = makeAddressRules(addresses);
  const { send, stop: callOff } =
    apart ?? makeSend({ rules, clock, timeoutMs: 15_000, resolve: askSystem });
  t.after(callOff);
  const reads = { count: 0 };
  const findOrder = async () => {
    reads.count += 1;
    return order;
  };
  const store = makeCallbackStore({ query: database.hot, node: "left", findOrder }, gathered);
  const deliver = makeDeliver({
    ...{ store, send, callOff, clock, leaseMs, tryMs: 15_000, retry },
    messageOf: ({ url }) => ({ method: "GET", url, headers: {}, body: "" }),
    onAttempt: () => undefined,
    onTrouble: (_, error) => assert.fail(String(error)),
  });
  return { deliver, clock, reads };
}

type Clock = ReturnType<typeof makeStillClock>;

function callbacksOf(clock: Clock, url: string, count: number): readonly Callback[] {
  return Array.from({ length: count }, (_, at) => ({
    ...{ merchantId: asMerchantId("7"), orderId: asOrderId(String(at + 1)), sequence: 1 },
    ...{ serialNumber, url, receiver: receiverOf(url), tries: 0 },
    ...{ begunAt: clock.now(), leaseUntil: later(clock.now(), leaseMs) },
  }));
}
