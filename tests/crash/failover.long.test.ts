/**
 * A database with a synchronous standby, under sales: the primary is killed and the standby
 * promoted, the address leads to a read-only server for a while, and a commit is not confirmed. It
 * also tests PostgreSQL's behaviour after a cancelled wait, on which the connection policy depends.
 */
import assert from "node:assert/strict";
import { before, test } from "node:test";
import pg from "pg";
import { startTrapProxy, type TrapProxy } from "../support/bank/trap-proxy.ts";
import { assertBooksAgree, readRows } from "../support/books.ts";
import { atEnd } from "../support/clean-up.ts";
import { type CrashWorld, type Node, startCrashWorld } from "../support/crash-world.ts";
import { type Pair, startPair, untilReplicating } from "../support/databases/database-pair.ts";
import { endOfFile } from "../support/end-of-file.ts";
import { type Load, startLoad } from "../support/load.ts";
import { until, untilTrue } from "../support/until.ts";

/** The limit leaves room for a machine that runs other tests at the same time. */
const firstAnswerMs = 2_000 * 3;

let pair: Pair;
let world: CrashWorld;
let node: Node;
let toStandby: TrapProxy;

before(async () => {
  pair = await startPair(endOfFile);
  const settings = { GW_DATABASE_CONNECT_TIMEOUT_S: "1", GW_DATABASE_STATEMENT_TIMEOUT_S: "2" };
  world = await startCrashWorld(endOfFile, { databaseUrl: pair.primary.url, settings });
  toStandby = await startTrapProxy(pair.standby.target);
  atEnd(endOfFile, () => toStandby.close());
  const ports = [world.proxies.database.port, toStandby.port];
  const hosts = ports.map((port) => `127.0.0.1:${port}`).join(",");
  const login = `tollgate:${pair.primary.password}`;
  const url = `postgres://${login}@${hosts}/tollgate?target_session_attrs=read-write`;
  // Orders survive every failure of a test: each is approved in the end, or a test fails.
  node = await world.startNode({ GW_DATABASE_URL: url, GW_ACCEPT_RETRY_S: "60" });
  await node.untilReady();
});

test("PostgreSQL reports success for a commit whose wait for the standby was cancelled", async () => {
  await readRows(pair.primary.url, "create table cancelled (way text)");
  pair.standby.freeze();

  const warned = await commitAndStop("cancel", "select pg_cancel_backend($1)");
  const ended = await commitAndStop("terminate", "select pg_terminate_backend($1)");
  const there = await readRows<{ way: string }>(pair.primary.url, "select way from cancelled");
  pair.standby.thaw();
  await untilReplicating(pair.primary);

  assert.match(String(warned), /success: canceling wait for synchronous replication/);
  assert.match(String(ended), /terminat/);
  assert.deepEqual(
    there.map(({ way }) => way),
    ["cancel", "terminate"],
  );
});

/** Commits while the standby hangs, and stops the wait. Returns what the client got. */
async function commitAndStop(way: string, stop: string): Promise<string> {
  const client = new pg.Client({ connectionString: pair.primary.url });
  let notice = "";
  client
    .on("error", () => undefined)
    .on("notice", ({ message }) => {
      notice = message ?? "";
    });
  await client.connect();
  const { rows } = await client.query("select pg_backend_pid() as pid");
  const told = client.query("insert into cancelled values ($1)", [way]).then(
    () => `success: ${notice}`,
    (error) => String(error),
  );
  await untilWaiting("insert into cancelled");
  await readRows(pair.primary.url, stop.replace("$1", rows[0].pid));
  const heard = await told;
  await client.end().catch(() => undefined);
  return heard;
}

/** Waits until a commit of this statement waits for the standby. */
async function untilWaiting(statement: string): Promise<void> {
  await until("a commit waits for the standby", async () => {
    const waits = `select from pg_stat_activity
      where wait_event = 'SyncRep' and query like '%${statement}%' and pid <> pg_backend_pid()`;
    const found = await readRows(pair.primary.url, waits).catch(() => []);
    return found.length > 0 ? true : undefined;
  });
}

