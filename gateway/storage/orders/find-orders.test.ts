/** Orders of receipts and pages of orders in a real database stay within their merchant. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Order } from "../../orders/order.ts";
import { approved, asks, events, inStage, meet } from "../../orders/testing.ts";
import { asMerchantId, asOrderId, type OrderId } from "../../values/ids.ts";
import { startDatabase } from "../testing/database-for-tests.ts";
import {
  listOrdersAfter,
  listOrdersBefore,
  listOrderTimes,
  makeFindOfReceipt,
} from "./find-orders.ts";
import { packFacts, packProgress } from "./order-row.ts";

const [merchant, other] = [asMerchantId("7"), asMerchantId("8")];

const { database, stop } = await startDatabase();
after(stop);

test("a receipt finds its order after later transactions too, and only for its own merchant", async () => {
  const find = makeFindOfReceipt(database.query);
  const sale = approved();
  const asked = meet(sale, asks("return"));
  const returned = meet(asked, events.returned);
  await keep({ ...inStage("declined"), id: asOrderId("43000001"), clientOrderId: "invoice-2" });

  for (const order of [sale, asked, returned]) {
    await keep(order);
    const found = await find(merchant, sale.id);
    assert.deepEqual([found?.id, found?.version], [order.id, order.version]);
    assert.equal(found?.transaction.stage, order.transaction.stage);
  }
  assert.equal(await find(other, sale.id), undefined);
  assert.equal(await find(merchant, asOrderId("814661")), undefined);
});

test("orders are listed by age, page by page in both ways", async () => {
  await database.query("delete from orders");
  const ages = ["9999999", "10000000", "10000001", "99999999999"];
  for (const id of ages.toReversed()) {
    await keep({ ...inStage("declined"), id: asOrderId(id), clientOrderId: id });
  }
  const walk = async (list: (from?: OrderId) => Promise<readonly { id: OrderId }[]>) => {
    const seen: OrderId[] = [];
    for (let page = await list(); page.length > 0; page = await list(seen.at(-1))) {
      seen.push(...page.map(({ id }) => id));
    }
    return seen;
  };

  const { query } = database;
  const after = await walk((id = asOrderId("0")) => listOrdersAfter(query, id, 1));
  const before = await walk((id) => listOrdersBefore(query, id, 1));
  const times = await walk((id) => listOrderTimes(query, id, 1));

  assert.deepEqual(after, ages);
  assert.deepEqual(before, ages.toReversed());
  assert.deepEqual(times, ages.toReversed());
});

test("any number of concurrent look-ups uses one connection", async () => {
  let underWay = 0;
  const most: number[] = [];
  const find = makeFindOfReceipt(async (text, values, name) => {
    underWay += 1;
    most.push(underWay);
    const rows = await database.query(text, values, name);
    underWay -= 1;
    return rows as never;
  });

  const ids = Array.from({ length: 30 }, (_, index) => asOrderId(String(900_000 + index)));
  const found = await Promise.all(ids.map((id) => find(merchant, id)));

  assert.deepEqual([...new Set(found)], [undefined]);
  assert.deepEqual([most.length, Math.max(...most)], [30, 1]);
});

async function keep(order: Order): Promise<void> {
  const { kind, stage } = order.transaction;
  await database.query("delete from orders where id = $1", [order.id]);
  await database.query(
    `insert into orders (merchant_id, id, endpoint_id, client_orderid, attempt, digest,
       digest_key, changed_at, version, kind, stage, amount, currency, accepted_at,
       facts, progress)
     values ($1, $2, $3, $4, $5, '', 1, 1, $6, $7, $8, 1042, 'USD', now(), $9, $10)`,
    [
      ...[order.merchantId, order.id, order.endpointId, order.clientOrderId, order.attempt],
      ...[order.version, kind, stage, packFacts(order), packProgress(order)],
    ],
  );
}
