/**
 * The retention of card numbers in a real database: which numbers are destroyed, when, and which
 * are kept. No search for them reads a large table.
 */
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { type CondemnedWhy, makeRetention } from "../../engine/retention.ts";
import type { Order } from "../../orders/order.ts";
import { approved, inStage, start } from "../../orders/testing.ts";
import { asCardId, asMerchantId, asOrderId } from "../../values/ids.ts";
import { asInstant, hours } from "../../values/time.ts";
import { packFacts, packProgress } from "../orders/order-row.ts";
import { type DatabaseForTests, startDatabase } from "../testing/database-for-tests.ts";
import { makeRetentionStore } from "./retention.ts";

const day = hours(24);
const [shop, other] = [asMerchantId("101"), asMerchantId("102")];
const usual = { paid: 400, unpaid: 30 };
const keep = new Map([[other, { paid: 90, unpaid: 5 }]]);
let tables: DatabaseForTests;
let now = start;
let counted: Partial<Record<CondemnedWhy, number>>[] = [];
let run: () => Promise<void>;

before(async () => {
  tables = await startDatabase();
  await tables.database.query(
    "insert into vault.keys (id, purpose, sealed) values (1, 'test', '')",
  );
});
after(() => tables.stop());
beforeEach(async () => {
  for (const table of [
    "orders",
    "cards",
    "condemned_cards",
    "retention_walks",
    "card_references",
  ]) {
    await tables.database.query(`delete from ${table}`);
  }
  [now, counted] = [start, []];
  keep.delete(shop);
  run = makeRun();
});

test("paid cards are destroyed after 400 days, unpaid ones after 30, by the merchant's own days", async () => {
  await add(shop, 1, approved());
  await add(shop, 2, inStage("declined"));
  await add(shop, 3, inStage("filtered"));
  await add(other, 4, approved());
  await add(other, 5, inStage("error"));

  // biome-ignore format: a table
  for (const [days, left] of [[4, "1 2 3 4 5"], [6, "1 2 3 4"], [29, "1 2 3 4"], [31, "1 4"], [91, "1"], [399, "1"], [401, ""]] as const) {
    now = asInstant(start + days * day);
    await run();
    await run();
    assert.equal(await listCards(), left, `after ${days} days`);
  }
  assert.deepEqual(
    counted.map(({ retention }) => retention),
    [1, 2, 1, 1],
  );
});

test("a card is never destroyed while its order is open, in doubt or owes a reversal", async () => {
  const owed = { effect: "reverse", claimableAt: start } as const;
  await add(shop, 1, inStage("reversing"), { due: true });
  await add(shop, 2, { ...inStage("declined"), owed }, { due: true });
  await add(shop, 3, inStage("repeating", "capture"), { due: true });
  now = asInstant(start + 500 * day);

  for (let times = 0; times < 3; times += 1) await run();
  assert.equal(await listCards(), "1 2 3");
  await tables.database.query("delete from due");
  await run();

  assert.equal(await listCards(), "");
});

test("many marked cards that are still needed do not delay later ones", async () => {
  const { query } = tables.database;
  await query(
    `insert into cards (merchant_id, id, key_id, sealed, fingerprint)
     select 101, n, 1, '', '' from generate_series(1, 501) as n`,
  );
  await query(
    `insert into condemned_cards (merchant_id, id, why, condemned_at)
     select 101, n, 'retention', now() from generate_series(1, 501) as n`,
  );
  await query(
    `insert into card_references (merchant_id, id, purpose, card_id, endpoint_id, order_id, facts,
       created_at) select 101, n, 'card', n, 1, n, '{}', now() from generate_series(1, 500) as n`,
  );

  await run();
  await run();

  const left = await query("select id from cards where id > 499 order by id");
  assert.deepEqual(left, [{ id: "500" }]);
});