test("an order that the standby lacks is not acknowledged, although the restarted primary has it", async (t) => {
  // The first sale takes a block of order ids, whose commit would wait too.
  const earlier = startLoad(t, { ...merchants(), clients: 1, sales: 1 });
  await earlier.finish();
  await assertAllApproved(earlier, pair.primary.url);
  pair.standby.freeze();
  const paying = startLoad(t, { ...merchants(), clients: 1, sales: 1 });
  await untilWaiting("insert into orders");
  await pair.primary.kill();
  await pair.primary.launch();
  // This is the order's statement again, which locks the key of its card, or the check for its own
  // commit.
  await untilWaiting("order_history");
  const shown = await readRows(pair.primary.url, "select from orders");
  const early = paying.acknowledged;
  pair.standby.thaw();
  await paying.finish();

  assert.equal(shown.length, 2);
  assert.equal(early, 0, "it was acknowledged before the standby had it");
  await assertAllApproved(paying, pair.primary.url);
});

test("a server that is read-only for a while ends no charge in error", async (t) => {
  await untilReplicating(pair.primary);
  const paying = startLoad(t, { ...merchants(), clients: 8 });
  await untilMore(paying, 20);

  // Open sessions are read-only first, and then the address leads to the standby.
  await setReadOnly("on");
  await untilRefused();
  world.proxies.database.lead(pair.standby.target);
  world.proxies.database.breakAll();
  await setReadOnly("off");
  await untilRefused();
  world.proxies.database.lead(pair.primary.target);
  const startedAt = performance.now();
  await untilMore(paying, 1);
  const durationMs = performance.now() - startedAt;
  await untilMore(paying, 20);
  await paying.finish();

  t.diagnostic(`first acknowledgement after ${Math.round(durationMs)} ms`);
  await assertAllApproved(paying, pair.primary.url);
  assert.ok(durationMs < firstAnswerMs, `${durationMs} ms`);
});

async function setReadOnly(value: "on" | "off"): Promise<void> {
  const client = new pg.Client({ connectionString: pair.primary.url });
  await client.connect();
  await client.query("set default_transaction_read_only = off");
  await client.query(`alter system set default_transaction_read_only = ${value}`);
  await client.query("select pg_reload_conf()");
  await client.end();
}

/** Waits until the node has noticed, because it cannot look for due orders any more. */
async function untilRefused(): Promise<void> {
  const known = node.output.length;
  await untilTrue("the node is refused", () => node.output.slice(known).includes("read-only"));
}

test("a killed primary and the promoted standby lose no order and charge none twice", async (t) => {
  await untilReplicating(pair.primary);
  const paying = startLoad(t, { ...merchants(), clients: 8 });
  await untilMore(paying, 40);

  await pair.primary.kill();
  await pair.standby.promote();
  const startedAt = performance.now();
  await untilMore(paying, 1);
  const durationMs = performance.now() - startedAt;
  await untilMore(paying, 40);
  await paying.finish();

  t.diagnostic(`first acknowledgement after ${Math.round(durationMs)} ms`);
  await assertAllApproved(paying, pair.standby.url);
  assert.ok(durationMs < firstAnswerMs, `${durationMs} ms`);
});

const merchants = () => ({ set: world.set, url: () => node.url });

const sales: Load["sales"][number][] = [];

/**
 * Checks the books of all tests so far: no answer of the bank was dropped, so no order has ended in
 * error.
 */
async function assertAllApproved(paying: Load, databaseUrl: string): Promise<void> {
  sales.push(...paying.sales);
  const books = { ...world, ...merchants(), databaseUrl };
  const orders = await assertBooksAgree(books, { ...paying, sales });
  assert.equal(orders.length, sales.length);
  assert.deepEqual(
    orders.filter(({ stage }) => stage !== "approved"),
    [],
  );
}

async function untilMore(paying: Load, more: number): Promise<void> {
  const enough = paying.acknowledged + more;
  await untilTrue(`${more} more orders are taken`, () => paying.acknowledged >= enough);
}
