/** Erasure of a person: no data of the person remains, and the books stay complete. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { advance, conditions, draft, events, start } from "../../orders/testing.ts";
import { asOrderId, asSerialNumber } from "../../values/ids.ts";
import { asInstant } from "../../values/time.ts";
import { hasMoved } from "../cells/cells.ts";
import { makeBegin, makeCommit } from "../orders/commit.ts";
import { listOrdersAfter, makeFindOrders } from "../orders/find-orders.ts";
import { makeFixedName } from "../server/presence.ts";
import { type DatabaseForTests, startDatabase } from "../testing/database-for-tests.ts";
import { eraseOrder, findOrdersOf, vacuumErased } from "./erasure.ts";
import { condemnCards } from "./retention.ts";

const email = "Erasmus@shop.example";
const withoutRetries = { acceptRetryMs: 0, beginTriesMs: 0, callbackLeaseMs: 1_000 };
const by = { by: "gw-test", at: asInstant(start + 86_400_000) };
let tables: DatabaseForTests;

before(async () => {
  tables = await startDatabase();
});
after(() => tables.stop());

test("a person is found by email address, page by page, and erased without traces", async () => {
  const { database } = tables;
  await addOrders(1_200, email.toUpperCase());
  await addOrder("700001", email);
  let looked = 0;
  const found = await findOrdersOf(database, { emails: [email.toLowerCase()] }, (count) => {
    looked += count;
  });
  assert.deepEqual([looked, found.length], [1_201, 1_201]);
  assert.deepEqual(
    found.filter(({ isOpen }) => isOpen),
    [],
  );
  const [order] = found.filter(({ id }) => id === "700001");
  const read = makeFindOrders(database.hot).byId;
  const key = { merchantId: draft.merchantId, orderId: asOrderId("700001") };
  const stored = await read(key);

  const erased = await eraseOrder(database, order ?? assert.fail(), by);
  await vacuumErased(database);

  const left = (await read(key)) ?? assert.fail();
  assert.equal(erased?.cards.length, 1);
  assert.deepEqual(left.purchase.amount, stored?.purchase.amount);
  assert.deepEqual(left.transaction.identifiers, stored?.transaction.identifiers);
  assert.deepEqual(
    [left.transaction.stage, left.version],
    ["approved", (stored?.version ?? 0) + 1],
  );
  assert.deepEqual([left.card.lastFour, left.card.hashId, left.purchase.customer], ["", "", {}]);
  assert.doesNotMatch(await dump("700001"), /Erasmus|JANE/i);
  const again = await findOrdersOf(database, { emails: [email.toLowerCase()] }, () => undefined);
  assert.equal(again.length, 1_200);
});

test("a step of a node that has the order in memory does not bring the data back", async () => {
  const { database } = tables;
  const order = await addOrder("700002", email);
  const step = advance(order, events.noted, start, conditions);
  await eraseOrder(database, { merchantId: draft.merchantId, id: order.id }, by);

  const commit = makeCommit(database.hot, makeFixedName("n"), withoutRetries);
  assert.equal("from" in step && (await commit(step)), "stale");
  assert.doesNotMatch(await dump("700002"), /Erasmus/i);
});

test("an order with a callback to deliver, or in flight, is not erased", async () => {
  const { database } = tables;
  await addOrder("700003", email);
  await database.query(
    "update callbacks set due_at = now(), ended = null, ended_at = null where order_id = 700003",
  );
  await addOrder("700004", email, false);

  for (const id of ["700003", "700004"]) {
    const key = { merchantId: draft.merchantId, id: asOrderId(id) };
    assert.equal(await eraseOrder(database, key, by), undefined);
    assert.match(await dump(id), /Erasmus/);
  }
});

test("a person is found by the hash id of a card at each merchant", async () => {
  const hashIds = new Map([[draft.merchantId, draft.card.hashId]]);

  const found = await findOrdersOf(tables.database, { hashIds }, () => undefined);

  assert.deepEqual(found.map(({ id }) => id).includes(asOrderId("700003")), true);
  const other = new Map([[draft.merchantId, "1"]]);
  assert.deepEqual(await findOrdersOf(tables.database, { hashIds: other }, () => undefined), []);
});

test("nothing is erased or marked for destruction in a cell that the merchant has left", async () => {
  const { database } = tables;
  const { merchantId, id } = await addOrder("700005", email);
  await database.query(fence, [merchantId]);
  const card = { merchantId, cardId: draft.card.cardId, why: "erased" } as const;

  await assert.rejects(eraseOrder(database, { merchantId, id }, by), hasMoved);
  // Rows that are deleted in this cell give the same error, which does not mean an open order.
  await assert.rejects(eraseOrder(database, { merchantId, id: asOrderId("1") }, by), hasMoved);
  await assert.rejects(condemnCards(database.query, [card], by.at), hasMoved);
  assert.deepEqual(await listOrdersAfter(database.query, asOrderId("700000"), 9), []);

  await database.query("delete from moved_merchants");
  assert.match(await dump("700005"), /Erasmus/);
});

test("an erasure that began before the fence does not write after it", async () => {
  const { database } = tables;
  const { merchantId, id } = await addOrder("700006", email);
  // The wrapped query fences the merchant between the lock of the order and its change.
  const transaction: typeof database.transaction = (work) =>
    database.transaction((query) =>
      work(async (text, ...rest) => {
        if (text.startsWith("update orders")) await database.query(fence, [merchantId]);
        return query(text, ...rest);
      }),
    );

  await assert.rejects(eraseOrder({ transaction }, { merchantId, id }, by), hasMoved);

  await database.query("delete from moved_merchants");
  assert.match(await dump("700006"), /Erasmus/);
});

const fence = "insert into moved_merchants (merchant_id) values ($1)";

async function addOrder(id: string, address: string, isEnded = true) {
  const { query, hot } = tables.database;
  const customer = { ...draft.purchase.customer, email: address };
  const urls = { ...draft.purchase.urls, serverCallback: "https://shop.example/?to=Erasmus" };
  const purchase = { ...draft.purchase, customer, urls, description: "for Erasmus" };
  const serialNumber = asSerialNumber(`0195933a-7c48-7000-8000-${id.padStart(12, "0")}`);
  const transaction = { ...draft.transaction, serialNumber };
  const named = { id: asOrderId(id), clientOrderId: id, attempt: 1 };
  const like = { ...draft, ...named, transaction, purchase };
  const step = advance(like, { kind: "received" }, start, conditions);
  if (!("order" in step)) throw new Error("not received");
  const digest = { keyId: 3, digest: Buffer.alloc(32, 1), cvv: undefined };
  await makeBegin(query, makeFixedName("n"), withoutRetries)({ step, digest, sealCard: undefined });
  if (!isEnded) return step.order;
  const ended = advance(step.order, events.authorized, start, conditions);
  if (!("order" in ended)) throw new Error("not authorized");
  await makeCommit(hot, makeFixedName("n"), withoutRetries)(ended);
  await query(
    `update callbacks set due_at = null, ended = 'delivered', ended_at = now()
     where order_id = $1`,
    [id],
  );
  await query(
    `insert into callback_attempts (merchant_id, order_id, sequence, at, node, method, url, body,
       duration_ms, answer)
     values ($1, $2, 0, now(), 'n', 'GET', 'Erasmus', 'Erasmus', 1, 'Erasmus')`,
    [draft.merchantId, id],
  );
  return ended.order;
}

async function addOrders(count: number, address: string): Promise<void> {
  await tables.database.query(
    `insert into orders (merchant_id, id, endpoint_id, client_orderid, attempt, digest,
       digest_key, changed_at, version, kind, stage, amount, currency, accepted_at, finished_at,
       facts, progress)
     select 999, n, 1, 'b' || n, 1, '', 1, 1, 1, 'sale', 'approved', 1, 'USD', now(), now(),
       json_build_object('purchase', json_build_object('customer',
         json_build_object('email', $2::text))), '{"card":{"cardId":"0"}}'
     from generate_series(1, $1::int) as n`,
    [count, address],
  );
}

async function dump(id: string): Promise<string> {
  const tablesOf = ["order_history", "requests", "callbacks", "callback_attempts"];
  let text = "";
  for (const [table, column] of [["orders", "id"], ...tablesOf.map((name) => [name, "order_id"])]) {
    const rows = await tables.database.query<{ text: string }>(
      `select to_json(${table})::text as text from ${table} where ${column} = $1`,
      [id],
    );
    text += rows.map((row) => row.text).join("\n");
  }
  return text;
}
