/** The gateway is away for so long that the stages of its open orders have outlasted their time. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertBooksAgree, readLedger, readRows } from "../support/books.ts";
import { startCrashWorld } from "../support/crash-world.ts";
import { startLoad } from "../support/load.ts";
import { until } from "../support/until.ts";

const settings = { GW_PROCESSING_DEADLINE_S: "1" };

test("a charge in doubt is reversed, never decided by time, however long the gateway was away", async (t) => {
  const world = await startCrashWorld(t, { settings });
  let node = await world.startNode();
  await node.untilReady();
  const merchants = { set: world.set, url: () => node.url };
  await setSwitches(world.bank.url, { lostAnswerShare: 1 });
  const paying = startLoad(t, { ...merchants, clients: 4, sales: 4 });

  await until("the bank has booked all of them", async () => {
    return (await readLedger(world.dataDir)).length === 4 || undefined;
  });
  await node.kill();
  await setSwitches(world.bank.url, { lostAnswerShare: 0 });
  await untilOverdue(world.databaseUrl);
  node = await world.startNode();
  await paying.finish();

  const orders = await assertBooksAgree({ ...world, ...merchants }, paying);
  assert.deepEqual(
    orders.map(({ stage }) => stage),
    ["error", "error", "error", "error"],
  );
});

async function setSwitches(bankUrl: string, switches: object): Promise<void> {
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify(switches);
  const answer = await fetch(`${bankUrl}/switches`, { method: "POST", headers, body });
  assert.equal(answer.status, 200);
}

async function untilOverdue(databaseUrl: string): Promise<void> {
  await until("the time of every open stage is over", async () => {
    const [open] = await readRows<{ count: string }>(
      databaseUrl,
      `select count(*) from orders
       where (progress ->> 'deadlineAt')::float8 > extract(epoch from now()) * 1000`,
    );
    return open?.count === "0" || undefined;
  });
}
