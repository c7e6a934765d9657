/**
 * Filters without an index: a page examines a limited number of rows and says where it stopped, and
 * the pages together return everything once.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { DeliveryKey, Window } from "../../portal-api/reads.ts";
import type { RefusalKey } from "../../portal-api/requests.ts";
import { findCallbackPage } from "../callbacks/callback-journal.ts";
import { findEntries, findLookedAt } from "../people/audit-verify.ts";
import { startDatabase } from "../testing/database-for-tests.ts";
import { findRefused } from "./refused-requests.ts";

const { database, stop } = await startDatabase();
after(stop);
const { query } = database;
const rowsCount = 50;
const [most, limit] = [12, 2];
const wanted = [50, 40, 30, 20, 10];

await query(
  `insert into callbacks
     (merchant_id, order_id, sequence, serial, url, receiver, made_at, begun_at, due_at)
   select 7, n, 1, gen_random_uuid(), 'https://shop.example/', case when n % 10 = 0
     then 'rare.example:443' else 'rare.example.com:443' end,
     now() + n * interval '1 s', now(), now()
   from generate_series(1, ${rowsCount}) as n`,
);
await query(
  `insert into refused_requests (merchant_id, at, serial, entry_id, operation, version, code,
     authenticated, sent_from, client_orderid, document)
   select n, now() + n * interval '1 s',
     ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid,
     1, 'sale', 'v2', 'control_mismatch', false, '', case when n % 10 = 0 then 'cup' else 'mug' end,
     '{}' from generate_series(1, ${rowsCount}) as n`,
);
await query(
  `insert into audit (at, actor, action, seq, origin, subject, hash)
   select now(), 'ann', case when n % 10 = 0 then 'gate set' else 'user add' end, n, '', '', ''
   from generate_series(1, ${rowsCount}) as n`,
);

/** Returns all rows of all pages, and checks that each page is bounded. */
async function walk<Row, Key>(
  pageAfter: (key: Key | undefined) => Promise<Window<Row, Key>>,
  keyOf: (row: Row) => Key,
): Promise<readonly Row[]> {
  const found: Row[] = [];
  let [key, pages]: [Key | undefined, number] = [undefined, 0];
  do {
    const { rows, end }: Window<Row, Key> = await pageAfter(key);
    found.push(...rows);
    const last = rows.length === limit ? rows.at(-1) : undefined;
    key = last === undefined ? end : keyOf(last);
    pages += 1;
  } while (key !== undefined && pages < 100);
  assert.ok(pages >= rowsCount / most, `${pages} pages looked through everything`);
  return found;
}

test("callbacks of a receiver are found a window at a time, by its host alone", async () => {
  const found = await walk(
    (key?: DeliveryKey) =>
      findCallbackPage(query, { host: "rare.example", after: key, limit }, most),
    ({ madeAt: at, orderId, sequence }) => ({ at, orderId, sequence }),
  );

  assert.deepEqual(
    found.map(({ orderId }) => Number(orderId)),
    wanted,
  );
  // A page without a filter is full, and the window has no end.
  const { rows, end } = await findCallbackPage(query, { after: undefined, limit }, most);
  assert.deepEqual([rows.length, end], [limit, undefined]);
});

const everything = {
  merchantId: undefined,
  operation: undefined,
  code: undefined,
  endpoint: undefined,
  from: undefined,
  until: undefined,
};

test("refused requests are found by a text a window at a time, by a serial number at once", async () => {
  const found = await walk(
    (key?: RefusalKey) =>
      findRefused(query, { ...everything, search: "cup", after: key, limit }, most),
    ({ at, serial }) => ({ at, serial }),
  );
  const serial = "00000000-0000-4000-8000-000000000001";
  const asked = { ...everything, search: serial, after: undefined, limit };
  const { rows, end } = await findRefused(query, asked, most);

  assert.deepEqual(
    found.map((row) => Number(row.merchantId)),
    wanted,
  );
  assert.deepEqual([rows.map((row) => row.serial), end], [[serial], undefined]);
});

test("the audit is searched a window at a time", async () => {
  const found = await walk<{ seq: number }, { seq: number }>(
    async (key) => {
      const filter = { search: "GATE", before: key?.seq, limit, most };
      const rows = (await findEntries(query, filter)).toReversed();
      return { rows, end: rows.length === limit ? undefined : await findLookedAt(query, filter) };
    },
    ({ seq }) => ({ seq }),
  );

  assert.deepEqual(
    found.map(({ seq }) => seq),
    wanted,
  );
});