test("a card that a reference needs is kept until the reference is removed", async () => {
  await add(shop, 1, approved());
  await tables.database.query(
    `insert into card_references (merchant_id, id, purpose, card_id, endpoint_id, order_id, facts,
       created_at) values (101, 9, 'card', 1, 1, 1, '{}', now())`,
  );
  now = asInstant(start + 500 * day);
  for (let times = 0; times < 2; times += 1) await run();
  assert.equal(await listCards(), "1");

  await tables.database.query(
    `update card_references set removed_at = to_timestamp($1::float8 / 1000),
       removed_by = 'merchant'`,
    [now],
  );
  now = asInstant(now + 8 * day);
  for (let times = 0; times < 2; times += 1) await run();

  assert.equal(await listCards(), "");
  assert.deepEqual(counted, [{ removed: 1 }]);
});

test("a card that is registered or used between its check and its destruction is kept", async () => {
  const uses = [
    `insert into card_references (merchant_id, id, purpose, card_id, endpoint_id, order_id, facts,
       created_at) values (101, 9, 'card', 1, 1, 1, '{}', now())`,
    `with opened as (update orders set finished_at = null returning id, version, merchant_id)
     insert into due (due_at, order_id, version, merchant_id)
     select now(), id, version, merchant_id from opened`,
  ];
  await add(shop, 1, approved());
  now = asInstant(start + 500 * day);
  for (const use of uses) {
    const slowly = makeRun(async () => void (await tables.database.query(use)));
    for (let times = 0; times < 2; times += 1) await slowly();

    assert.equal(await listCards(), "1");
    await tables.database.query("delete from card_references");
    await tables.database.query("delete from due");
  }
  for (let times = 0; times < 2; times += 1) await run();

  assert.equal(await listCards(), "");
});

test("a declined order with another order's card destroys no card", async () => {
  await add(shop, 1, approved());
  await add(shop, 2, {
    ...inStage("declined"),
    card: { ...approved().card, cardId: asCardId("1") },
  });
  now = asInstant(start + 60 * day);

  for (let times = 0; times < 2; times += 1) await run();

  assert.equal(await listCards(), "1 2");
});

test("a marked card is destroyed by the next run, not by the one that marked it", async () => {
  await add(shop, 1, inStage("declined"));
  now = asInstant(start + 31 * day);

  await run();
  assert.equal(await listCards(), "1");
  // Another node has not noticed the mark on the card, so its first run does not destroy the card.
  await makeRun()();
  assert.equal(await listCards(), "1");
  await run();

  assert.equal(await listCards(), "");
});

test("two runs of a node that are asked for at once run one after the other", async () => {
  await add(shop, 1, inStage("declined"));
  now = asInstant(start + 31 * day);

  await Promise.all([run(), run()]);

  assert.equal(await listCards(), "");
});

test("each order is examined once for each retention period, and by one node in an hour", async () => {
  for (let id = 1; id <= 1200; id += 1) await add(shop, id, inStage("declined"));
  now = asInstant(start + 31 * day);
  await run();
  const walks = await tables.database.query<{ days: number; after_id: string }>(
    "select days, after_id from retention_walks where days = 30",
  );
  assert.deepEqual(walks, [{ days: 30, after_id: "1200" }]);
  await add(shop, 1201, inStage("declined"));

  await run();

  const [row] = await tables.database.query<{ count: number }>(
    "select count(*)::int as count from condemned_cards",
  );
  assert.equal(row?.count, 0);
  assert.equal(await listCards(), "1201", "the second run has walked again");
});

test("a walk that is behind continues with the next run without waiting for an hour", async () => {
  await tables.database.query(
    `insert into orders (merchant_id, id, endpoint_id, client_orderid, attempt, digest,
       digest_key, changed_at, version, kind, stage, amount, currency, accepted_at,
       facts, progress)
     select 101, n, 1, 'a' || n, 1, '', 1, 1, 1, $1, $2, 1, 'USD',
       to_timestamp($3::float8 / 1000), $4, $5
     from generate_series(1, 10100) as n`,
    [
      ...[approved().transaction.kind, approved().transaction.stage, start],
      ...[packFacts(approved()), packProgress(approved())],
    ],
  );
  now = asInstant(start + 31 * day);

  await run();
  assert.equal(await walkedTo(30), "10000");
  await run();
  assert.equal(await walkedTo(30), "10100");
});

