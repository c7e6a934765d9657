/**
 * The connection of the gateway to its database breaks at bad moments while the gateway stays up;
 * or the gateway is down for so long that the stages of its open orders have expired.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { makeClient } from "@tollgate/client";
import { setLatency } from "../support/bank/bank-program.ts";
import { nthMention } from "../support/bank/trap-proxy.ts";
import { assertBooksAgree, readLedger, readRows } from "../support/books.ts";
import { type Node, startCrashWorld } from "../support/crash-world.ts";
import { type Sale, startLoad } from "../support/load.ts";
import { type Acknowledged, makeMerchant } from "../support/merchant.ts";
import { until, untilTrue } from "../support/until.ts";

const world = await startCrashWorld({ after }, { settings: { GW_DRAIN_S: "2" } });
const merchants = { set: world.set, url: () => node.url };
const paid: Sale[] = [];
/** Settings of a node on which the stages of open orders expire soon. */
const brief = { GW_PROCESSING_DEADLINE_S: "1" };
let node: Node;

before(async () => {
  node = await world.startNode();
});

// biome-ignore format: a table
const steps = [
  ["while it takes its name again", "pg_try_advisory_lock"],
  ["while it subscribes again",     "listen "],
] as const;

for (const [name, said] of steps) {
  test(`a node whose connection breaks ${name} stays up and is ready again`, async () => {
    const { database } = world.proxies;
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

    assert.ok(node.isRunning, node.output);
  });
}

test("a gateway whose database disappears during a claim stops in time", async (t) => {
  // This node's connections broke in the tests before.
  const { database, acquirer } = world.proxies;
  await node.untilReady();
  await setLatency(world.bank.url, 150);
  const paying = startLoad(t, { ...merchants, clients: 16 });
  let broken = false;
  const spring = () => {
    broken = true;
  };
  const isRequest = nthMention("claimed", 1);
  database.set({ moment: "before", isRequest, isAnswer: () => false, spring });

  await untilTrue("orders are taken", () => paying.acknowledged >= 20);
  acquirer.shut();
  await untilTrue("an order in doubt is taken up again", () => broken);
  const code = await node.stop();
  await paying.leave();
  database.reset();
  acquirer.reset();
  node = await world.startNode(brief);

  paid.push(...paying.sales);
  await assertBooksAgree({ ...world, ...merchants }, { sales: paid });
  assert.equal(code, 0, "it had to be killed, or ended badly");
});

test("a charge in doubt is reversed after any outage of the gateway, and never decided by time", async (t) => {
  await node.untilReady();
  const known = (await readLedger(world.dataDir)).length;
  await setSwitches(world.bank.url, { lostAnswerShare: 1 });
  const paying = startLoad(t, { ...merchants, clients: 4, sales: 4 });

  await until("the bank has booked all of them", async () => {
    return (await readLedger(world.dataDir)).length === known + 4 || undefined;
  });
  await node.kill();
  await setSwitches(world.bank.url, { lostAnswerShare: 0 });
  await untilOverdue(world.databaseUrl);
  node = await world.startNode(brief);
  await paying.finish();

  paid.push(...paying.sales);
  const orders = await assertBooksAgree({ ...world, ...merchants }, { sales: paid });
  const own = new Set(paying.sales.map(({ fields }) => fields.client_orderid));
  assert.deepEqual(
    orders.filter(({ client_orderid }) => own.has(client_orderid)).map(({ stage }) => stage),
    ["error", "error", "error", "error"],
  );
});

test("a return that a stopped node reads late is carried out, and its repeat that failed stays failed", async () => {
  await node.untilReady();
  const other = await world.startNode({ GW_NODE_NAME: "other" });
  await other.untilReady();
  const [stopped, running] = [node, other].map((each) =>
    makeMerchant({ set: world.set, makeClient, baseUrl: () => each.url }),
  );
  assert.ok(stopped !== undefined && running !== undefined);
  const untilEnded = (asked: Acknowledged) =>
    until("the transaction has ended", async () => {
      const { status } = await running.describe(asked);
      return status === "processing" ? undefined : status;
    });
  const sale = await running.sale();
  assert.equal(await untilEnded(sale), "approved");

  node.child.kill("SIGSTOP");
  const late = stopped.return(sale);
  world.proxies.acquirer.shut();
  const failed = await running.return(sale);
  assert.equal(await untilEnded(failed), "error");
  world.proxies.acquirer.reset();
  node.child.kill("SIGCONT");

  assert.equal(await untilEnded(await late), "approved");
  assert.equal((await running.describe(failed)).status, "error");
});

async function endSessions(databaseUrl: string): Promise<void> {
  await readRows(
    databaseUrl,
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid()`,
  );
}

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
