/**
 * Rows that a gateway of the previous version wrote, before the tables changed and beside them: new
 * nodes find, claim and move them like any other.
 */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import type { Order } from "../orders/order.ts";
import { approved, events, inStage, step } from "../orders/testing.ts";
import { asOrderId, asReceiptId, asSerialNumber } from "../values/ids.ts";
import { later } from "../values/time.ts";
import { makeCommit } from "./commit.ts";
import { openDatabase } from "./database.ts";
import * as find from "./find-orders.ts";
import { migrateCell } from "./migrate.ts";
import { packFacts, packProgress } from "./order-row.ts";
import { makeFixedName } from "./presence.ts";
import { startDatabase } from "./testing/database-for-tests.ts";

const server = await startDatabase();
const cell = openDatabase(server.url, {
  ...{ poolSize: 4, connectTimeoutMs: 5000, onLost: () => undefined, searchPath: "cell_earlier" },
});
const { query, hot } = cell;
after(async () => {
  await cell.close();
  await server.stop();
});

const paid = approved();
const { merchantId: merchant, acceptedAt } = paid;
const now = later(acceptedAt, 60_000);
const owed = { effect: "reverse", claimableAt: acceptedAt } as const;
const doubtful = orderOf("43000001");
const serial = asSerialNumber("0195933a-7c48-7000-8000-000000000001");

const tables = join(import.meta.dirname, "migrations/cell/0001-tables.sql");
await query("create schema cell_earlier");
await query(await readFile(tables, "utf8"));
await query("create table cell_migrations (name text primary key, applied_at timestamptz)");
await query("insert into cell_migrations values ('0001-tables.sql', now())");
await keep(paid);
await keep(doubtful);
await query(
  `insert into requests (merchant_id, serial, endpoint_id, order_id, operation, at, answer)
   values ($1, $2, 1001, $3, 'sale', now(), '{}')`,
  [merchant, serial, paid.id],
);
for (const _ of ["recorded", "recorded again"]) {
  await query(
    `insert into callback_attempts (merchant_id, order_id, sequence, at, node, method, url,
       duration_ms) values ($1, $2, 1, '2026-11-15', 'a', 'GET', '', 1)`,
    [merchant, paid.id],
  );
}
assert.equal(await migrateCell(cell, "cell_earlier", () => undefined), undefined);

test("the keys of large tables are indexes that were made while payments go on", async () => {
  const rows = await query<{ name: string }>(
    `select indexrelid::regclass::text as name from pg_index
       join pg_class on pg_class.oid = indrelid
     where relnamespace = 'cell_earlier'::regnamespace
       and (relname = 'orders' or relname ~ '_until_') and indisvalid order by 1`,
  );

  // Made under the lock, an index of the first partition would have the partition's name.
  assert.deepEqual(
    rows.map(({ name }) => name),
    [
      "callback_attempts_first_pkey",
      "order_history_first_by_time",
      "order_history_first_pkey",
      "orders_by_client_orderid",
      "orders_due",
      "orders_pkey",
      "requests_pkey",
    ],
  );
  const checks = "select from pg_constraint where conname = 'first_months'";
  assert.deepEqual(await query(checks), []);
});

test("what was there is found by its receipt, its serial number and its history", async () => {
  const receipt = asReceiptId("814660");
  const byReceipt = await find.makeFindByReceipt(query)(merchant, receipt, undefined);
  const bySerial = await find.findBySerial(hot, merchant, serial);
  const history = await find.findHistory(query, paid);

  assert.equal(byReceipt?.id, paid.id);
  assert.equal(bySerial?.orderId, paid.id);
  assert.deepEqual(
    history.map(({ kind }) => kind),
    ["received"],
  );
  assert.equal((await query("select from callback_attempts")).length, 1);
});

test("an order that was due then is due now, in doubt, and its node's", async () => {
  assert.deepEqual((await find.makeFindDue(hot)(now, 9)).map(idOf), [doubtful.id]);
  assert.deepEqual((await find.makeFindOwned(hot)("left")).map(idOf), [doubtful.id]);
  assert.deepEqual((await find.findInDoubt(query, 9)).map(idOf), [doubtful.id]);
  assert.equal(await find.countInDoubt(query), 1);
});

test("a step makes it due in the new way, and no longer in the old one", async () => {
  const commit = makeCommit(hot, makeFixedName("right"), { callbackLeaseMs: 1000 });
  const claimed = step(doubtful, { kind: "claimed", node: "right" }, now);

  assert.equal(await commit(claimed), "done");

  assert.deepEqual(await find.makeFindDue(hot)(now, 9), []);
  assert.equal((await query("select from orders where due_at is not null")).length, 0);
  const dueAt = claimed.order.owed?.claimableAt ?? assert.fail();
  assert.deepEqual((await find.makeFindDue(hot)(dueAt, 9)).map(idOf), [doubtful.id]);
  assert.deepEqual((await find.makeFindOwned(hot)("right")).map(idOf), [doubtful.id]);

  // A gateway of the previous version ends it, and leaves the row of `due` behind.
  await query("update orders set version = version + 1, owes = null, due_at = null");
  assert.deepEqual(await find.makeFindDue(hot)(dueAt, 9), []);
  assert.equal((await query("select from due")).length, 0);
  assert.equal(await commit(step(claimed.order, events.reversed, now)), "stale");
});

test("a gateway of the previous version writes beside the new tables", async () => {
  const beside = orderOf("44000001");

  await keep(beside);

  assert.deepEqual((await find.makeFindDue(hot)(now, 9)).map(idOf), [beside.id]);
});

function orderOf(id: string): Order {
  const order = { ...inStage("reversing"), owed, deadlineAt: now };
  return { ...order, id: asOrderId(id), clientOrderId: `invoice-${id}` };
}

function idOf({ id }: Order): string {
  return id;
}

/** By the statements of the previous version. */
async function keep(order: Order): Promise<void> {
  const { kind, stage } = order.transaction;
  const isOpen = order.owed !== undefined;
  await query(
    `insert into orders (merchant_id, id, endpoint_id, client_orderid, attempt, digest, version,
       kind, stage, owes, carrier, due_at, amount, currency, accepted_at, finished_at, facts,
       progress)
     values ($1, $2, $3, $4, 1, '', $5, $6, $7, $8, $9, to_timestamp($10::float8 / 1000), 1042,
       'USD', to_timestamp($11::float8 / 1000), to_timestamp($12::float8 / 1000), $13, $14)
     on conflict do nothing`,
    [
      ...[order.merchantId, order.id, order.endpointId, order.clientOrderId, order.version, kind],
      ...[stage, order.owed?.effect ?? null, isOpen ? "left" : null],
      ...[order.owed?.claimableAt ?? null, order.acceptedAt, isOpen ? null : order.acceptedAt],
      ...[packFacts(order), packProgress(order)],
    ],
  );
  await query(
    `insert into order_history (merchant_id, order_id, version, at, node, events)
     values ($1, $2, 1, to_timestamp($3::float8 / 1000), 'left', '[{"kind":"received"}]')`,
    [order.merchantId, order.id, order.acceptedAt],
  );
}
