/** The search for earlier payments of a disputed order's card, in a real database. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { describeOrder, figuresOf, wordOf } from "../../portal-api/order-index.ts";
import { asOrderId } from "../../values/ids.ts";
import { asInstant, hours, later } from "../../values/time.ts";
import { listOrdersAfter } from "../orders/find-orders.ts";
import { addOrders } from "../orders/generated-orders.ts";
import { startDatabase } from "../testing/database-for-tests.ts";
import { makeSell } from "../testing/stored-rows.ts";
import { makeOrderIndex } from "./order-index.ts";
import { findEarlierPayments } from "./reconciliations.ts";

const server = await startDatabase();
after(() => server.stop());
const { database } = server;
const { query } = database;

test("other cards with the same last four digits do not push the card's payments out", async () => {
  const template = await makeSell(database)();
  const [row] = await query<{ merchant: string }>("select merchant_id as merchant from orders");
  const made = { template, merchant: row?.merchant ?? "", days: 0.0003 };
  await addOrders(query, { ...made, from: 1, count: 20, total: 20 });
  const listed = await listOrdersAfter(query, asOrderId("0"), 30);
  const now = asInstant(Date.now());
  const options = { describe: describeOrder, figuresOf, now: () => now };
  await makeOrderIndex(database, options).write(listed);
  const byTime = listed.toSorted((one, next) => one.acceptedAt - next.acceptedAt);
  const [oldest, second] = byTime;
  assert.ok(oldest !== undefined && second !== undefined);
  await query(
    `update orders set progress = jsonb_set(progress::jsonb, '{card,hashId}', '"1"')::json
     where id <> all($1::bigint[])`,
    [[oldest.id, second.id]],
  );
  const words = [wordOf("merchant", oldest.merchantId), wordOf("outcome", "approved")];
  const wanted = { from: later(now, -hours(24 * 365)), until: now, words };

  const found = await findEarlierPayments(query, oldest, wanted, 2);

  assert.deepEqual(
    found.map(({ id }) => id),
    [second.id, oldest.id],
  );
});