test("a change of a merchant's retention period also applies to orders that were examined before", async () => {
  await add(shop, 1, approved());
  await add(other, 2, approved());
  now = asInstant(start + 100 * day);
  for (let times = 0; times < 2; times += 1) await run();
  assert.equal(await listCards(), "1", "the walk of 90 days has passed both");

  keep.set(shop, { paid: 90, unpaid: 30 });
  now = asInstant(now + hours(1));
  for (let times = 0; times < 2; times += 1) await run();

  assert.equal(await listCards(), "");
});

async function walkedTo(days: number): Promise<string | undefined> {
  const [walk] = await tables.database.query<{ after_id: string }>(
    "select after_id from retention_walks where days = $1",
    [days],
  );
  return walk?.after_id;
}

test("no statement of the retention reads a whole table", async () => {
  const { query } = tables.database;
  await query(
    `insert into orders (merchant_id, id, endpoint_id, client_orderid, attempt, digest,
       digest_key, changed_at, version, kind, stage, amount, currency, accepted_at,
       facts, progress)
     select 101, n, 1, 'a' || n, 1, '', 1, 1, 1, 'sale', 'approved', 1, 'USD', now(), '{}', '{}'
     from generate_series(1, 50000) as n`,
  );
  await query("analyze orders");
  const plan = await query<{ "QUERY PLAN": string }>(
    "explain select id from orders where id > 25000 order by id limit 500",
  );

  const text = plan.map((row) => row["QUERY PLAN"]).join("\n");
  assert.doesNotMatch(text, /Seq Scan|Sort/, text);
});

function makeRun(whileAudited = async () => {}): () => Promise<void> {
  return makeRetention({
    store: makeRetentionStore({ node: tables.database, vault: tables.database }),
    clock: { now: () => now },
    removedKeepMs: 7 * day,
    keepDaysOf: (merchant) => keep.get(merchant) ?? usual,
    listDays: () => [400, 30, 90, 5],
    rules: () => JSON.stringify([...keep]),
    async audit(counts) {
      counted.push(counts);
      await whileAudited();
    },
  });
}

async function add(merchantId: typeof shop, id: number, like: Order, { due = false } = {}) {
  const { query } = tables.database;
  const cardId = like.card.cardId === "1" ? like.card.cardId : asCardId(String(id));
  const order = { ...like, merchantId, id: asOrderId(String(id)), card: { ...like.card, cardId } };
  await query(
    `insert into orders (merchant_id, id, endpoint_id, client_orderid, attempt, digest,
       digest_key, changed_at, version, kind, stage, amount, currency, accepted_at,
       facts, progress)
     values ($1, $2::bigint, 1, $2::bigint::text, 1, '', 1, 1, 1, $3, $4, 1, 'USD',
       to_timestamp($5::float8 / 1000), $6, $7)`,
    [
      ...[merchantId, id, order.transaction.kind, order.transaction.stage, order.acceptedAt],
      ...[packFacts(order), packProgress(order)],
    ],
  );
  if (due) {
    await query(
      "insert into due (due_at, order_id, version, merchant_id) values (now(), $1, 1, $2)",
      [id, merchantId],
    );
  }
  await query(
    `insert into cards (merchant_id, id, key_id, sealed, fingerprint)
     select $1, $2, id, '', '' from vault.keys where purpose = 'test'`,
    [merchantId, id],
  );
}

async function listCards(): Promise<string> {
  const rows = await tables.database.query<{ id: string }>("select id from cards order by id");
  return rows.map(({ id }) => id).join(" ");
}
