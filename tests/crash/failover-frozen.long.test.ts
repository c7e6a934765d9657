/**
 * The primary freezes: its connections stay open without answers. The standby is promoted, the old
 * primary wakes up, and is fenced only then.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertBooksAgree, readRows } from "../support/books.ts";
import { startCrashWorld } from "../support/crash-world.ts";
import { startPair } from "../support/databases/database-pair.ts";
import { type Load, startLoad } from "../support/load.ts";
import { until, untilTrue } from "../support/until.ts";

/** With the second timeout no statement is given up, so the node must notice the promotion. */
const statementTimeouts = [2, 600];
const connectS = 1;
/** The limit leaves room for a machine that runs other tests at the same time. */
const firstAnswerMs = 2_000 * 3;

for (const statementS of statementTimeouts) {
  test(`a replaced frozen primary loses no order, even when it wakes up: ${statementS} s`, async (t) => {
    const pair = await startPair(t);
    const world = await startCrashWorld(t, { databaseUrl: pair.primary.url });
    const hosts = [pair.primary, pair.standby].map((each) => encodeURIComponent(each.socketFolder));
    const node = await world.startNode({
      GW_DATABASE_URL: `postgres://tollgate:${pair.primary.password}@${hosts.join(",")}/tollgate`,
      GW_DATABASE_CONNECT_TIMEOUT_S: String(connectS),
      GW_DATABASE_STATEMENT_TIMEOUT_S: String(statementS),
      GW_ACCEPT_RETRY_S: "60",
    });
    await node.untilReady();
    const merchants = { set: world.set, url: () => node.url };
    const paying = startLoad(t, { ...merchants, clients: 8 });
    await untilMore(paying, 40);

    pair.primary.freeze();
    await pair.standby.promote();
    const startedAt = performance.now();
    await untilMore(paying, 1);
    const durationMs = performance.now() - startedAt;
    await untilMore(paying, 20);
    pair.primary.thaw();
    await untilMore(paying, 20);
    await until("the node has left the old primary", async () => {
      const left = await readRows(pair.primary.url, connectionsOfNode);
      return left.length === 0 ? true : undefined;
    });
    await pair.primary.kill();
    await untilMore(paying, 20);
    await paying.finish();

    t.diagnostic(`first acknowledgement after ${Math.round(durationMs)} ms`);
    const books = { ...world, ...merchants, databaseUrl: pair.standby.url };
    const orders = await assertBooksAgree(books, paying);
    assert.equal(orders.length, paying.sales.length);
    assert.deepEqual(
      orders.filter(({ stage }) => stage !== "approved"),
      [],
    );
    const boundMs = (Math.min(2, statementS) + connectS) * 1_000 + firstAnswerMs;
    assert.ok(durationMs < boundMs, `${durationMs} ms`);
  });
}

/**
 * Counts the connections of the node; others have lost their client, or wait for the lost standby.
 */
const connectionsOfNode = `
  select from pg_stat_activity where application_name = 'tollgate' and state = 'idle'`;

async function untilMore(paying: Load, more: number): Promise<void> {
  const enough = paying.acknowledged + more;
  await untilTrue(`${more} more orders are taken`, () => paying.acknowledged >= enough);
}
