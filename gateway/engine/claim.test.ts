/**
 * Which due orders a node claims, and which ones it leaves for a while after an outage of the
 * database.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Order } from "../orders/order.ts";
import { draft, events, meet, start } from "../orders/testing.ts";
import { asInstant, type Instant, later } from "../values/time.ts";
import { afterOutages, makeClaimWork } from "./run.ts";

const inFlight = meet(draft, events.received);
const leaseOver = later(inFlight.owed?.claimableAt ?? start, 1);
const waiting: Order = {
  ...inFlight,
  owed: { effect: "reverse", claimableAt: asInstant(start), resting: true },
};

/**
 * A node that finds these orders due. The test sets its time and whether its database is reachable.
 */
function makeNode(due: readonly Order[]) {
  const place = { now: later(leaseOver, -10_000) as Instant, isAway: false };
  const clock = { now: () => place.now, certain: async () => undefined };
  const claimed: Order[] = [];
  const findDue = async () => {
    if (place.isAway) throw new Error("the database is unreachable");
    return due;
  };
  const work = makeClaimWork({
    node: { name: "node-1" },
    clock,
    findDue: afterOutages(findDue, clock),
    batchMax: 10,
    findOwned: async () => [],
    claim: async (order) => {
      claimed.push(order);
      return order;
    },
    runner: {
      start: () => undefined,
      has: () => false,
      runs: () => false,
      count: 0,
      idle: async () => undefined,
    },
  });
  // After this time the node has run long enough to claim orders of other nodes.
  place.now = leaseOver;
  return { place, claimed, work };
}

test("orders whose lease is over, and those that only wait, are claimed", async () => {
  const { claimed, work } = makeNode([inFlight, waiting]);

  assert.equal(await work.claimDue(), 2);
  assert.deepEqual(claimed, [inFlight, waiting]);
});

test("after an outage the nodes that were in flight get time to commit what they know", async () => {
  const { place, claimed, work } = makeNode([inFlight, waiting]);
  place.isAway = true;
  await assert.rejects(work.claimDue());
  place.isAway = false;

  assert.equal(await work.claimDue(), 1);
  place.now = later(place.now, 9_999);
  assert.equal(await work.claimDue(), 1);
  place.now = later(place.now, 1);
  assert.equal(await work.claimDue(), 2);

  assert.deepEqual(claimed, [waiting, waiting, inFlight, waiting]);
});

test("a node that has just started leaves orders in flight to their nodes", async () => {
  let now = leaseOver;
  const findDue = afterOutages(async () => [inFlight, waiting], { now: () => now });

  const first = await findDue(now, 10);
  now = later(now, 10_000);
  const later10s = await findDue(now, 10);

  assert.deepEqual([first, later10s], [[waiting], [inFlight, waiting]]);
});

test("a node that was paused does not know of outages: the others get time to commit", async () => {
  const { place, work } = makeNode([inFlight, waiting]);
  assert.equal(await work.claimDue(), 2);

  place.now = later(place.now, 10_001);
  assert.equal(await work.claimDue(), 1);
  place.now = later(place.now, 10_000);
  assert.equal(await work.claimDue(), 2);
});
