/**
 * More than a year of a gateway's operation by the moved clock: partitions are made and dropped,
 * card numbers are destroyed in time, and a person is erased. References still work, and the books
 * agree.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertRefused } from "../../support/expect.ts";
import type { Acknowledged } from "../../support/merchant.ts";
import { readGw, runGw } from "../../support/programs.ts";
import { startWorld, type World } from "../../support/world.ts";

const month = 30 * 86_400_000;
const declined = "4000004000000020";
const person = {
  email: "Erase.Me@shop.example",
  first_name: "Erasmus",
  card_printed_name: "ERASMUS ME",
  order_desc: "for Erasmus, card 4111 1111 1111 1111",
  merchant_data: "erasmus",
  server_callback_url: "http://127.0.0.1:9/?for=Erasmus",
};

test("a year passes: partitions, card numbers, a person's data, and the books", async (t) => {
  const world = await startWorld(t, {
    GW_HISTORY_KEEP_MONTHS: "6",
    GW_CALLBACK_RETRY_GAPS_S: "60",
  });
  const merchant = world.merchant();
  const cardrefid = await world.registerCard();
  const orders: Acknowledged[] = [];
  const partitionsAtFirst = await listPartitions(world);

  for (let count = 0; count < 15; count += 1) {
    orders.push(await merchant.sale(count === 0 ? person : {}));
    await merchant.sale({ credit_card_number: declined });
    await world.settle();
    if (count === 0) await assertOpenStays(world, orders[0] ?? assert.fail());
    world.clock.advance(month);
    await world.linksUp();
    await world.settle();
    await world.gateway.cleanUp();
    // Unpaid orders of this month are too young, and paid orders are deleted after thirteen months.
    const paid = Math.min(count + 1, 13);
    assert.equal(await countCards(world), 1 + paid, `after ${count + 1} months`);
  }

  const partitions = await listPartitions(world);
  assert.ok(partitions.length <= 12, partitions.join(" "));
  assert.ok(!partitions.some((name) => partitionsAtFirst.includes(name) && /\d/.test(name)));
  await assertRefused(merchant.return(orders[0] ?? assert.fail()), 9, /card number was destroyed/);
  await assertRefused(merchant.register(orders[1] ?? assert.fail()), 9);
  await merchant.return(orders[12] ?? assert.fail());
  await merchant.rebill({ cardrefid });
  await world.settle();

  await assertErased(world, orders[0] ?? assert.fail());
  const audited = await world.installation.database.query<{ action: string; after: object }>(
    "select action, after from audit order by seq",
  );
  assert.ok(audited.some(({ action }) => action === "cards destroy"));
  const erasures = audited.filter(({ action }) => action === "privacy erase");
  // The counts while the order was open, when it was erased, and when nothing was left.
  const counts = [
    { orders: 0, open: 1 },
    { orders: 1, open: 0 },
    { orders: 0, open: 0 },
  ];
  assert.deepEqual(
    erasures.map(({ after }) => after),
    counts.map((each) => ({ by: "email", ...each, cards: 0 })),
  );
});

/** Asserts that an order stays whose callback is still to be delivered. */
async function assertOpenStays(world: World, order: Acknowledged): Promise<void> {
  const { open } = await eraseByEmail(world);
  assert.equal(open, 1);
  assert.equal((await world.merchant().status(order)).status, "approved");
  assert.notDeepEqual(await findTraces(world), []);
}

async function assertErased(world: World, order: Acknowledged): Promise<void> {
  const before = await world.merchant().status(order);
  assert.notDeepEqual(await findTraces(world), []);
  const unconfirmed = await runGw(world, "privacy", "erase", "--email", person.email);
  assert.match(unconfirmed.complaint, /Found 1 orders of 1 merchants.*\n.*Nothing was erased/);

  assert.equal((await eraseByEmail(world)).orders, 1);

  assert.deepEqual(await findTraces(world), []);
  const status = await world.merchant().status(order);
  for (const name of ["status", "amount", "gw-order-id", "merchant-order-id"] as const) {
    assert.equal(status[name], before[name], name);
  }
  assert.equal((await eraseByEmail(world)).orders, 0);
}

async function eraseByEmail(world: World) {
  const email = person.email.toLowerCase();
  const printed = await readGw(world, "privacy", "erase", "--email", email, "--yes");
  return printed as { readonly orders: number; readonly open: number };
}

/** Finds the tables that contain the person, or the card number of the description. */
async function findTraces({ installation }: World): Promise<readonly string[]> {
  const { query } = installation.database;
  const found: string[] = [];
  for (const table of [
    ...["orders", "order_history", "requests", "callbacks", "callback_attempts"],
    ...["card_references", "audit"],
  ]) {
    const rows = await query<{ text: string }>(
      `select to_json(${table})::text as text from ${table}`,
    );
    assert.ok(!rows.some(({ text }) => /4111.?1111.?1111.?1111/.test(text)), table);
    if (rows.some(({ text }) => /erasmus|erase\.me/i.test(text))) found.push(table);
  }
  return found;
}

async function countCards({ installation }: World): Promise<number> {
  return (await installation.database.query("select from cards")).length;
}

async function listPartitions({ installation }: World): Promise<readonly string[]> {
  const rows = await installation.database.query<{ name: string }>(
    `select inhrelid::regclass::text as name from pg_inherits
     where inhparent = 'order_history'::regclass order by 1`,
  );
  return rows.map(({ name }) => name);
}
