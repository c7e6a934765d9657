/** Ended orders in memory, over a real database: they are read once and never returned stale. */
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { makeEndedOrders } from "../../engine/find.ts";
import { asks, events, step } from "../../orders/testing.ts";
import { asMerchantId, type OrderId } from "../../values/ids.ts";
import { asInstant } from "../../values/time.ts";
import { eraseOrder } from "../cards/erasure.ts";
import type { Database, Query } from "../server/database.ts";
import { makeFixedName } from "../server/presence.ts";
import { type DatabaseForTests, startDatabase } from "../testing/database-for-tests.ts";
import { makeSell } from "../testing/stored-rows.ts";
import { makeCommit } from "./commit.ts";
import { makeFindOrders } from "./find-orders.ts";

const merchantId = asMerchantId("7");
let tables: DatabaseForTests;
let database: Database;
let sell: () => Promise<OrderId>;
/** The statements of polls by name. */
let asked: string[] = [];
const named = { orders_by_id: "whole", orders_current: "version" } as const;

before(async () => {
  tables = await startDatabase();
  database = tables.database;
  await database.query("insert into vault.keys (id, purpose, sealed) values (1, 'cards', '')");
  sell = makeSell(database);
});
after(() => tables.stop());
beforeEach(() => {
  asked = [];
});

test("an ended order that is polled again stays in memory, and then only its version is read", async () => {
  const { poll } = openNode();
  const id = await sell();

  const [first, second] = [await poll(id), await poll(id)];
  const polled = await Promise.all([poll(id), poll(id), poll(id)]);

  assert.equal(first?.transaction.stage, "approved");
  for (const order of polled) assert.equal(order, second);
  assert.deepEqual(asked, ["whole", "whole", "version"]);
});

test("an order that was polled while it was open is not read when this node has ended it", async () => {
  const node = openNode();
  const id = await sell();
  const sale = (await node.poll(id)) ?? assert.fail();
  const [opened, ended] = returnOf(sale);
  await commit(opened);
  await node.poll(id);
  asked = [];

  await commit(ended);
  node.onStep(ended);
  const polled = await node.poll(id);

  assert.equal(polled, ended.order);
  assert.deepEqual(asked, ["version"]);
});

test("a poll returns changes by another node, an operator or a restored server", async () => {
  const { poll } = openNode();
  // biome-ignore format: a table
  const changes: readonly ((id: OrderId, order: NonNullable<Awaited<ReturnType<typeof poll>>>) => Promise<unknown>)[] = [
    async (_, order) => commit(returnOf(order)[0]),
    async (_, order) => commit(step(order, events.charged_back)),
    (id) => eraseOrder(database, { merchantId, id }, { by: "gw", at: asInstant(1_794_708_300_000) }),
    (id) => database.query("update orders set changed_at = changed_at + 1, endpoint_id = 2 where id = $1", [id]),
    (id) => database.query("update orders set finished_at = null, endpoint_id = 2 where id = $1", [id]),
  ];

  for (const change of changes) {
    const id = await sell();
    await poll(id);
    const first = (await poll(id)) ?? assert.fail();
    assert.equal(await poll(id), first);
    await change(id, first);
    const second = await poll(id);

    assert.deepEqual(second, await makeFindOrders(database.hot).byId({ merchantId, orderId: id }));
    assert.notDeepEqual(second, first);
  }
});

test("if two versions are polled at once, only the stored one is current", async () => {
  const { byId, isCurrent } = makeFindOrders(database.hot);
  const older = (await byId({ merchantId, orderId: await sell() })) ?? assert.fail();
  const stored = step(older, events.charged_back);
  await commit(stored);

  const current = await Promise.all([isCurrent(older), isCurrent(stored.order)]);

  assert.deepEqual(current, [false, true]);
});

test("another merchant cannot read an order, not even from memory", async () => {
  const { poll } = openNode();
  const id = await sell();
  for (const _ of [1, 2, 3]) await poll(id);

  assert.equal(await poll(id, asMerchantId("8")), undefined);
  assert.notEqual(await poll(id), undefined);
});

test("a poll fails while the database is unreachable, and in a cell that the merchant has left", async () => {
  let isAway = false;
  const away = Object.assign(new Error("connection terminated"), { code: "08006" });
  const { poll } = openNode((...statement) =>
    isAway ? Promise.reject(away) : database.hot(...statement),
  );
  const id = await sell();
  for (const _ of [1, 2, 3]) await poll(id);

  isAway = true;
  await assert.rejects(poll(id), away);
  isAway = false;
  await database.query("insert into moved_merchants values (7, now())");
  await assert.rejects(poll(id), { code: "22012" });
  await database.query("delete from moved_merchants");
  assert.notEqual(await poll(id), undefined);
});

test("the memory is limited in orders, bytes and time", async () => {
  const ids = await Promise.all(Array.from({ length: 6 }, sell));
  const wholeReads = async (node: ReturnType<typeof openNode>) => {
    for (const id of [...ids, ...ids]) await node.poll(id);
    asked = [];
    for (const id of ids) await node.poll(id);
    return asked.filter((what) => what === "whole").length;
  };

  assert.equal(await wholeReads(openNode()), 0);
  assert.ok((await wholeReads(openNode(database.hot, { ordersMax: 2, bytesMax: 1e9 }))) >= 2);
  assert.ok((await wholeReads(openNode(database.hot, { ordersMax: 1e9, bytesMax: 1 }))) >= 4);
  const node = openNode();
  await wholeReads(node);
  node.forgetOld();
  node.forgetOld();
  await node.poll(ids[0] ?? assert.fail());
  assert.equal(asked.at(-1), "whole");
});

function openNode(query: Query = database.hot, limits?: { ordersMax: number; bytesMax: number }) {
  const counted: Query = (text, values, name = "") => {
    const what = Object.entries(named).find(([known]) => name.startsWith(known));
    asked.push(what?.[1] ?? name);
    return query(text, values, name);
  };
  const { byId, isCurrent } = makeFindOrders(counted);
  const orders = makeEndedOrders({ find: byId, isCurrent, ...(limits && { limits }) });
  const poll = (orderId: OrderId, merchant = merchantId) =>
    orders.find({ merchantId: merchant, orderId });
  return { ...orders, poll };
}

function returnOf(sale: Parameters<typeof step>[0]) {
  const opened = step(sale, asks("return"));
  return [opened, step(opened.order, events.returned)] as const;
}

/** Commits a step as another node. */
function commit(taken: ReturnType<typeof step>) {
  return makeCommit(database.hot, makeFixedName("node-2"), { callbackLeaseMs: 1000 })(taken);
}
