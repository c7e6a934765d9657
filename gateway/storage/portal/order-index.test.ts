/** The sweep after a long stop: every order is counted once, and few are read at a time. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { describeOrder, figuresOf } from "../../portal-api/order-index.ts";
import { asOrderId } from "../../values/ids.ts";
import { asInstant, hours, later, minutes } from "../../values/time.ts";
import { eraseOrder } from "../cards/erasure.ts";
import { listOrdersAfter } from "../orders/find-orders.ts";
import { addOrders } from "../orders/generated-orders.ts";
import { startDatabase } from "../testing/database-for-tests.ts";
import { makeSell } from "../testing/stored-rows.ts";
import { makeOrderIndex } from "./order-index.ts";

const server = await startDatabase();
after(() => server.stop());
const { database } = server;
const { query } = database;

test("a sweep after a stop reads in parts and counts every order once", async () => {
  const template = await makeSell(database)();
  const [row] = await query<{ merchant: string }>("select merchant_id as merchant from orders");
  const made = { template, merchant: row?.merchant ?? "", days: 0.0003 };
  await addOrders(query, { ...made, from: 1, count: 1_200, total: 1_200 });
  await query("delete from order_history where order_id = $1", [template]);
  await query("update order_index_progress set swept_at = now() - interval '30 minutes'");
  const now = later(asInstant(Date.now()), minutes(1));
  let most = 0;
  const counting: typeof query = async (...given) => {
    const rows = await query(...given);
    most = Math.max(most, rows.length);
    return rows as never;
  };
  const options = { describe: describeOrder, figuresOf, now: () => now };
  const { sweep } = makeOrderIndex({ ...database, query: counting }, options);

  while (await sweep(now));

  const [counts] = await query(
    `select (select count(*)::int from order_index) as orders, sum(count)::int as counted
     from order_figures where merchant_id = 0 and grain = 'day' and name = 'outcome'`,
  );
  assert.deepEqual(counts, { orders: 1_200, counted: 1_200 });
  assert.equal(most, 500);
});

test("an order that ended months after its answer is indexed with the others", async () => {
  const [order] = await listOrdersAfter(query, asOrderId("0"), 1);
  assert.ok(order?.transaction.finishedAt !== undefined);
  const finishedAt = later(order.transaction.finishedAt, hours(24 * 90));
  const transaction = { ...order.transaction, finishedAt };
  const settled = { ...order, version: order.version + 1, transaction };
  const options = { describe: describeOrder, figuresOf, now: () => asInstant(Date.now()) };

  await makeOrderIndex(database, options).write([settled]);

  const [row] = await query(
    "select version, overhead_ms as overhead from order_index where order_id = $1",
    [order.id],
  );
  assert.deepEqual(row, { version: settled.version, overhead: 3_600_000 });
  const page = { expiresAt: finishedAt, triesMax: 3, refused: [] };
  assert.equal(describeOrder({ ...settled, page }).overheadMs, null);
});

test("new orders, a later version and an earlier one are written together, each counted once", async () => {
  await query("truncate order_index, order_figures");
  const options = { describe: describeOrder, figuresOf, now: () => asInstant(Date.now()) };
  const { write } = makeOrderIndex(database, options);
  const [older, changed, added] = await listOrdersAfter(query, asOrderId("0"), 3);
  assert.ok(older !== undefined && changed !== undefined && added !== undefined);
  const declined = { ...changed.transaction, stage: "declined" as const };
  await write([{ ...older, version: older.version + 1 }, changed]);

  await write([older, { ...changed, version: changed.version + 1, transaction: declined }, added]);

  const rows = await query(
    "select order_id as id, version - $1::int as ahead, status from order_index order by order_id",
    [older.version],
  );
  assert.deepEqual(rows, [
    { id: older.id, ahead: 1, status: "captured" },
    { id: changed.id, ahead: 1, status: "declined" },
    { id: added.id, ahead: 0, status: "captured" },
  ]);
  const counts = await query(
    `select key, sum(count)::int as count from order_figures
     where merchant_id = 0 and grain = 'day' and name = 'outcome' group by key order by key`,
  );
  assert.deepEqual(counts, [
    { key: "approved", count: 2 },
    { key: "declined", count: 1 },
  ]);
});

test("a node's memory does not bring an erased order back", async () => {
  await query("truncate order_index, order_figures");
  const options = { describe: describeOrder, figuresOf, now: () => asInstant(Date.now()) };
  const { write } = makeOrderIndex(database, options);
  const [order] = await listOrdersAfter(query, asOrderId("0"), 1);
  assert.ok(order !== undefined && order.card.lastFour !== "");
  await write([{ ...order, version: order.version - 1 }]);

  await eraseOrder(database, order, { by: "gw-test", at: asInstant(Date.now()) });
  await write([order]);

  const [row] = await query<{ known: string }>(allKnown);
  assert.match(row?.known ?? "", /^o:/);
  assert.doesNotMatch(row?.known ?? "", /\b[el]:/);
});

test("an order that is erased while a node indexes it is erased there too", async () => {
  await query("truncate order_index, order_figures");
  const [, order] = await listOrdersAfter(query, asOrderId("0"), 2);
  assert.ok(order !== undefined && order.card.lastFour !== "");
  const [written, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const transaction: typeof database.transaction = (work) =>
    database.transaction(async (inside) => {
      const result = await work(inside);
      written.resolve();
      await released.promise;
      return result;
    });
  const options = { describe: describeOrder, figuresOf, now: () => asInstant(Date.now()) };
  const writing = makeOrderIndex({ ...database, transaction }, options).write([order]);
  await written.promise;

  const erasing = eraseOrder(database, order, { by: "gw-test", at: asInstant(Date.now()) });
  await Promise.race([erasing, untilOneWaits()]);
  released.resolve();
  await Promise.all([writing, erasing]);

  const [row] = await query<{ known: string }>(allKnown);
  assert.match(row?.known ?? "", /^o:/);
  assert.doesNotMatch(row?.known ?? "", /\b[el]:/);
});

const allKnown = `
  select email || name || last_four || array_to_string(people || words, ' ') as known
  from order_index`;

async function untilOneWaits(): Promise<void> {
  while ((await query("select from pg_locks where not granted")).length === 0);
}

test("generated orders, which no node has written, are indexed by a walk, and count once", async () => {
  await query("truncate order_index, order_figures");
  await query("update order_index_progress set walked_id = 0");
  const options = { describe: describeOrder, figuresOf, now: () => asInstant(Date.now()) };
  const { write, walk } = makeOrderIndex(database, options);
  const [, , order] = await listOrdersAfter(query, asOrderId("0"), 3);
  assert.ok(order !== undefined);
  await write([order]);
  const [{ count: all } = { count: 0 }] = await query<{ count: number }>(
    "select count(*)::int from orders",
  );

  while ((await walk()) > 0);

  const [row] = await query(
    `select (select count(*)::int from order_index) as indexed,
       (select sum(count)::int from order_figures
        where merchant_id = 0 and grain = 'day' and name = 'outcome') as counted`,
  );
  assert.deepEqual(row, { indexed: all, counted: all });
});
