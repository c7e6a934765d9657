/** Blocks of order ids and sequence numbers, and the numbers that a restored database issues. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { asInstant, systemClock } from "../../values/time.ts";
import { findNextId, hasOrdersFrom } from "../backup/restore-target.ts";
import { startDatabase } from "../testing/database-for-tests.ts";
import {
  type Block,
  blockMax,
  findPosition,
  makeNextNumbers,
  moveOrderNumbersAhead,
  openOrderIds,
} from "./order-ids.ts";

const { database, stop } = await startDatabase();
after(stop);

const perSecond = 10_000;
const epochMs = 1_735_689_600_000;
const minimumOf = (atMs: number) => Math.floor(((atMs - epochMs) / 1000) * perSecond);
const opened: ReturnType<typeof openOrderIds>[] = [];
after(() => Promise.all(opened.map((each) => each.close())));

function open(ownTime = systemClock.now) {
  const ids = openOrderIds(database, { ownTime, retryMs: 0 });
  opened.push(ids);
  return { takeBlock: (size = 20) => ids.takeBlock(size), close: ids.close };
}

/** Sets the database back to a backup that was made when this block was the newest. */
async function loseAfter({ firstSequence, firstId, size }: Block): Promise<void> {
  await database.query("select setval('order_sequence', $1)", [firstSequence]);
  await database.query("update order_numbers set next_id = $1", [firstId + size]);
  await database.query("delete from order_blocks where first_sequence > $1", [firstSequence]);
}

async function loseSequence(value: number): Promise<void> {
  await database.query("select setval('order_sequence', $1)", [value]);
}

function assertApart(blocks: readonly Block[]): void {
  const sequences = blocks.map((each) => [each.firstSequence, blockMax] as const);
  const ids = blocks.map(({ firstId, size }) => [firstId, size] as const);
  for (const ranges of [sequences, ids]) {
    const sorted = ranges.toSorted(([one], [other]) => one - other);
    for (const [index, [start]] of sorted.entries()) {
      const [last = 0, size = 0] = sorted[index - 1] ?? [];
      assert.ok(start - last >= size, `${last} and ${start}`);
    }
  }
}

let first: Block;
before(async () => {
  first = await open().takeBlock();
});

test("the first id has eight digits", () => {
  assert.match(String(first.firstId), /^1\d{7}$/);
});

test("nodes that take blocks at the same moment get different ones", async () => {
  const nodes = Array.from({ length: 6 }, () => open());

  const rounds = await Promise.all(
    nodes.map(async (node, index) => {
      const taken: Block[] = [];
      for (let count = 0; count < 20; count += 1) {
        taken.push(await node.takeBlock(1 + index * count));
      }
      return taken;
    }),
  );

  assertApart(rounds.flat());
});

test("sequence numbers begin no lower than the clock's minimum", async () => {
  const node = open();
  await node.takeBlock();
  await loseSequence(1000);

  const { firstSequence } = await node.takeBlock();

  assert.ok(firstSequence >= minimumOf(Date.now() - 5_000));
});

test("blocks that a restored or promoted database does not know are not issued again", async () => {
  let passedMs = 0;
  const openThen = () => open(() => asInstant(Date.now() + passedMs));
  const [one, other] = [openThen(), openThen()];
  await one.takeBlock();
  await other.takeBlock();
  const known = await one.takeBlock(1000);
  const lost: Block[] = [];
  for (let count = 0; count < 20; count += 1) {
    lost.push(await one.takeBlock(), await other.takeBlock());
  }

  await one.close();
  await loseAfter(known);
  passedMs = 10_000;
  const nodes = [openThen(), openThen(), one];
  const given = await Promise.all(nodes.map((node) => node.takeBlock()));

  assertApart([...lost, ...given]);
});

test("orders whose ids would be issued again are found", async () => {
  const { query } = database;
  const next = await findNextId(query);
  const found: boolean[] = [];
  for (const id of [BigInt(next) - 1n, BigInt(next)]) {
    await query(
      `insert into orders (merchant_id, id, endpoint_id, client_orderid, attempt, digest,
         digest_key, version, kind, stage, amount, currency, accepted_at, changed_at, facts,
         progress)
       values (7, $1, 1, 'invoice', 1, '', 1, 1, 'sale', 'approved', 1, 'USD', now(), 1, '{}',
         '{}')`,
      [id],
    );
    found.push(await hasOrdersFrom(query, next));
    await query("delete from orders");
  }

  assert.deepEqual(found, [false, true]);
});

test("a restore skips ids and sequence numbers", async () => {
  const known = await open().takeBlock();
  const node = open();
  const lost: Block[] = [];
  for (let count = 0; count < 30; count += 1) lost.push(await node.takeBlock(1000));

  await loseAfter(known);
  await moveOrderNumbersAhead(database.query);
  const given = await open().takeBlock();

  assertApart([...lost, given]);
  assert.ok(given.firstId >= known.firstId + 10_000_000);
  assert.ok(given.firstSequence >= known.firstSequence + 10_000_000);
});

test("a node that restarts repeatedly does not use up the numbers of years", async () => {
  await loseSequence(1000);
  const { firstId: from } = await open().takeBlock();
  const starts = 50;
  for (let count = 0; count < starts; count += 1) await open().takeBlock();

  const { firstSequence, firstId } = await open().takeBlock();

  assert.ok(firstSequence < minimumOf(Date.now() + 60_000), "more than a minute of numbers");
  // There are two thousand million ids, enough for years of a node that starts every ten seconds.
  assert.ok(firstId - from < starts * 2_000, `${firstId - from} ids`);
});

