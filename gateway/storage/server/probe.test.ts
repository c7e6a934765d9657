/** Probes in a real database stall when the queue stalls, and fail when an order would fail. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { makeBegin } from "../orders/commit.ts";
import { makeFindOrders } from "../orders/find-orders.ts";
import { startDatabase, startOwn } from "../testing/database-for-tests.ts";
import { openDatabase } from "./database.ts";
import { makeFixedName } from "./presence.ts";

const { database, url, stop } = await startDatabase(await startOwn());
after(stop);
const options = { retryMs: 60_000, callbackLeaseMs: 60_000 };

test("the probe of new orders waits for the synchronous standby, as an order would", async () => {
  const waiting = "select from pg_stat_activity where wait_event = 'SyncRep'";
  await setStandby("= 'absent'");
  const { query } = openWith("synchronous_commit");
  const probe = makeBegin(query, makeFixedName("a"), options).probe();
  while ((await database.query(waiting)).length === 0);
  await setStandby("to default");

  await probe;
  await makeFindOrders(database.hot).probe();
  assert.deepEqual(await database.query("select from orders"), []);
});

test("probes wait while the table of orders cannot be reached", async () => {
  const waiting = "select from pg_locks where not granted and relation = 'orders'::regclass";
  const probes = await database.transaction(async (query) => {
    await query("lock table orders in access exclusive mode");
    const probe = makeBegin(database.query, makeFixedName("a"), options).probe();
    const read = makeFindOrders(database.hot).probe();
    while ((await query(waiting)).length < 2);
    return { all: Promise.all([probe, read]) };
  });

  await probes.all;
});

test("a server that takes no writes fails the probe at once, without retries", async () => {
  const standby = openWith("default_transaction_read_only");

  await assert.rejects(makeBegin(standby.query, makeFixedName("a"), options).probe(), {
    code: "25006",
  });
});

function openWith(switchedOn: string) {
  const option = `options=-c%20${switchedOn}%3Don%20-c%20search_path%3Dpublic%2Cvault`;
  const other = `${url}${url.includes("?") ? "&" : "?"}${option}`;
  const opened = openDatabase(other, { poolSize: 1, connectTimeoutMs: 5000, onLost() {} });
  after(() => opened.close());
  return opened;
}

async function setStandby(value: string): Promise<void> {
  await database.query(`alter system set synchronous_standby_names ${value}`);
  await database.query("select pg_reload_conf()");
}
