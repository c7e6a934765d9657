/**
 * The database is down for longer than a lease. When it is back, no node claims the orders of
 * another node before that one has had the time to commit the answers that it knows.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertBooksAgree, readRows } from "../support/books.ts";
import { shortLease, startCrashWorldOn } from "../support/crash-world.ts";
import { startLoad } from "../support/load.ts";
import { bankInProcess } from "../support/place.ts";
import { until, untilTrue } from "../support/until.ts";

const sales = 12;
/** Its commits hang until after the outage: the lease is eight seconds long. */
const slow = { GW_NODE_NAME: "slow", GW_DATABASE_STATEMENT_TIMEOUT_S: "12" };
/** It looks for due orders as soon as the database is back. */
const quick = {
  GW_NODE_NAME: "quick",
  GW_DATABASE_STATEMENT_TIMEOUT_S: "1",
  GW_DATABASE_CONNECT_TIMEOUT_S: "1",
};

test("approvals that a node knows are not reversed by another node after an outage", async (t) => {
  const startBank = bankInProcess(t);
  const world = await startCrashWorldOn(t, { startBank, settings: shortLease });
  const { acquirer, database } = world.proxies;
  const received = (mti: string) =>
    world.bank.messages().filter((each) => each.direction === "received" && each.mti === mti);
  const knowing = await world.startNode(slow);
  const other = await world.startNode(quick);
  for (const node of [knowing, other]) await node.untilReady();
  const merchants = { set: world.set, url: () => knowing.url };

  acquirer.hold();
  const paying = startLoad(t, { ...merchants, clients: sales, sales });
  await paying.finish();
  await untilTrue("the bank has every charge", () => received("0200").length === sales);
  database.silence();
  acquirer.release();
  await until("every lease is over", async () => {
    const [left] = await readRows<{ count: string }>(world.databaseUrl, leasesLeft);
    return left?.count === "0" || undefined;
  });
  database.reset();
  const orders = await assertBooksAgree({ ...world, ...merchants }, paying);

  assert.deepEqual(new Set(orders.map(({ stage }) => stage)), new Set(["approved"]));
  assert.deepEqual(received("0420"), []);
});

const leasesLeft = `
  select count(*) from orders
  where (progress #>> '{owed,claimableAt}')::float8 > extract(epoch from now()) * 1000`;
