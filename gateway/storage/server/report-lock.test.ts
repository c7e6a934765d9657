/** The lock of a merchant's report: one at a time, and none outlives its node or its machine. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type pg from "pg";
import { asMerchantId } from "../../values/ids.ts";
import { makeTakeReport } from "../orders/begun-transactions.ts";
import { startDatabase } from "../testing/database-for-tests.ts";

const { database, stop } = await startDatabase();
after(stop);
const [one, two] = [asMerchantId("1"), asMerchantId("2")];

test("one report of a merchant is made at a time, and others do not wait for it", async () => {
  const take = makeTakeReport(database);

  const release = await take(one);
  const [again, other] = [await take(one), await take(two)];
  await release?.();
  const next = await take(one);

  assert.deepEqual([again, typeof other, typeof next], [undefined, "function", "function"]);
  await other?.();
  await next?.();
});

test("the server probes the connection of a report, whose lock a lost machine would keep", async () => {
  const clients: pg.Client[] = [];
  const take = makeTakeReport({
    async connect() {
      const client = await database.connect();
      clients.push(client);
      return client;
    },
  });
  const release = await take(one);

  // A connection within one machine shows zero as the values. That they were set is shown always.
  const found = await clients[0]?.query<{ name: string; source: string }>(
    "select name, source from pg_settings where name like 'tcp_keepalives%' order by name",
  );

  assert.deepEqual(
    found?.rows.map(({ source }) => source),
    ["session", "session", "session"],
  );
  await release?.();
});
