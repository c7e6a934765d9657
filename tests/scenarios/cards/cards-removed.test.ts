/** Registered cards that their merchant removes: references end at once, and the card later. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { assertRefused, bookedFor, received } from "../../support/expect.ts";
import { rebillFields } from "../../support/merchant.ts";
import { runGw } from "../../support/programs.ts";
import { joinWorld } from "../../support/shared-world.ts";
import { until } from "../../support/until.ts";
import { post } from "../../support/wire.ts";
import { startWorld, type World } from "../../support/world.ts";

test("a refunded order keeps its card reference, and gets no new one", async (t) => {
  const world = await joinWorld(t);
  const merchant = world.merchant();
  const [registered, other] = [await merchant.sale(), await merchant.sale()];
  await world.settle();
  const { "card-ref-id": cardrefid } = await merchant.register(registered);
  for (const order of [registered, other]) await merchant.return(order);
  await world.settle();

  assert.equal((await merchant.register(registered))["card-ref-id"], cardrefid);
  await assertRefused(merchant.register(other), 9, /the first payment was refunded/);
});

test("a removed card cannot be paid with, looked up, removed or registered again", async (t) => {
  const world = await startWorld(t);
  const merchant = world.merchant();
  const first = await merchant.sale();
  await world.settle();
  const { "card-ref-id": cardrefid = "" } = await merchant.register(first);
  const fields = rebillFields({ cardrefid });
  const paid = await merchant.rebill(fields);
  await world.settle();

  const removed = await merchant.removeCard(cardrefid);

  assert.equal(removed.type, "remove-card-ref-response");
  assert.equal(removed["card-ref-id"], cardrefid);
  await assertRefused(merchant.removeCard(cardrefid), 8);
  await assertRefused(merchant.group().removeCardRef({ cardrefid }), 8);
  await assertRefused(merchant.rebill({ cardrefid }), 8);
  await assertRefused(merchant.cardInfo(cardrefid), 8);
  await assertRefused(merchant.register(first), 9, /the card was removed/);
  // A payment that began before is acknowledged as usual.
  assert.equal((await merchant.rebill(fields))["gw-order-id"], paid["gw-order-id"]);
  assert.equal((await runGw(world, "card", "remove", world.set.login, cardrefid)).code, 2);
  assert.equal(received(world, "0200"), 2);
});

test("payments with a removed card are captured and returned for some days", async (t) => {
  const world = await joinWorld(t);
  const merchant = world.merchant();
  const first = await merchant.sale();
  await world.settle();
  const { "card-ref-id": cardrefid = "" } = await merchant.register(first);
  const held = await merchant.endpoint("plain").makeRebillPreauth(rebillFields({ cardrefid }));
  await world.settle();

  await merchant.removeCard(cardrefid);
  world.clock.advance(3 * 86_400_000);
  await world.linksUp();
  await merchant.capture(held);
  await merchant.return(first);
  await world.settle();

  const [captured, returned] = await Promise.all(
    [held, first].map((order) => merchant.status(order)),
  );
  assert.deepEqual(bookedFor(world, captured ?? {}), ["authorisation 1015", "capture 1015"]);
  assert.deepEqual(bookedFor(world, returned ?? {}), ["sale 1015", "reversal 1015"]);
});

test("bad removals are refused, and remove nothing", async (t) => {
  const world = await startWorld(t);
  const merchant = world.merchant();
  const cardrefid = await world.registerCard();
  const path = `/gw/api/v2/remove-card-ref/${world.set.endpoints["plain"]}`;
  const { login, controlKey } = world.set;
  const sign = (text: string) => createHash("sha1").update(text).digest("hex");

  await assertRefused(merchant.removeCard("1234567890123456789"), 8);
  await assertRefused(merchant.removeCard("12a"), 5);
  for (const control of [sign(cardrefid + controlKey), sign(login + cardrefid), "0".repeat(40)]) {
    const body = new URLSearchParams({ login, cardrefid, control }).toString();
    assert.match((await post(world, path, body)).text, /error-code=2/);
  }
  const stranger = await world.stranger();
  await assertRefused(stranger.removeCard(cardrefid), 8);

  assert.equal((await world.merchant().cardInfo(cardrefid))["last-four-digits"], "1111");
});

test("of twenty removals at the same moment one succeeds", async (t) => {
  const world = await joinWorld(t);
  const merchant = world.merchant();
  const cardrefid = await world.registerCard();

  const asked = Array.from({ length: 20 }, () => merchant.removeCard(cardrefid));
  const ended = await Promise.allSettled(asked);

  assert.equal(ended.filter(({ status }) => status === "fulfilled").length, 1);
});

test("the card is destroyed, unless an order with it is in doubt", async (t) => {
  const world = await startWorld(t, { GW_REMOVED_CARD_KEEP_S: "0" });
  const merchant = world.merchant();
  const sold = await merchant.sale({ credit_card_number: "4000001000000018" });
  await world.settle();
  const { "card-ref-id": free = "" } = await merchant.register(sold);
  const needed = await world.registerCard();
  const kept = await world.registerCard("4539578763621486");
  await world.bank.setSwitches({ lostAnswerShare: 1 });
  const doubtful = await merchant.rebill({ cardrefid: needed });
  await world.bank.waitForMessage({ mti: "0200" });
  await world.stopHost();
  const before = await countCards(world);

  await merchant.removeCard(free);
  await merchant.removeCard(needed);
  world.clock.advance(120_000);
  await untilLeft(world, before - 1);
  assert.equal((await merchant.status(doubtful))["order-stage"], "sale_unknown");

  await world.bank.setSwitches({ lostAnswerShare: 0 });
  await world.startHost();
  await world.pass(300_000);
  await world.pass(300_000);
  assert.equal((await merchant.status(doubtful))["error-code"], "5003");
  await untilLeft(world, before - 2);

  await assertRefused(merchant.return(sold), 9, /the card number was destroyed/);
  await merchant.rebill({ cardrefid: kept });
  assert.ok(world.logged.some((line) => line.includes("vault.removed_cards_destroyed")));
  const audited = await world.installation.database.query<{ after: object }>(
    "select after from audit where action = 'cards destroy'",
  );
  assert.deepEqual(audited, [{ after: { removed: 1 } }, { after: { removed: 1 } }]);
});

/** Waits for the count, because the node's own job may run at the same time. */
async function untilLeft(world: World, count: number): Promise<void> {
  await until(`${count} cards are left`, async () => {
    await world.gateway.cleanUp();
    return (await countCards(world)) === count || undefined;
  });
}

async function countCards({ installation }: World): Promise<number> {
  const rows = await installation.database.query("select from cards");
  return rows.length;
}
