/** Blocks of order ids from a real sequence, and what a restored database gives out. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { asInstant, systemClock } from "../values/time.ts";
import { blockSize, makeNextOrderId, openOrderIds } from "./order-ids.ts";
import { startDatabase } from "./testing/database-for-tests.ts";

const { database, stop } = await startDatabase();
after(stop);

const perSecond = 10_000;
const epochMs = 1_735_689_600_000;
const minimumOf = (atMs: number) => BigInt(Math.floor(((atMs - epochMs) / 1000) * perSecond));
const opened: ReturnType<typeof openOrderIds>[] = [];
after(() => Promise.all(opened.map((each) => each.close())));

function open(ownTime = systemClock.now) {
  const ids = openOrderIds(database, { ownTime, retryMs: 0 });
  opened.push(ids);
  return ids;
}

/** As an earlier release takes them. */
async function takeUnlocked(): Promise<bigint> {
  const [row] = await database.query<{ start: string }>(
    "select nextval('order_sequence') as start",
  );
  return BigInt(row?.start ?? 0);
}

async function lose(value: bigint): Promise<void> {
  await database.query("select setval('order_sequence', $1)", [String(value)]);
}

function assertApart(starts: readonly bigint[]): void {
  const sorted = starts.toSorted((a, b) => Number(a - b));
  for (const [index, start] of sorted.entries()) {
    const before = sorted[index - 1];
    if (before !== undefined) assert.ok(start - before >= blockSize, `${before} and ${start}`);
  }
}

test("nodes that take blocks at the same moment, some by an earlier release, get different ones", async () => {
  const nodes = Array.from({ length: 6 }, () => open());

  const rounds = await Promise.all(
    nodes.map(async (node, index) => {
      const taken: bigint[] = [];
      for (let count = 0; count < 20; count += 1) {
        taken.push(await (index < 4 ? node.takeBlock() : takeUnlocked()));
      }
      return taken;
    }),
  );

  assertApart(rounds.flat());
});

test("a block begins no lower than the clock's minimum", async () => {
  const node = open();
  await node.takeBlock();
  await lose(1000n);

  const start = await node.takeBlock();

  assert.ok(start >= minimumOf(Date.now() - 5_000));
});

test("blocks that a restored or promoted database does not know are not given out again", async () => {
  const known = await open().takeBlock();
  const [first, second] = [open(), open()];
  const lost: bigint[] = [];
  for (let count = 0; count < 20; count += 1) {
    lost.push(await first.takeBlock(), await second.takeBlock());
  }

  await lose(known);
  const given = await Promise.all([open().takeBlock(), open().takeBlock(), first.takeBlock()]);

  assertApart([...lost, ...given]);
});

test("a node that is started again and again does not use the ids of years", async () => {
  await lose(1000n);
  for (let count = 0; count < 50; count += 1) await open().takeBlock();

  const start = await open().takeBlock();

  assert.ok(start < minimumOf(Date.now() + 60_000), "more than a minute of ids");
});

test("blocks that were lost after more orders than the clock allows for are not given out again", async () => {
  const hour = minimumOf(Date.now() + 3_600_000);
  const node = open();
  await node.takeBlock();
  await lose(hour);
  const lost = [await node.takeBlock(), await node.takeBlock()];

  await lose(hour);
  const given = await open().takeBlock();

  assertApart([...lost, given]);
});

test("a database whose clock is behind goes by the node's, and by no more than a day", async () => {
  await lose(1000n);
  const hourAhead = open(() => asInstant(Date.now() + 3_600_000));
  const fromHour = await hourAhead.takeBlock();
  const yearsAhead = open(() => asInstant(Date.now() + 100 * 365 * 86_400_000));
  const fromYears = await yearsAhead.takeBlock();

  assert.ok(fromHour >= minimumOf(Date.now() + 3_590_000));
  assert.ok(fromYears < minimumOf(Date.now() + 86_400_000 + 60_000));
});

test("more orders than a block has numbers, all at once, get different ones", async () => {
  const node = open();
  const next = makeNextOrderId(node.takeBlock);

  const ids = await Promise.all(Array.from({ length: 2_500 }, next));

  assert.equal(new Set(ids.map((id) => id.slice(0, -6))).size, 2_500);
});

test("a connection that is lost is replaced, and no order notices", async () => {
  const node = openOrderIds(database, { ownTime: systemClock.now, retryMs: 5_000 });
  opened.push(node);
  const before = await node.takeBlock();
  await database.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and query like 'select take_order_ids%'`,
  );

  const start = await node.takeBlock();

  assertApart([before, start]);
});
