/** A node writes its orders to the portal's tables in a real database at the right times. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Order } from "../../orders/order.ts";
import { describeOrder, figuresOf } from "../../portal-api/order-index.ts";
import { asOrderId } from "../../values/ids.ts";
import { systemClock } from "../../values/time.ts";
import { makeCells } from "../cells/cells.ts";
import { listOrdersAfter } from "../orders/find-orders.ts";
import { startDatabase } from "../testing/database-for-tests.ts";
import { listIndexed, makeSell } from "../testing/stored-rows.ts";
import { type IndexQueue, makeIndexQueue } from "./index-queue.ts";

const server = await startDatabase();
after(() => server.stop());
const main = { node: server.database, vault: server.database };
const cells = makeCells({ main, open: () => main, waitMs: 100, onFailed: () => undefined });
cells.follow({ current: () => ({ cells: [], cellOf: new Map() }), reload: async () => undefined });
const sell = makeSell(server.database);
await sell();
await sell();
const [ended, other] = await listOrdersAfter(server.database.query, asOrderId("0"), 2);
assert.ok(ended !== undefined && other !== undefined);
const waitMs = 3_600_000;
const options = { cells, now: systemClock.now, waitMs, describe: describeOrder, figuresOf };
const isWaiting = async (job: IndexQueue) => (await job.whenWaiting(async () => true)()) === true;
const open: Order = { ...other, transaction: { ...other.transaction, finishedAt: undefined } };

test("an ended order is written with the next batch, and an open one waits", async () => {
  const job = makeIndexQueue(options);
  assert.equal(await isWaiting(job), false);
  job.onStep({ order: ended });
  job.onStep({ order: open });

  const writing = job.write();
  await job.write();
  const atFirst = [await listIndexed(server.database), await isWaiting(job)];
  await writing;
  await job.flush();

  assert.deepEqual(atFirst, [[ended.id], true]);
  assert.deepEqual(await listIndexed(server.database), [ended.id, open.id]);
  assert.equal(await isWaiting(job), false);
});

test("a flush that finds nothing to write ends after the write before it", async () => {
  const job = makeIndexQueue(options);
  const waiting = "select from pg_locks where not granted and relation = 'order_index'::regclass";
  const done: string[] = [];

  const { all } = await server.database.transaction(async (query) => {
    await query("lock table order_index in exclusive mode");
    job.onStep({ order: { ...ended, version: ended.version + 1 } });
    const writing = job.write().then(() => done.push("written"));
    while ((await query(waiting)).length === 0);
    const flushing = job.flush().then(() => done.push("flushed"));
    return { all: Promise.all([writing, flushing]) };
  });
  await all;

  assert.deepEqual(done, ["written", "flushed"]);
});
