/** Screening's counts: each payment sees exactly those before it, even at two nodes at once. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { draft } from "../../orders/testing.ts";
import type { CountedPayment } from "../../screening/judge.ts";
import { countMax } from "../../screening/rule.ts";
import { asMerchantId, asOrderId } from "../../values/ids.ts";
import { asInstant } from "../../values/time.ts";
import { startDatabase } from "../testing/database-for-tests.ts";
import { makeDeleteTallies, makeTallyStore, recordsMax } from "./tallies.ts";

const tables = await startDatabase();
after(() => tables.stop());
const { database } = tables;
const node = () => makeTallyStore(database.hot, { retryMs: 1_000 });
const start = 1_794_708_246_000;

let count = 0;

/** Makes a payment of one card and one email address unless other values are given. */
function payment(
  keys: readonly number[],
  { request = ++count, at = start, owner = "7" } = {},
): CountedPayment {
  const orderId = asOrderId(String(590_000_000_000_000_000n + BigInt(++count)));
  const seen = {
    orderId,
    at: asInstant(at),
    minor: 1_015n,
    currency: "USD",
    card: "0102030405060708",
  };
  const digest = Buffer.alloc(32);
  digest.writeUInt32BE(request);
  const rows = keys.map((key) => ({
    owner: asMerchantId(owner),
    key: `00000000-0000-0000-0000-${String(key).padStart(12, "0")}`,
    keepUntil: asInstant(at + 3_600_000),
  }));
  return { merchantId: draft.merchantId, seen, request: digest, rows };
}

test("each of several concurrent payments at two nodes knows those before it", async () => {
  const nodes = [node(), node()];
  const payments = Array.from({ length: 60 }, (_, at) => payment(at % 2 === 0 ? [1, 2] : [2, 1]));

  const tallies = await Promise.all(
    payments.map((each, at) => nodes[at % 2]?.add(each) ?? assert.fail()),
  );

  const counts = tallies.map(([first]) => first?.before.length ?? -1);
  assert.deepEqual(
    counts.sort((one, other) => one - other),
    payments.map((_, at) => at),
  );
  const [, last] = tallies.find(([first]) => first?.before.length === 59) ?? [];
  const { at, minor, currency, card } = last?.before[0] ?? assert.fail();
  assert.deepEqual([at, minor, currency, card], [start, 1_015n, "USD", "0102030405060708"]);
});

test("a repeated request is one payment, and a payment that is taken back does not count", async () => {
  const store = node();
  const first = payment([3], { request: 77 });
  const repeat = payment([3], { request: 77 });
  const other = payment([3]);

  await store.add(first);
  assert.deepEqual((await store.add(repeat))[0]?.before, []);
  await store.remove(repeat);
  await store.remove(repeat);
  assert.deepEqual(
    (await store.add(other))[0]?.before.map(({ orderId }) => orderId),
    [first.seen.orderId],
  );
  await store.remove(first);
  await store.remove(other);
  assert.deepEqual((await store.add(payment([3])))[0]?.before, []);
});

test("a row keeps more records than the largest limit, even of a large batch, and says when it is full", async () => {
  const store = node();
  const early = await Promise.all(Array.from({ length: 200 }, () => store.add(payment([4]))));
  const [row] = await database.query<{ isPlain: boolean }>(
    `select pg_column_size(events) >= octet_length(events) as "isPlain" from screening_tallies
     order by octet_length(events) desc limit 1`,
  );
  assert.equal(row?.isPlain, true, "compressing took six times as long as counting");
  const [next] = await store.add(payment([4]));

  assert.deepEqual(
    early.map(([tally]) => tally?.before.length),
    early.map((_, at) => at),
  );
  assert.equal(next?.before.length, recordsMax);
  assert.equal(next?.isFull, true);
  assert.ok(recordsMax > countMax);
});

test("expired rows start again, or are deleted", async () => {
  const store = node();
  const hour = 3_600_000;
  await store.add(payment([5, 6]));
  const [late] = await store.add(payment([5], { at: start + hour + 1 }));

  assert.equal(late?.firstAt, start + hour + 1);
  assert.deepEqual(late?.before, []);
  const remove = makeDeleteTallies(database.query);
  assert.equal(await remove(asInstant(start + hour + 2)), 5);
  const left = await database.query<{ key: string }>("select key from screening_tallies");
  assert.deepEqual(
    left.map(({ key }) => key.slice(-1)),
    ["5"],
  );
});

test("a flood of expired rows is deleted at once, and other rows stay", async () => {
  await database.query("delete from screening_tallies");
  await database.query(
    `insert into screening_tallies (merchant_id, key, first_at, keep_until, events)
     select 7, gen_random_uuid(), 0, case when n % 8 = 0 then 2000 else 1000 end, ''
     from generate_series(1, 12000) as n`,
  );
  const remove = makeDeleteTallies(database.query);

  assert.equal(await remove(asInstant(1_500)), 10_500);
  assert.equal(await remove(asInstant(1_500)), 0);
  const [left] = await database.query("select count(*)::int as rows from screening_tallies");
  assert.deepEqual(left, { rows: 1_500 });
});

test("the results of orders decide which payments count as approved", async () => {
  const rows = [
    [1, "sale", "approved"],
    [2, "refund", "declined"],
    [3, "sale", "declined"],
    [4, "preauth", "filtered"],
    [5, "sale", "authorizing"],
  ] as const;
  for (const [id, kind, stage] of rows) {
    await database.query(
      `insert into orders (merchant_id, id, endpoint_id, client_orderid, attempt, digest,
         digest_key, changed_at, version, kind, stage, amount, currency, accepted_at,
         facts, progress)
       values (7, $1, 1, $1::bigint::text, 1, '', 1, 1, 1, $2, $3, 1, 'USD', now(), '{}', '{}')`,
      [id, kind, stage],
    );
  }

  const found = await node().findResults(["1", "2", "3", "4", "5", "6"].map(asOrderId));

  const expected = ["approved", "approved", "declined", "other", "open"];
  assert.deepEqual(
    [...found].sort(),
    expected.map((result, at) => [String(at + 1), result]),
  );
});
