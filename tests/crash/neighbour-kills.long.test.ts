/** The gateway's neighbours, the database and the bank, are killed under load while it stays up. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type BankProgram, startBankProgram } from "../support/bank/bank-program.ts";
import { assertBooksAgree, readRows } from "../support/books.ts";
import { startCrashWorld } from "../support/crash-world.ts";
import { startOwnServer } from "../support/databases/database-server.ts";
import { type Load, startLoad } from "../support/load.ts";
import { untilTrue } from "../support/until.ts";

test("a database killed under load costs no order, and the gateway comes back by itself", async (t) => {
  const server = await startOwnServer(t);
  // The database is back within the time for which orders are tried again.
  const settings = { GW_ACCEPT_RETRY_S: "60" };
  const world = await startCrashWorld(t, { databaseUrl: server.url, settings });
  const node = await world.startNode();
  await node.untilReady();
  const merchants = { set: world.set, url: () => node.url };
  const paying = startLoad(t, { ...merchants, clients: 16 });

  for (let kills = 0; kills < 2; kills += 1) {
    await untilMore(paying, 40);
    await server.killAndAwaitNext();
    await node.untilReady();
  }
  await untilMore(paying, 40);
  await paying.finish();

  const orders = await assertBooksAgree({ ...world, ...merchants }, paying);
  assert.equal(orders.length, paying.sales.length);
  assert.deepEqual(
    orders.filter(({ stage }) => stage !== "approved"),
    [],
  );
  assert.ok(node.isRunning);
});

test("a gateway whose database dies before its first order takes orders when it is back", async (t) => {
  const server = await startOwnServer(t);
  const world = await startCrashWorld(t, { databaseUrl: server.url });
  const node = await world.startNode();
  await node.untilReady();
  const merchants = { set: world.set, url: () => node.url };

  const killing = server.killAndAwaitNext();
  const paying = startLoad(t, { ...merchants, clients: 4, sales: 8 });
  await killing;
  await paying.finish();

  const orders = await assertBooksAgree({ ...world, ...merchants }, paying);
  assert.equal(orders.length, 8);
});

test("the doubt after a bank was killed under load is settled when it is back", async (t) => {
  let bank: BankProgram | undefined;
  const world = await startCrashWorld(t, {
    async startBank(dataDir) {
      bank = await startBankProgram(t, dataDir);
      return bank;
    },
  });
  const node = await world.startNode();
  await node.untilReady();
  const merchants = { set: world.set, url: () => node.url };
  const paying = startLoad(t, { ...merchants, clients: 16 });

  await untilMore(paying, 30);
  await bank?.kill();
  await untilMore(paying, 20);
  await bank?.startAgain();
  await node.untilReady();
  await untilMore(paying, 20);
  await paying.finish();

  const orders = await assertBooksAgree({ ...world, ...merchants }, paying);
  const reversed = await readRows<{ count: string }>(
    world.databaseUrl,
    `select count(distinct order_id) from order_history where events::text like '%"reversed"%'`,
  );
  assert.equal(orders.length, paying.sales.length);
  assert.ok(orders.some(({ stage }) => stage === "error"));
  assert.notEqual(reversed[0]?.count, "0", "nothing was in flight when the bank was killed");
});

async function untilMore(paying: Load, more: number): Promise<void> {
  const enough = paying.acknowledged + more;
  await untilTrue(`${more} more orders are taken`, () => paying.acknowledged >= enough);
}
