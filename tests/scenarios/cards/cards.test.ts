/** Card registration and card information: references instead of card numbers. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertRefused } from "../../support/expect.ts";
import { rebillFields } from "../../support/merchant.ts";
import { readGw, runGw } from "../../support/programs.ts";
import { joinWorld } from "../../support/shared-world.ts";
import { startWorld } from "../../support/world.ts";

test("a paid card is registered, and can be looked up by its reference", async (t) => {
  const world = await joinWorld(t);
  const merchant = world.merchant();
  const sale = await merchant.sale({ credit_card_number: "4000001000000018" });
  await world.settle();

  const registered = await merchant.register(sale);
  const again = await merchant.register(sale);
  const told = await merchant.cardInfo(registered["card-ref-id"]);
  const inGroup = await merchant.group().getCardInfo({
    cardrefid: registered["card-ref-id"] ?? "",
  });

  assert.equal(registered.type, "create-card-ref-response");
  assert.equal(registered.status, "approved");
  assert.match(registered["card-ref-id"] ?? "", /^\d{19,20}$/);
  assert.equal(registered["unq-card-ref-id"], (await merchant.status(sale))["card-hash-id"]);
  assert.equal(registered["end-point-id"], merchant.set.endpoints["plain"]);
  assert.equal(again["card-ref-id"], registered["card-ref-id"]);
  assert.equal(told["card-printed-name"], "JANE DOE");
  assert.deepEqual([told["expire-month"], told["expire-year"]], ["12", "2031"]);
  assert.deepEqual([told.bin, told["last-four-digits"]], ["400000", "0018"]);
  assert.equal(inGroup["last-four-digits"], "0018");
});

test("twenty registrations at the same moment give one reference", async (t) => {
  const world = await joinWorld(t);
  const merchant = world.merchant();
  const sale = await merchant.sale();
  await world.settle();

  const all = await Promise.all(Array.from({ length: 20 }, () => merchant.register(sale)));

  assert.equal(new Set(all.map((each) => each["card-ref-id"])).size, 1);
});

test("each order that cannot be registered is refused with its own code", async (t) => {
  const world = await startWorld(t);
  const merchant = world.merchant();
  const declined = await merchant.sale({ credit_card_number: "4000004000000020" });
  const returned = await merchant.sale();
  const partly = await merchant.sale();
  const cancelled = await merchant.preauth();
  await world.settle();
  for (const order of [returned, cancelled]) await merchant.return(order);
  await merchant.return(partly, { amount: "1.00" });
  await world.settle();

  await assertRefused(merchant.register(declined), 9);
  await assertRefused(merchant.register(returned), 9);
  await assertRefused(merchant.register(cancelled), 9);
  await assertRefused(merchant.register({ ...partly, "gw-order-id": "12345678" }), 6);
  assert.notEqual((await merchant.register(partly))["card-ref-id"], undefined);
  const stranger = await world.stranger();
  await assertRefused(stranger.register(partly), 6);
});

test("a reference ends with its card", async (t) => {
  const world = await joinWorld(t);
  const merchant = world.merchant();
  const cardrefid = await world.registerCard();

  world.clock.advance(10 * 365 * 24 * 3_600_000);
  await world.linksUp();

  await assertRefused(merchant.rebill({ cardrefid }), 14);
  await assertRefused(merchant.cardInfo(cardrefid), 14);
});

test("an approved verification registers its card, and its status says so", async (t) => {
  const world = await joinWorld(t);
  const merchant = world.merchant();
  const asked = await merchant.verify({ credit_card_number: "4000001000000018" });
  await world.settle();

  const status = await merchant.status(asked);
  const again = await merchant.status(asked);
  const cardrefid = status["card-ref-id"] ?? "";
  const payment = await merchant.rebill({ cardrefid });
  await world.settle();

  assert.equal(again["card-ref-id"], cardrefid);
  assert.equal((await merchant.status(payment)).status, "approved");
});

test("a reference that the operator removes can no longer be paid with", async (t) => {
  const world = await startWorld(t);
  const merchant = world.merchant();
  const cardrefid = await world.registerCard();

  const shown = await readGw(world, "card", "show", world.set.login, cardrefid);
  const fields = rebillFields({ cardrefid });
  const paid = await merchant.rebill(fields);
  const removed = await runGw(world, "card", "remove", world.set.login, cardrefid);
  const again = await runGw(world, "card", "remove", world.set.login, cardrefid);

  assert.deepEqual(
    [removed.code, again.code, (shown as { card: string }).card],
    [0, 2, "411111****1111"],
  );
  await assertRefused(merchant.rebill({ cardrefid }), 15);
  await assertRefused(merchant.cardInfo(cardrefid), 15);
  // A payment that began before is acknowledged as usual.
  assert.equal((await merchant.rebill(fields))["gw-order-id"], paid["gw-order-id"]);
});

test("a removed card is not registered again with the payment that it came from", async (t) => {
  const world = await startWorld(t);
  const merchant = world.merchant();
  const verified = await merchant.verify({ credit_card_number: "4000001000000018" });
  await world.settle();
  const { "card-ref-id": cardrefid = "" } = await merchant.status(verified);
  await runGw(world, "card", "remove", world.set.login, cardrefid);

  await assertRefused(merchant.register(verified), 15);
  const status = await merchant.status(verified);

  assert.equal(status.status, "approved");
  assert.equal(status["card-ref-id"], undefined);
});
