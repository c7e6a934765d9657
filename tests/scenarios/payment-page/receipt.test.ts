/** Receipts by their address: which orders have one, and who can read it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { joinWorld } from "../../support/shared-world.ts";
import { startWorld } from "../../support/world.ts";

test("an approved order has a receipt at its own endpoint, and at no other", async (t) => {
  const world = await startWorld(t);
  const merchant = world.merchant("plain");
  const order = await merchant.sale();
  const declined = await merchant.sale({ credit_card_number: "4000004000000020" });
  await world.settle();
  const link = await world.receiptLink(order);
  const own = `/${world.set.endpoints["plain"]}/`;

  const shown = await fetch(link);
  const stranger = await world.stranger();
  const moved = new URL(await world.receiptLink(order));
  const others = [world.set.endpoints["secure"], stranger.set.endpoints["plain"], "1"];
  const missed = await Promise.all(
    others.map((id) => fetch(moved.href.replace(own, `/${id ?? ""}/`))),
  );

  assert.equal(shown.status, 200);
  assert.match(await shown.text(), /You paid 10\.15 USD/);
  assert.deepEqual(
    missed.map(({ status }) => status),
    [404, 404, 404],
  );
  assert.equal((await merchant.status(declined))["receipt-id"], undefined);
});

test("a receipt stays during a refund, and shows the refund when it is done", async (t) => {
  const world = await startWorld(t);
  const merchant = world.merchant("plain");
  const order = await merchant.sale();
  await world.settle();
  const link = await world.receiptLink(order);

  const { asked } = await world.whileCardsWait(
    () => merchant.return(order),
    async () => {
      assert.match(await (await fetch(link)).text(), /You paid 10\.15 USD/);
    },
  );
  await asked;
  await world.settle();

  assert.match(await (await fetch(link)).text(), /10\.15 USD to .+ was returned in full/);
});

test("the receipt of a closed endpoint can still be read", async (t) => {
  const world = await startWorld(t);
  const order = await world.merchant("plain").sale();
  await world.settle();
  const { pathname } = new URL(await world.receiptLink(order));
  const id = world.set.endpoints["plain"];
  await world.installation.database.query("update endpoints set enabled = false where id = $1", [
    id,
  ]);
  await world.restart();

  const shown = await fetch(world.gateway.url + pathname.replace(/\/$/, ""));

  assert.equal(shown.status, 200);
  assert.match(await shown.text(), /You paid 10\.15 USD/);
});

test("a client that tries unknown receipts has to wait, and no other client", async (t) => {
  const world = await joinWorld(t);
  const order = await world.merchant("plain").sale();
  await world.settle();
  const link = await world.receiptLink(order);
  const ask = async (address: string, from?: string) => {
    return fetch(address, from === undefined ? {} : { headers: { "x-forwarded-for": from } });
  };
  const guess = (digits: number) => link.replace(/\d+\/$/, `${digits}/`);

  for (let find = 0; find < 70; find += 1) {
    assert.equal((await ask(link, "203.0.113.9")).status, 200);
  }
  for (let miss = 0; miss < 60; miss += 1) {
    assert.equal((await ask(guess(miss), "203.0.113.9")).status, 404);
  }
  const held = await ask(guess(61), "203.0.113.9");
  const pretends = await ask(link, "198.51.100.1, 203.0.113.9");
  const others = [await ask(link, "203.0.113.10"), await ask(link), await ask(guess(62))];
  world.clock.advance(5_000);
  const later = await ask(link, "203.0.113.9");

  assert.deepEqual([held.status, held.headers.get("retry-after")], [429, "5"]);
  assert.match(await held.text(), /This page tries again by itself/);
  assert.equal(pretends.status, 429);
  assert.deepEqual(
    others.map(({ status }) => status),
    [200, 200, 404],
  );
  assert.equal(later.status, 200);
});

test("reading receipts uses no connection that writes orders", async (t) => {
  const world = await startWorld(t);
  const { database } = world.installation;
  const order = await world.merchant("plain").sale();
  await world.settle();
  const link = await world.receiptLink(order);
  const processes = async (condition: string) => {
    const found = await database.query<{ pid: number }>(
      `select pid from pg_stat_activity where datname = current_database() and ${condition}`,
    );
    return found.map(({ pid }) => pid);
  };
  // The status request uses the connection of the orders.
  const writing = await processes("query ~ '^\\s*select orders\\.'");

  const { asked } = await world.whileOrdersWait(
    () => Promise.all(Array.from({ length: 20 }, () => fetch(link))),
    async () => {
      const waiting = await processes("wait_event_type = 'Lock'");
      assert.equal(waiting.length, 1, "twenty receipts hold one connection");
      assert.ok(writing.length > 0 && !waiting.some((pid) => writing.includes(pid)));
    },
  );

  const shown = await asked;
  assert.ok(shown.every(({ status }) => status === 200));
});

test("a receipt's id has 128 bits", async (t) => {
  const world = await startWorld(t);
  const merchant = world.merchant("plain");
  const orders = await Promise.all(Array.from({ length: 12 }, () => merchant.sale()));
  await world.settle();
  const links = await Promise.all(orders.map((order) => world.receiptLink(order)));
  const ids = links.map((link) => BigInt(link.split("/").at(-2) ?? ""));

  const shown = await fetch(links[0] ?? "");

  assert.ok(ids.some((id) => id >= 2n ** 120n) && ids.every((id) => id < 2n ** 128n));
  assert.equal(shown.status, 200);
});
