/**
 * Receivers that hang, answer slowly, send endless bodies or vanish do not delay other receivers.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { rebillFields, type SaleFields } from "../../support/merchant.ts";
import {
  answerWith,
  flood,
  hang,
  hangUp,
  makeDrip,
  startReceiver,
} from "../../support/receiver.ts";
import { testInLongRun } from "../../support/series.ts";
import { joinWorld } from "../../support/shared-world.ts";
import { until, untilTrue } from "../../support/until.ts";
import { startWorld, type World } from "../../support/world.ts";

const timeoutMs = 15_000;
const leaseMs = 60_000;
const places = 64;

type Kept = {
  readonly status: number | null;
  readonly failure: string | null;
  readonly answer: string;
  readonly ended: string | null;
};

test("a receiver that hangs delays no other receiver, and is tried again", async (t) => {
  const world = await startWorld(t);
  const stuck = await startReceiver(t, hang);
  const shop = await startReceiver(t);
  const merchant = world.merchant();

  const many = Array.from({ length: places + 8 }, () =>
    merchant.sale({ server_callback_url: stuck.url }),
  );
  await Promise.all(many);
  await stuck.untilHeard(places);
  const sale = await merchant.sale({ server_callback_url: shop.url });
  const [told] = await shop.untilHeard(1);

  assert.equal(told?.fields["orderid"], sale["gw-order-id"]);
  assert.equal(stuck.heard.length, places);
  await attemptsOf(world, 200);
  world.clock.advance(timeoutMs);
  await stuck.untilHeard(places + 8);
  stuck.answer(answerWith(200));
  await world.pass(timeoutMs);
  await world.pass(4 * leaseMs);
  const kept = await attemptsOf(world, "timed out waiting for the response");
  assert.equal(kept.length, places + 8);
  assert.ok(kept.every(({ ended }) => ended === "delivered"));
});

testInLongRun("a receiver has its places once, however its address is spelled", async (t) => {
  const world = await joinWorld(t);
  const stuck = await startReceiver(t, hang);
  const shop = await startReceiver(t);
  const merchant = world.merchant();
  const spellings = ["http://127.0.0.1", "HTTP://127.0.0.1", "http://127.1", "http://%3127.0.0.1"];

  const many = Array.from({ length: places + 8 }, (_, at) =>
    merchant.sale({ server_callback_url: `${spellings[at % 4]}:${stuck.port}/${at}` }),
  );
  await Promise.all(many);
  await stuck.untilHeard(places);
  await merchant.sale({ server_callback_url: shop.url });
  await shop.untilHeard(1);

  assert.equal(stuck.heard.length, places);
  world.clock.advance(timeoutMs);
  await stuck.untilHeard(places + 8);
  world.clock.advance(timeoutMs);
  await world.settle();
});

test("two merchants with one receiver do not wait for each other", async (t) => {
  const world = await startWorld(t);
  const other = await world.stranger();
  const shared = await startReceiver(t, hang);
  const merchant = world.merchant();

  const many = Array.from({ length: places + 1 }, () =>
    merchant.sale({ server_callback_url: `${shared.url}/stuck` }),
  );
  await Promise.all(many);
  await shared.untilHeard(places);
  shared.answer(answerWith(200));
  await other.sale({ server_callback_url: `${shared.url}/well` });
  await shared.untilHeard(places + 1);

  assert.ok(shared.heard[places]?.path.startsWith("/well"));
  world.clock.advance(timeoutMs);
  await world.settle();
});

test("an answer without an end counts by its status, and is cut off", async (t) => {
  const world = await startWorld(t);
  const drip = makeDrip();
  const dripping = await startReceiver(t, drip.answer);
  const flooding = await startReceiver(t, flood);
  const merchant = world.merchant();

  await merchant.sale({ server_callback_url: dripping.url });
  await merchant.sale({ server_callback_url: flooding.url });
  await flooding.untilHeard(1);
  await untilTrue("the flood is cut off", () => flooding.connections === 0);
  await untilTrue("the drip is listened to", () => drip.drops >= 50);
  world.clock.advance(timeoutMs);
  await world.settle();

  await untilTrue("the drip is cut off", () => dripping.connections === 0);
  const [drops] = await attemptsOf(world, 200);
  const [flooded] = await attemptsOf(world, 500);
  assert.equal(drops?.ended, "delivered");
  assert.match(drops?.answer ?? "", /^\.{0,512}$/);
  assert.equal(flooded?.ended, null);
  assert.equal(flooded?.answer, "x".repeat(512));
});

test("a connection that breaks and one that is refused are tried again", async (t) => {
  const world = await startWorld(t);
  const shop = await startReceiver(t, hangUp);
  const merchant = world.merchant();

  await merchant.sale({ server_callback_url: shop.url });
  await merchant.sale({ server_callback_url: "http://127.0.0.1:1/" });
  await world.settle();
  shop.answer(answerWith(204));
  await world.pass(150_000);

  assert.equal(
    (await attemptsOf(world, "connection closed without a response"))[0]?.ended,
    "delivered",
  );
  const refused = await attemptsOf(world, "connect ECONNREFUSED 127.0.0.1:1");
  assert.equal(refused.length, 2);
});

testInLongRun("what was under way when a gateway stopped is sent by the next one", async (t) => {
  const world = await joinWorld(t);
  const shop = await startReceiver(t, hang);
  const sale = await world.merchant().sale({ server_callback_url: shop.url });
  await shop.untilHeard(1);

  await world.restart();
  shop.answer(answerWith(200));
  // The attempt was aborted or has failed, and then its first gap has to pass.
  await world.pass(150_000);

  assert.equal(shop.heard.length, 2);
  assert.equal(shop.heard[1]?.fields["orderid"], sale["gw-order-id"]);
  assert.equal(shop.heard[1]?.headers["webhook-id"], shop.heard[0]?.headers["webhook-id"]);
});

test("two nodes that look at the same time send a callback once", async (t) => {
  const world = await startWorld(t);
  const shop = await startReceiver(t, answerWith(500));
  const other = await world.otherNode("other");
  const sales = Array.from({ length: 20 }, () =>
    world.merchant().sale({ server_callback_url: shop.url }),
  );
  await Promise.all(sales);
  await world.settle();

  shop.answer(answerWith(200));
  world.clock.advance(150_000);
  await Promise.all([world.gateway.settle(), other.settle()]);

  assert.equal(shop.heard.length, 40);
  assert.equal((await attemptsOf(world, 200)).length, 20);
});

test("every request that begins an order refuses a callback URL inside the operator's network", async (t) => {
  const world = await joinWorld(t);
  const merchant = world.merchant();
  const cardrefid = await world.registerCard();
  const again = (fields: SaleFields) => rebillFields({ cardrefid, ...fields });
  const operations: Readonly<Record<string, (fields: SaleFields) => Promise<unknown>>> = {
    sale: merchant.sale,
    preauth: merchant.preauth,
    verify: merchant.verify,
    makeRebill: (fields) => merchant.rebill({ cardrefid, ...fields }),
    makeRebillPreauth: (fields) => merchant.endpoint("plain").makeRebillPreauth(again(fields)),
  };

  for (const [name, ask] of Object.entries(operations)) {
    for (const url of ["http://169.254.169.254/", "http://10.0.0.1/", "http://a:b@127.0.0.1/"]) {
      const told = `${name} ${url}`;
      await assert.rejects(ask({ server_callback_url: url }), /server_callback_url/, told);
      await assert.rejects(ask({ notify_url: url }), /notify_url/, told);
    }
  }
});

/** Returns the attempts with one status or one failure. */
async function attemptsOf(world: World, outcome: number | string): Promise<readonly Kept[]> {
  return until("attempts are kept", async () => {
    const rows = await world.installation.database.query<Kept>(
      `select status, failure, answer, ended from callback_attempts
       join callbacks using (merchant_id, order_id, sequence)`,
      [],
    );
    const found = rows.filter(({ status, failure }) => outcome === (status ?? failure));
    return found.length === 0 ? undefined : found;
  });
}
