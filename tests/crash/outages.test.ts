/**
 * The gateway's way to its database breaks at awkward moments, and the gateway itself stays up; or
 * the gateway is away for so long that the stages of its open orders have outlasted their time.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setLatency } from "../support/bank/bank-program.ts";
import { nthMention } from "../support/bank/trap-proxy.ts";
import { assertBooksAgree, readLedger, readRows } from "../support/books.ts";
import { startCrashWorld } from "../support/crash-world.ts";
import { startLoad } from "../support/load.ts";
import { until, untilTrue } from "../support/until.ts";

// biome-ignore format: a table
const steps = [
  ["while it takes its name again", "pg_try_advisory_lock"],
  ["while it subscribes again",     "listen "],
] as const;

for (const [name, said] of steps) {
  test(`a node whose connection breaks ${name} stays up and can be stopped`, async (t) => {
    const world = await startCrashWorld(t);
    const { database } = world.proxies;
    const node = await world.startNode();
    await node.untilReady();
    let broken = false;
    const spring = () => {
      broken = true;
    };
    const isRequest = nthMention(said, 1);
    database.set({ moment: "before", isRequest, isAnswer: () => false, spring });

    await endSessions(world.databaseUrl);
    await untilTrue("the connection broke again", () => broken);
    database.reset();
    await node.untilReady();
    const code = await node.stop();

    assert.equal(code, 0, node.output);
  });
}

test("a gateway told to stop when its database went away amid a take-over stops in time", async (t) => {
  const world = await startCrashWorld(t, { settings: { GW_DRAIN_S: "2" } });
  const { database, acquirer } = world.proxies;
  let node = await world.startNode();
  await node.untilReady();
  const merchants = { set: world.set, url: () => node.url };
  await setLatency(world.bank.url, 150);
  const paying = startLoad(t, { ...merchants, clients: 16 });
  let broken = false;
  const spring = () => {
    broken = true;
  };
  const isRequest = nthMention("claimed", 1);
  database.set({ moment: "before", isRequest, isAnswer: () => false, spring });

  await untilTrue("orders are taken", () => paying.acknowledged >= 60);
  acquirer.shut();
  await untilTrue("an order in doubt is taken up again", () => broken);
  const code = await node.stop();
  await paying.leave();
  database.reset();
  acquirer.reset();
  node = await world.startNode();

  await assertBooksAgree({ ...world, ...merchants }, paying);
  assert.equal(code, 0, "it had to be killed, or ended badly");
});

async function endSessions(databaseUrl: string): Promise<void> {
  await readRows(
    databaseUrl,
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid()`,
  );
}

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
