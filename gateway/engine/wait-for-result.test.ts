/** Waits for results end with every step that is committed after the order was read. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { Order } from "../orders/order.ts";
import { draft, events, meet, start } from "../orders/testing.ts";
import type { Clock } from "../values/time.ts";
import { makeResultWaits } from "./find.ts";

const received = meet(draft, events.received);
const approved = meet(received, events.authorized);

/** The clock stands still, so only a reported step or a read can end a wait. */
const still: Clock = { now: () => start, after: () => () => undefined };

function waitsOn(load: (order: Order) => Promise<Order>) {
  return makeResultWaits({ load, clock: still, limitMs: 30_000, lookEveryMs: 1_000 });
}

test("a step that was committed before the wait began ends it", async () => {
  const waits = waitsOn(async () => approved);
  const met = await waits.waitForResult({ order: received, transaction: received.transaction });
  assert.equal(met.transaction.stage, "approved");
});

test("a step that is committed during the first look ends the wait", async () => {
  const waits = waitsOn(async () => {
    waits.notify({ order: approved } as Parameters<typeof waits.notify>[0]);
    return received;
  });
  const met = await waits.waitForResult({ order: received, transaction: received.transaction });
  assert.equal(met.transaction.stage, "approved");
});

test("a step that is committed later ends the wait", async () => {
  const looked = Promise.withResolvers<void>();
  const waits = waitsOn(async (order) => {
    looked.resolve();
    return order;
  });
  const waiting = waits.waitForResult({ order: received, transaction: received.transaction });
  await looked.promise;
  waits.notify({ order: approved } as Parameters<typeof waits.notify>[0]);
  assert.equal((await waiting).order, approved);
});

test("a step that is told late undoes nothing", async () => {
  let looks = 0;
  const waits = waitsOn(async (order) => {
    looks += 1;
    if (looks > 1) return order;
    waits.notify({ order: draft } as Parameters<typeof waits.notify>[0]);
    return received;
  });
  const waiting = waits.waitForResult({ order: draft, transaction: draft.transaction });
  await setImmediate();
  waits.end();
  assert.equal((await waiting).order, received);
});
