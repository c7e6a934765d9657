/** The portal's lists among many orders: which rows they return, and which index finds them. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { personInSearch, wordsOfSearch } from "../../portal-api/order-index.ts";
import { asMerchantId } from "../../values/ids.ts";
import type { Query } from "../server/database.ts";
import { startDatabase } from "../testing/database-for-tests.ts";
import { findOrderLines } from "./portal-reads.ts";

const server = await startDatabase();
after(() => server.stop());
const { query } = server.database;
const rows = 30_000;
await query(
  `insert into order_index (merchant_id, at, order_id, version, endpoint_id, client_orderid, kind,
     stage, status, outcome, reason, threeds, amount, currency, network, last_four, email, gate,
     reference, words, people)
   select case when n between 100 and 110 then 9 else 1 + n % 3 end,
     to_timestamp(1700000000 + n), 10000000 + n, 1, 1, n::text, 'sale', '', '', '',
     '', '', 100, 'USD', '', '', '', '', '',
     array['s:' || case when n % 2 = 0 then 'approved' else 'declined' end, 'c:' || n,
       'y:' || case when n < 5 then 'eur' else 'usd' end],
     array['name' || n, 'jane', case when n = 77 then 'doe' else 'roe' end,
       'buyer' || n || '@shop.example', '@shop.example']
   from generate_series(1, ${rows}) as n`,
);
await query("vacuum analyze order_index");

const every = { merchantId: undefined, words: [], from: undefined, until: undefined };
const latest = { ...every, after: undefined, limit: 3 };
const idsOf = async (asked: Partial<typeof latest> & object) =>
  (await findOrderLines(query, { ...latest, ...asked })).map(({ orderId }) => Number(orderId));

/** Returns the plans of the statements that the list sends instead of their rows. */
async function plansOf(asked: object): Promise<string> {
  const plans: string[] = [];
  const explain: Query = async (statement, values) => {
    const lines = await query<{ "QUERY PLAN": string }>(`explain ${statement}`, values);
    plans.push(lines.map((line) => line["QUERY PLAN"]).join("\n"));
    return query(statement, values);
  };
  await findOrderLines(explain, { ...latest, ...asked });
  return plans.join("\n");
}

test("the latest orders are read by the index of times, a quiet merchant's by the key", async () => {
  const all = await plansOf({});
  const own = await plansOf({ merchantId: asMerchantId("9") });

  assert.match(all, /Index Scan Backward using order_index_by_time/);
  assert.match(own, /order_index_pkey/);
  for (const plan of [all, own]) assert.doesNotMatch(plan, /Seq Scan on order_index/);
});

test("pages continue after a row, even if orders came in the same millisecond", async () => {
  const last = 10_000_000 + rows;
  const at = (1_700_000_000 + rows - 2) * 1000;

  assert.deepEqual(await idsOf({}), [last, last - 1, last - 2]);
  const cursor = { at, orderId: String(last - 2) };
  assert.deepEqual(await idsOf({ after: cursor as never }), [last - 3, last - 4, last - 5]);
});

test("the index of words finds the few orders that match a filter", async () => {
  const rare = { words: [["y:eur"]] as never, limit: 10 };

  assert.deepEqual(await idsOf(rare), [10000004, 10000003, 10000002, 10000001]);
  assert.match(await plansOf(rare), /order_index_words/);
  assert.deepEqual(await idsOf({ words: [["c:7"]] as never }), [10000007]);
});

test("filters narrow each other, and the words of one widen it", async () => {
  const declined = [["s:declined"], ["y:eur"]] as never;

  assert.deepEqual(await idsOf({ words: declined, limit: 10 }), [10000003, 10000001]);
  const either = [["s:declined", "s:approved"], ["y:eur"]] as never;
  assert.equal((await idsOf({ words: either, limit: 10 })).length, 4);
  const merchantId = asMerchantId("2");
  assert.deepEqual(await idsOf({ words: either, limit: 10, merchantId: merchantId as never }), [
    ...[10000004, 10000001],
  ]);
});

// biome-ignore format: a table
const persons = [
  ["doe",             [10000077]],
  ["Jane DO",         [10000077]],
  ["jane roe buyer29999", [10029999]],
  ["buyer29999@sho",  [10029999]],
  ["@shop",           [10030000, 10029999, 10029998]],
  ["shop.exam",       [10030000, 10029999, 10029998]],
  ["jane nobody",     []],
] as const;

test("a person is found by beginnings of words among all orders, by the index of people", async () => {
  for (const [typed, ids] of persons) {
    const search = { words: wordsOfSearch(typed), person: personInSearch(typed) };
    assert.deepEqual(await idsOf({ search } as never), ids, typed);
  }
  const search = { words: wordsOfSearch("doe"), person: personInSearch("doe") };
  const plan = await plansOf({ search });
  assert.match(plan, /order_index_people/);
  assert.doesNotMatch(plan, /Seq Scan on order_index/);
});
