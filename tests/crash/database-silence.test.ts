/**
 * The connection to the database goes silent: nothing is refused and nothing is answered.
 * Statements that the gateway has given up may still be executed by the server later.
 */
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { makeClient, Refused } from "@tollgate/client";
import pg from "pg";
import { setLatency } from "../support/bank/bank-program.ts";
import { assertBooksAgree, readLedger, readRows } from "../support/books.ts";
import { atEnd } from "../support/clean-up.ts";
import { type CrashWorld, type Node, shortLease, startCrashWorld } from "../support/crash-world.ts";
import { testSearchPath } from "../support/databases/database-server.ts";
import { waitingLocks } from "../support/databases/locks.ts";
import { endOfFile } from "../support/end-of-file.ts";
import { type Load, startLoad } from "../support/load.ts";
import { makeMerchant } from "../support/merchant.ts";
import { testInLongRun } from "../support/series.ts";
import { until, untilTrue } from "../support/until.ts";

const statementMs = 2_000;
const connectMs = 1_000;
/**
 * The limit is after the timeout and before keep-alive probes notice a silent server, which takes
 * 15 s.
 */
const firstAnswerMs = 12_000;

let world: CrashWorld;
let node: Node;
const sales: Load["sales"][number][] = [];

before(async () => {
  world = await startCrashWorld(endOfFile);
  node = await world.startNode({
    ...shortLease,
    GW_DATABASE_CONNECT_TIMEOUT_S: String(connectMs / 1000),
    GW_DATABASE_STATEMENT_TIMEOUT_S: String(statementMs / 1000),
  });
  await node.untilReady();
  await setLatency(world.bank.url, 50);
});

test("silent connections are replaced, and a sale is delayed by the timeout at most", async (t) => {
  const paying = startLoad(t, { ...merchants(), clients: 8 });
  await untilMore(paying, 20);

  world.proxies.database.silence("open");
  const startedAt = performance.now();
  await untilNewAnswered(paying);
  const durationMs = performance.now() - startedAt - statementMs;
  await untilMore(paying, 20);
  await paying.finish();

  t.diagnostic(`first acknowledgement ${Math.round(durationMs)} ms after the time-out`);
  await assertNoAnswerDropped(paying);
  assert.ok(durationMs < firstAnswerMs, `${durationMs} ms`);
});

test("while the database is silent sales get 503, and every known answer is written later", async (t) => {
  const paying = startLoad(t, { ...merchants(), clients: 8 });
  await untilMore(paying, 20);

  world.proxies.database.silence();
  const startedAt = performance.now();
  const status = await saleOnce();
  const refusedMs = performance.now() - startedAt;
  world.proxies.database.reset();
  const backAt = performance.now();
  await untilNewAnswered(paying);
  const durationMs = performance.now() - backAt - statementMs - connectMs;
  await untilMore(paying, 20);
  await paying.finish();

  t.diagnostic(`503 after ${Math.round(refusedMs)} ms`);
  t.diagnostic(`first acknowledgement ${Math.round(durationMs)} ms after the time-outs`);
  await assertNoAnswerDropped(paying);
  assert.equal(status, 503);
  assert.ok(refusedMs < 30_000, `${refusedMs} ms`);
  assert.ok(durationMs < firstAnswerMs, `${durationMs} ms`);
});

/** Sends a sale of a merchant that does not try again. Returns the HTTP status of the refusal. */
async function saleOnce(): Promise<number | undefined> {
  const merchant = makeMerchant({ set: world.set, baseUrl: () => node.url, makeClient });
  const refused = await merchant.sale().catch((error) => error);
  return refused instanceof Refused ? refused.httpStatus : undefined;
}

testInLongRun(
  "what the server carries out after the gateway has given it up is not done twice",
  async (t) => {
    const options = `-c search_path=${testSearchPath}`;
    const client = new pg.Client({ connectionString: world.databaseUrl, options });
    await client.connect();
    atEnd(t, () => client.end());
    const paying = startLoad(t, { ...merchants(), clients: 8, sales: 60 });
    await untilMore(paying, 20);

    await client.query("begin");
    await client.query("lock table orders in exclusive mode");
    await until("statements wait whose sender has given up", async () => {
      const waits = `select pid ${waitingLocks} and relation = 'orders'::regclass`;
      const { rows } = await client.query(waits);
      return rows.length >= 4 ? true : undefined;
    });
    await client.query("commit");
    await paying.finish();

    await assertNoAnswerDropped(paying);
  },
);

testInLongRun(
  "a node with a silent database logs what it waits for, and stops within its limit",
  async (t) => {
    const stopping = await world.startNode({ GW_DRAIN_S: "1" });
    await stopping.untilReady();
    const merchant = makeMerchant({ set: world.set, baseUrl: () => stopping.url, makeClient });
    await merchant.sale({ credit_card_number: "4000004000000129" });
    t.after(() => world.proxies.database.reset());
    world.proxies.database.silence();

    const startedAt = performance.now();
    const code = await stopping.stop();

    // The limit is one second for orders, four for connections, and the rest for a busy machine.
    const durationMs = performance.now() - startedAt;
    assert.equal(code, 0, stopping.output);
    assert.match(stopping.output, /^\S+ waits for 1 orders in flight, 1 s at most\.$/m);
    assert.ok(durationMs < 12_000, `${durationMs} ms`);
  },
);

const merchants = () => ({ set: world.set, url: () => node.url });

/**
 * Checks the books of all tests so far. An order whose commit was answered too late is not charged:
 * the merchant was asked to try again, and no node has sent it. All that the bank has booked stays
 * booked.
 */
async function assertNoAnswerDropped(paying: Load): Promise<void> {
  sales.push(...paying.sales);
  const orders = await assertBooksAgree({ ...world, ...merchants() }, { ...paying, sales });
  const booked = new Set((await readLedger(world.dataDir)).map(({ reference }) => reference));
  const steps = await readRows(world.databaseUrl, stepsWrittenTwice);
  assert.equal(orders.length, sales.length);
  assert.deepEqual(
    orders.filter(({ stage, reference }) => stage !== "approved" && booked.has(reference ?? "")),
    [],
  );
  assert.deepEqual(steps, []);
}

const stepsWrittenTwice = `
  select order_id from order_history where events::text like '%"authorized"%'
  group by order_id having count(*) > 1`;

/** Waits until a sale that begins from now on is answered. */
async function untilNewAnswered(paying: Load): Promise<void> {
  const first = paying.sales.length;
  await untilTrue("a new sale is answered", () =>
    paying.sales.slice(first).some(({ reply }) => reply !== undefined),
  );
}

async function untilMore(paying: Load, more: number): Promise<void> {
  const enough = paying.acknowledged + more;
  await untilTrue(`${more} more orders are taken`, () => paying.acknowledged >= enough);
}
