/** A node is killed with callbacks in flight. The next node sends them, and none is lost. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Moment, statement } from "../support/bank/trap-proxy.ts";
import { readRows } from "../support/books.ts";
import { type Node, startCrashWorld } from "../support/crash-world.ts";
import { makeLoadClient } from "../support/load.ts";
import { saleFields } from "../support/merchant.ts";
import { answerWith, hang, type Receiver, startReceiver } from "../support/receiver.ts";
import { rowsOf, testInLongRun } from "../support/series.ts";
import { until, untilTrue } from "../support/until.ts";

/** A callback's lease is four times as long as an attempt may take. */
const settings = { GW_CALLBACK_TIMEOUT_S: "2", GW_CALLBACK_RETRY_GAPS_S: "1,1,1" };
/**
 * A receiver may take ten minutes, and a lease is four times as long, so the test waits for
 * neither.
 */
const patient = { GW_CALLBACK_TIMEOUT_S: "600" };

/**
 * The run of the point, what the trap waits for, and how often the shop has received the callback
 * by then.
 */
type Point = readonly [
  run: "short" | "long",
  name: string,
  makeMoment: () => Moment,
  heardBefore: number,
];

// biome-ignore format: a table
const allPoints: readonly Point[] = [
  ["long",  "when it is told and that is written",               () => statement("record_callbacks_1", "after", 1),  1],
  ["short", "when the result is written and before it is told",  () => statement("move_orders_1", "after", 1),       0],
  ["short", "when it is told and before that is written",        () => statement("record_callbacks_1", "before", 1), 1],
];
const points = rowsOf(allPoints, ([run]) => run === "short");

const shared = await startCrashWorld({ after }, { settings });
let node: Node;

before(async () => {
  node = await shared.startNode();
});

for (const [index, [, name, makeMoment, heardBefore]] of points.entries()) {
  test(`the callback of a node killed ${name} arrives`, async (t) => {
    const shop = await startReceiver(t);
    await node.untilReady();
    let sprung = false;
    const spring = () => {
      sprung = node.child.kill("SIGKILL");
    };
    shared.proxies.database.set({ ...makeMoment(), spring });

    const endpoint = makeLoadClient({ set: shared.set, url: () => node.url });
    const sale = await endpoint.sale(saleFields({ server_callback_url: shop.url }));
    await untilTrue("the trap has gone off", () => sprung);
    await node.kill();
    const heard = shop.heard.length;
    shared.proxies.database.reset();
    node = await shared.startNode(index + 1 < points.length ? {} : patient);
    await untilDelivered(shared.databaseUrl, index + 1);

    assert.equal(heard, heardBefore);
    assert.ok(shop.heard.length >= 1 && shop.heard.length <= 2);
    assertSame(shop, sale["gw-order-id"]);
  });
}

test("another node at once sends the callbacks that a stopped node was sending", async (t) => {
  const shop = await startReceiver(t, hang);
  const neighbour = await shared.startNode({ ...patient, GW_NODE_NAME: "neighbour" });
  await Promise.all([node.untilReady(), neighbour.untilReady()]);
  const endpoint = makeLoadClient({ set: shared.set, url: () => node.url });
  const sale = await endpoint.sale(saleFields({ server_callback_url: shop.url }));
  await shop.untilHeard(1);
  shop.answer(answerWith(200));

  const code = await node.stop();
  await shop.untilHeard(2);
  await untilDelivered(shared.databaseUrl, points.length + 1);
  const stopped = node;
  node = neighbour;

  const tries = await readRows<{ node: string; failure: string | null }>(
    shared.databaseUrl,
    `select node, failure from callback_attempts
     where order_id = ${BigInt(sale["gw-order-id"])} order by at`,
  );
  assert.equal(code, 0, stopped.output);
  assertSame(shop, sale["gw-order-id"]);
  assert.deepEqual(
    tries.map(({ failure }) => failure),
    ["cancelled: the node stopped", null],
  );
  assert.equal(tries[1]?.node, "neighbour");
  assert.notEqual(tries[0]?.node, "neighbour");
});

// The points above have one order each. The simulator kills nodes with many orders, in every run.
testInLongRun("what a killed node was telling is told again by its neighbour", async (t) => {
  const world = await startCrashWorld(t, { settings });
  const shop = await startReceiver(t, hang);
  const left = await world.startNode({ GW_NODE_NAME: "left", GW_CALLBACK_TIMEOUT_S: "5" });
  await left.untilReady();
  const endpoint = makeLoadClient({ set: world.set, url: () => left.url });
  const sale = await endpoint.sale(saleFields({ server_callback_url: shop.url }));
  await shop.untilHeard(1);

  await left.kill();
  shop.answer(answerWith(200));
  await world.startNode({ GW_NODE_NAME: "right" });
  await untilDelivered(world.databaseUrl, 1);

  assert.equal(shop.heard.length, 2);
  assertSame(shop, sale["gw-order-id"]);
  const tries = await readRows<{ node: string }>(
    world.databaseUrl,
    "select node from callback_attempts",
  );
  assert.deepEqual(
    tries.map(({ node }) => node),
    ["right"],
  );
});

testInLongRun("of many orders under kills, each is told in the end", async (t) => {
  const shop = await startReceiver(t);
  // The node gets a short lease, so that its callbacks are sent again soon after it is killed.
  await node.stop();
  node = await shared.startNode();
  await node.untilReady();
  const endpoint = makeLoadClient({ set: shared.set, url: () => node.url });
  const sales: string[] = [];
  let isEnough = false;
  const pay = async () => {
    while (!isEnough) {
      const sale = await endpoint.sale(saleFields({ server_callback_url: shop.url }));
      sales.push(sale["gw-order-id"]);
    }
  };

  const paying = Promise.all(Array.from({ length: 10 }, pay));
  for (let kills = 0; kills < 20; kills += 1) {
    const enough = sales.length + 40;
    await untilTrue("some more orders are taken", () => sales.length >= enough);
    await node.kill();
    node = await shared.startNode();
  }
  isEnough = true;
  await paying;
  await untilDelivered(shared.databaseUrl, points.length + 1 + sales.length);

  const told = new Set(shop.heard.map(({ fields }) => fields["orderid"]));
  assert.deepEqual([...told].sort(), sales.sort());
});

function untilDelivered(databaseUrl: string, count: number): Promise<true> {
  return until(`${count} callbacks are delivered`, async () => {
    const rows = await readRows(
      databaseUrl,
      "select order_id from callbacks where ended = 'delivered'",
    );
    return rows.length >= count ? true : undefined;
  });
}

/** Asserts that all callbacks are about the same order and have the same id. */
function assertSame({ heard }: Receiver, orderId: string): void {
  assert.deepEqual([...new Set(heard.map(({ fields }) => fields["orderid"]))], [orderId]);
  assert.equal(new Set(heard.map(({ headers }) => headers["webhook-id"])).size, 1);
}
