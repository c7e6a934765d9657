/**
 * Nodes on machines whose clocks are wrong by ten minutes. They use the database's time, so that no
 * node claims an order from a running node, or keeps one for too long.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { endOfFile } from "../../support/end-of-file.ts";
import { received } from "../../support/expect.ts";
import { startWorld } from "../../support/world.ts";

const skewMs = 600_000;
const leaseMs = 45_000;
const neverAnswered = { credit_card_number: "4000004000000129" };
const notify = { notify_url: "http://127.0.0.1:9/told" };

const world = await startWorld(endOfFile);
const ahead = await world.otherNode("ahead", {}, skewMs);
const behind = await world.otherNode("behind", {}, -skewMs);

test("a node whose clock is ahead claims no order from a node that is running it", async () => {
  const merchant = world.merchant();
  const sale = await merchant.sale(neverAnswered);
  await world.bank.waitForMessage({ mti: "0200" });

  const atOnce = await ahead.claimDue();
  world.clock.advance(29_000);
  const later = await ahead.claimDue();
  world.clock.advance(2_000);
  await world.settle();

  assert.deepEqual([atOnce, later], [0, 0]);
  assert.equal(received(world, "0420"), 1);
  assert.equal((await merchant.status(sale)).status, "error");
});

test("the leases that skewed nodes take are as long as those of the others", async () => {
  for (const node of [ahead, behind]) {
    const sale = await world.merchantAt(node).sale(neverAnswered);
    const [row] = await world.installation.database.query<{ left: number }>(
      `select (extract(epoch from due_at) * 1000)::float8 - $2 as left
       from due where order_id = $1`,
      [sale["gw-order-id"], world.clock.now()],
    );

    assert.equal(row?.left, leaseMs);
  }
  world.clock.advance(31_000);
  await Promise.all([ahead.settle(), behind.settle()]);
});

test("every node leases and sends callbacks by the same time", async () => {
  for (const node of [ahead, behind]) {
    const sale = await world.merchantAt(node).sale(notify);
    await node.settle();
    const [row] = await world.installation.database.query<{ made: number; at: number }>(
      `select (extract(epoch from made_at) * 1000)::float8 - $2 as made,
         (extract(epoch from at) * 1000)::float8 - $2 as at
       from callbacks join callback_attempts using (merchant_id, order_id) where order_id = $1`,
      [sale["gw-order-id"], world.clock.now()],
    );

    assert.deepEqual(row, { made: 0, at: 0 });
  }
});

test("the metrics and the log of a node show how far its clock is off", async () => {
  const scraped = await (await fetch(`http://127.0.0.1:${ahead.port}/metrics`)).text();
  const logged = world.logged.filter((line) => line.includes("node.clock_skewed"));

  assert.match(scraped, new RegExp(`^tollgate_clock_skew_ms ${skewMs}$`, "m"));
  assert.deepEqual(
    logged.map((line) => JSON.parse(line).skewMs),
    [skewMs, -skewMs],
  );
});
