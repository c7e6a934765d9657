/** Tries on the payment page in a real database: each is one commit, and no card is lost. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Order } from "../../orders/order.ts";
import { noCard, openPage } from "../../orders/payment-page.ts";
import { draft, events, start, step } from "../../orders/testing.ts";
import { asCardId, asOrderId } from "../../values/ids.ts";
import { later } from "../../values/time.ts";
import { listCardKeys } from "../cards/card-keys.ts";
import { eraseOrder, findOrdersOf } from "../cards/erasure.ts";
import { makeRetentionStore } from "../cards/retention.ts";
import { makeFixedName } from "../server/presence.ts";
import { type DatabaseForTests, startDatabase } from "../testing/database-for-tests.ts";
import { makeBegin, makeCommit, makeEnter } from "./commit.ts";
import { makeFindOrders } from "./find-orders.ts";

const { merchantId } = draft;
const node = makeFixedName("node-1");
const options = { callbackLeaseMs: 1_000 };
const kept = { keyId: 1, sealed: Buffer.alloc(90, 7), fingerprint: Buffer.alloc(32) };
let tables: DatabaseForTests;
let count = 0;

before(async () => {
  tables = await startDatabase();
});
after(() => tables.stop());

async function openOrder(): Promise<Order> {
  count += 1;
  const id = asOrderId(String(20_000_000 + count));
  const own = { id, sequence: 800_000 + count, clientOrderId: `page-${count}` };
  const opened = { ...draft, ...own, ...openPage(draft, { lifeMs: 1_800_000, triesMax: 3 }) };
  const begun = step({ ...opened, card: noCard }, events.received);
  const digest = { digest: Buffer.alloc(32), keyId: 1, cvv: undefined };
  await makeBegin(tables.database.add, node, options)({ step: begun, digest, sealCard: undefined });
  return begun.order;
}

function entryOf(order: Order, cardId: string, { ipAddress = "198.51.100.7", at = start } = {}) {
  const card = { ...draft.card, cardId: asCardId(cardId), hashId: `hash-${cardId}` };
  const payer = { ...events.card_entered.payer, ipAddress };
  const entered = step(order, { ...events.card_entered, card, payer }, at);
  const sealCard = () => ({ merchantId, cardId: card.cardId, ...kept });
  return { step: entered, sealCard };
}

const enter = () => makeEnter(tables.database.hot, node, options);
const move = () => makeCommit(tables.database.hot, node, options);
const read = (order: Order) =>
  makeFindOrders(tables.database.hot).byId({ merchantId, orderId: order.id });

async function cardsOf(...ids: readonly string[]): Promise<number> {
  const rows = await tables.database.query("select from cards where id = any($1::bigint[])", [ids]);
  return rows.length;
}

test("a try is one commit: its step, its card and its payer", async () => {
  const order = await openOrder();
  const outcome = await enter()(entryOf(order, "901", { ipAddress: "203.0.113.99" }));

  const stored = (await read(order)) ?? assert.fail();
  assert.equal(outcome, "done");
  assert.equal(stored.transaction.stage, "authorizing");
  assert.equal(stored.card.cardId, "901");
  assert.equal(stored.purchase.ipAddress, "203.0.113.99");
  assert.equal(await cardsOf("901"), 1);
});

test("only one of two tries from the same version is written, in one batch or in two", async () => {
  const together = await openOrder();
  const both = enter();
  const outcomes = await Promise.all(["911", "912"].map((id) => both(entryOf(together, id))));
  const apart = await openOrder();
  const first = await enter()(entryOf(apart, "913"));
  const second = await enter()(entryOf(apart, "914"));

  assert.deepEqual([...outcomes].sort(), ["done", "stale"]);
  assert.deepEqual([first, second], ["done", "stale"]);
  assert.equal(await cardsOf("911", "912"), 1);
  assert.equal(await cardsOf("913", "914"), 1);
});

test("a step of a try that a failover has lost is not written over the try that was made instead", async () => {
  const order = await openOrder();
  const ofLostPage = entryOf({ ...order, changedAt: later(start, 1) }, "915");
  const lost = entryOf(order, "916").step.order;
  const made = entryOf(order, "917", { at: later(start, 1) });

  assert.equal(await enter()(ofLostPage), "stale");
  assert.equal(await enter()(made), "done");
  assert.equal(made.step.order.version, lost.version);
  assert.equal(await move()(step(lost, events.authorized)), "stale");
  assert.equal((await read(order))?.card.cardId, "917");
  assert.equal(await move()(step(made.step.order, events.authorized)), "done");
});

test("a try whose commit was lost to a broken connection is recognised as written", async () => {
  const order = await openOrder();
  const entry = entryOf(order, "921");
  await enter()(entry);
  const repeated = await enter()(entry, true);

  assert.equal(repeated, "done");
  assert.equal(await cardsOf("921"), 1);
});

test("a try without a card, as a refused wallet makes it, is written", async () => {
  const order = await openOrder();
  const { step: entered } = entryOf(order, "0");

  assert.equal(await enter()({ step: entered, sealCard: undefined }), "done");
  assert.equal((await read(order))?.version, entered.order.version);
});

test("nothing is written under a key that was destroyed", async () => {
  const order = await openOrder();
  const { database } = tables;
  await listCardKeys(database.query, [77]);
  await database.query("update card_keys set destroyed_at = now() where id = 77");
  const entry = entryOf(order, "931");
  const under = { ...entry, sealCard: () => ({ ...entry.sealCard(), keyId: 77 }) };

  await assert.rejects(enter()(under), /the key 77 is destroyed/);
  assert.equal((await read(order))?.transaction.stage, "awaiting_card");
  assert.equal(await cardsOf("931"), 0);
});

test("the card of a refused try is kept while the order is open, and erased with its person", async () => {
  const { database } = tables;
  const order = await openOrder();
  const first = entryOf(order, "941");
  await enter()(first);
  const refused = step(first.step.order, events.refused);
  await move()(refused);
  const second = entryOf(refused.order, "942");
  await enter()(second);
  const retention = makeRetentionStore({ node: database, vault: database });
  const cards = ["941", "942", "943"].map((id) => ({ merchantId, cardId: asCardId(id) }));
  const needed = await retention.findNeeded(cards);
  await move()(step(second.step.order, events.authorized, later(start, 900)));
  const person = { hashIds: new Map([[merchantId, "hash-941"]]) };
  const found = await findOrdersOf(database, person, () => undefined);
  const [own = assert.fail("It was not found.")] = found;
  const erased = await eraseOrder(database, own, { by: "gw-test", at: start });

  assert.deepEqual(needed.map(({ cardId }) => cardId).sort(), ["941", "942"]);
  assert.deepEqual(
    found.map(({ id }) => id),
    [order.id],
  );
  assert.deepEqual(erased?.cards.map(({ cardId }) => cardId).sort(), ["941", "942"]);
  const left = (await read(order)) ?? assert.fail();
  assert.equal(left.page?.refused[0]?.card.lastFour, "");
  const [history] = await database.query<{ text: string }>(
    "select string_agg(events::text, ' ') as text from order_history where order_id = $1",
    [order.id],
  );
  assert.doesNotMatch(history?.text ?? "", /JANE|"0018"|198\.51/);
});