test("a node that reconnects after half a day without orders skips few ids", async () => {
  const { firstId: before } = await open().takeBlock();
  const idle = minimumOf(Date.now() - 43_200_000);
  await database.query("delete from order_blocks");
  await database.query("insert into order_blocks values ($1, $2, 20, 1)", [idle, before]);

  const { firstId } = await open().takeBlock();

  assert.ok(firstId - before < 12_000, `${firstId - before} ids`);
});

test("blocks that were lost after more orders than the clock allows for are not issued again", async () => {
  const hour = minimumOf(Date.now() + 3_600_000);
  const node = open();
  await node.takeBlock();
  await loseSequence(hour);
  const lost = [await node.takeBlock(), await node.takeBlock()];

  await loseSequence(hour);
  const given = await open().takeBlock();

  assertApart([...lost, given]);
  await loseSequence(1000);
  await database.query("delete from order_blocks where first_sequence >= $1", [hour]);
});

/** Simulates two takeovers. The second server lacks the block that the first has issued. */
async function takeOverTwice({ isSameTimeline = false, laterMs = 0 }): Promise<void> {
  const before = await open().takeBlock();
  const tookOver = () => database.query("update order_blocks set timeline = timeline - 1");
  await tookOver();
  const lost = await open().takeBlock(blockMax);
  await loseAfter(before);
  if (!isSameTimeline) await tookOver();

  const given = await open(() => asInstant(Date.now() + laterMs)).takeBlock();

  assertApart([before, lost, given]);
}

test("a block that a standby issued and the next standby lacks is not issued again", async () => {
  await loseSequence(1000);
  await takeOverTwice({ laterMs: 200 });
  // The sequence is lost as by a restore.
  await loseSequence(minimumOf(Date.now() + 43_200_000));
  await takeOverTwice({});
  await loseSequence(1000);
  await database.query("delete from order_blocks");
});

test("a lost block is not issued again if the next standby begins the same timeline", async () => {
  await takeOverTwice({ isSameTimeline: true, laterMs: 2_000 });
});

test("a database whose clock is slow uses the node's clock, by at most a day", async () => {
  const hourAhead = open(() => asInstant(Date.now() + 3_600_000));
  const fromHour = await hourAhead.takeBlock();
  const yearsAhead = open(() => asInstant(Date.now() + 100 * 365 * 86_400_000));
  const fromYears = await yearsAhead.takeBlock();

  assert.ok(fromHour.firstSequence >= minimumOf(Date.now() + 3_590_000));
  assert.ok(fromYears.firstSequence < minimumOf(Date.now() + 86_400_000 + 60_000));
});

test("more concurrent orders than a block has numbers get different numbers that find them", async () => {
  const next = makeNextNumbers(open().takeBlock);

  const numbers = await Promise.all(Array.from({ length: 2_500 }, next));

  assert.equal(new Set(numbers.map(({ id }) => id)).size, 2_500);
  assert.equal(new Set(numbers.map(({ sequence }) => sequence)).size, 2_500);
  for (const { id, sequence } of [...numbers.slice(0, 30), ...numbers.slice(-30)]) {
    assert.deepEqual(await findPosition(database.query, sequence), { id });
  }
  const { firstSequence, firstId } = await open().takeBlock(20);
  // The number is in no known block, because the server lacks its block.
  const beyond = firstSequence + 20;
  assert.deepEqual(await findPosition(database.query, beyond), {
    sequence: beyond,
    low: firstId + 20,
    high: 99_999_999_999,
  });
  const before = await findPosition(database.query, 42);
  assert.ok("low" in before && before.low === 0 && before.high < firstId);
});

test("a node that takes few orders takes few ids, and a busy one a thousand at a time", async () => {
  const sizes: number[] = [];
  const next = makeNextNumbers((size) => {
    sizes.push(size);
    return open().takeBlock(size);
  });

  await next();
  await Promise.all(Array.from({ length: 1_200 }, next));

  assert.equal(sizes[0], 20);
  assert.equal(sizes.at(-1), blockMax);
});

test("a lost connection is replaced without an effect on orders", async () => {
  const node = openOrderIds(database, { ownTime: systemClock.now, retryMs: 5_000 });
  opened.push(node);
  const known = await node.takeBlock(20);
  await database.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and query like '%from take_order_numbers%'
       and pid <> pg_backend_pid()`,
  );

  const next = await node.takeBlock(20);

  assertApart([known, next]);
  assert.deepEqual([known.isKnown(), next.isKnown()], [false, true]);
});

test("a node stops using a block when the connection that fetched it has ended", async () => {
  let isKnown = true;
  let taken = 0;
  const nextNumbers = makeNextNumbers(async (size) => {
    taken += 1000;
    return { firstSequence: taken, firstId: taken, size, isKnown: () => taken > 1000 || isKnown };
  });

  const before = await nextNumbers();
  isKnown = false;
  const behind = await nextNumbers();

  assert.deepEqual([before.id, behind.id], ["1000", "2000"]);
});

test("a promoted database that lacks the very first blocks does not issue their ids again", async () => {
  const given: Block[] = [];
  for (const passedMs of [0, 5_000]) {
    await database.query("delete from order_blocks");
    await database.query("update order_numbers set next_id = 10000000");
    const nodes = [1, 2].map(() => open(() => asInstant(Date.now() + passedMs)));
    for (const node of nodes) given.push(await node.takeBlock(), await node.takeBlock(blockMax));
  }

  assertApart(given);
});
