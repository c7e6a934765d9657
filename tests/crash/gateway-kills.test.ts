/** The gateway is killed or stopped under load at random moments. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { setLatency } from "../support/bank/bank-program.ts";
import { assertBooksAgree, readOrders, readRows } from "../support/books.ts";
import { type Node, shortLease, startCrashWorld } from "../support/crash-world.ts";
import { type Load, type Merchants, type Sale, startLoad } from "../support/load.ts";
import { seed, testInLongRun } from "../support/series.ts";
import { until, untilTrue } from "../support/until.ts";

const world = await startCrashWorld({ after });
const paid: Sale[] = [];
let node: Node;

/** The next node of the same name at once continues what a killed one had in flight. */
const asLeft = { GW_NODE_NAME: "left", ...shortLease };

before(async () => {
  node = await world.startNode(asLeft);
  await node.untilReady();
});

testInLongRun(
  "a gateway that is killed again and again under load ends with books that agree",
  async (t) => {
    t.diagnostic(`TOLLGATE_SEED=${seed}`);
    const random = makeRandom(seed);
    const merchants = { set: world.set, url: () => node.url };
    const paying = startLoad(t, { ...merchants, clients: 16 });

    for (let kills = 0; kills < 50; kills += 1) {
      const enough = paying.acknowledged + 10 + Math.floor(random() * 60);
      await untilTrue("some more orders are taken", () => paying.acknowledged >= enough);
      await pause(random() * 50);
      await node.kill();
      node = await world.startNode(asLeft);
    }
    await node.untilReady();
    const enough = paying.acknowledged + 20;
    await untilTrue("the last gateway takes orders", () => paying.acknowledged >= enough);
    await paying.finish();

    await assertAllPaid(paying, merchants);
  },
);

test("the other node finishes the orders of a killed node after their lease", async (t) => {
  const left = node;
  const right = await world.startNode({ GW_NODE_NAME: "right" });
  await right.untilReady();
  node = right;
  let turn = 0;
  const url = () => {
    turn += 1;
    return left.isRunning && turn % 2 === 0 ? left.url : right.url;
  };
  const merchants = { set: world.set, url };
  await setLatency(world.bank.url, 150);
  const paying = startLoad(t, { ...merchants, clients: 20, sales: 80 });

  const readInFlight = () =>
    readRows<{ id: string }>(
      world.databaseUrl,
      "select id from orders where carrier = 'left' and owes is not null",
    );

  await untilTrue("both nodes take orders", () => paying.acknowledged >= 30);
  // The bank answers so late that orders have been in flight for a while when the node is killed.
  await setLatency(world.bank.url, 3_000);
  await until("the left node has orders in flight", async () => (await readInFlight())[0]);
  await left.kill();
  const inFlight = await readInFlight();
  await setLatency(world.bank.url, 150);
  await paying.finish();

  await assertAllPaid(paying, merchants);
  const takenOver = await readRows<{ id: string }>(
    world.databaseUrl,
    `select distinct order_id as id from order_history
     where node = 'right' and events::text like '%"claimed"%'`,
  );
  const taken = new Set(takenOver.map(({ id }) => id));
  assert.ok(inFlight.some(({ id }) => taken.has(id)));
});

test("a gateway that is stopped under load finishes the orders in flight and loses none", async (t) => {
  const stopped = node;
  const merchants = { set: world.set, url: () => node.url };
  await setLatency(world.bank.url, 150);
  const paying = startLoad(t, { ...merchants, clients: 20 });

  await untilTrue("the gateway has orders in flight", () => paying.acknowledged >= 30);
  const stopping = stopped.stop();
  await untilTrue("the gateway has stopped", () => !stopped.isRunning);
  await paying.leave();
  const code = await stopping;
  const left = await readOrders(world.databaseUrl);
  node = await world.startNode();
  paid.push(...paying.sales);
  const orders = await assertBooksAgree({ ...world, ...merchants }, { sales: paid });

  assert.equal(code, 0, stopped.output);
  assert.deepEqual(
    left.filter(({ due }) => due),
    [],
  );
  assert.deepEqual(left, orders);
});

/** Checks the books of all tests so far: every sale has its order. */
async function assertAllPaid({ sales }: Load, merchants: Merchants): Promise<void> {
  paid.push(...sales);
  const orders = await assertBooksAgree({ ...world, ...merchants }, { sales: paid });
  assert.equal(orders.length, paid.length);
}

/**
 * Returns random numbers that are the same for the same seed, so that a failure can be repeated.
 */
function makeRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
