/**
 * Recurrent payments with several amounts, which are tried one after the other and charged once.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { testOnEachDialect } from "../../support/bank/dialects.ts";
import { assertRefused, bookedFor, received } from "../../support/expect.ts";
import { joinWorld } from "../../support/shared-world.ts";
import { startWorld } from "../../support/world.ts";

test("the first of several amounts that the bank accepts is charged", async (t) => {
  const world = await joinWorld(t);
  const merchant = world.merchant();
  const cardrefid = await world.registerCard("4000004000000202");

  // The minor units choose the bank's answer: no funds, over the limit, approved.
  const payment = await merchant.rebill({
    cardrefid,
    amount: "30.51",
    enumerate_amounts: "30.51,20.61,10.00,5.00",
  });
  await world.settle();
  const status = await merchant.status(payment);

  assert.equal(status.status, "approved");
  assert.equal(status.amount, "30.51");
  assert.equal(status["initial-amount"], "30.51");
  assert.equal(status["charged-amount"], "10.00");
  assert.deepEqual(bookedFor(world, status), ["sale 1000"]);
  // The host received the first payment and three attempts.
  assert.equal(received(world, "0200"), 4);
});

test("a hard decline ends the list of amounts, and an exhausted list is declined", async (t) => {
  const world = await joinWorld(t);
  const merchant = world.merchant();
  const cardrefid = await world.registerCard("4000004000000202");

  const lost = await merchant.rebill({ cardrefid, amount: "30.41", enumerate_amounts: "10.00" });
  const poor = await merchant.rebill({ cardrefid, amount: "30.51", enumerate_amounts: "20.51" });
  await world.settle();

  assert.equal((await merchant.status(lost))["error-code"], "208");
  assert.equal((await merchant.status(poor))["error-code"], "116");
  assert.equal((await merchant.status(poor))["charged-amount"], undefined);
});

test("doubt about one amount is settled before the next is tried", async (t) => {
  const world = await joinWorld(t);
  const merchant = world.merchant();
  const cardrefid = await world.registerCard("4000004000000202");

  const payment = await merchant.rebill({
    cardrefid,
    amount: "30.68",
    enumerate_amounts: "10.00",
  });
  while (received(world, "0200") < 2) await world.gateway.claimDue();
  const doubtful = await merchant.status(payment);
  await world.pass(30_000);
  const settled = await merchant.status(payment);

  assert.equal(doubtful.status, "processing");
  assert.equal(settled.status, "approved");
  assert.equal(settled["charged-amount"], "10.00");
  const kinds = world.bank.messages().filter((each) => each.direction === "received");
  const order = kinds.map(({ mti }) => mti).filter((mti) => mti.startsWith("02") || mti === "0420");
  assert.deepEqual(order, ["0200", "0200", "0420", "0200"]);
});

test("a list of amounts continues after a restart, and charges once", async (t) => {
  const world = await joinWorld(t);
  const merchant = world.merchant();
  const cardrefid = await world.registerCard("4000004000000202");
  const payment = await merchant.rebill({
    cardrefid,
    amount: "30.68",
    enumerate_amounts: "10.00",
  });
  while (received(world, "0200") < 2) await world.gateway.claimDue();

  await world.restart();
  await world.settle();
  // A message that the stopping node could not send is due again later.
  await world.pass(30_000);
  const status = await merchant.status(payment);

  assert.equal(status.status, "approved");
  assert.equal(status["charged-amount"], "10.00");
  assert.deepEqual(bookedFor(world, status), ["sale 1000"]);
});

test("every attempt has its own numbers, so that each can be found and reversed", async (t) => {
  const world = await startWorld(t);
  const merchant = world.merchant();
  await world.changeEndpoint("plain", { acceptsPartialApprovals: true });
  const cardrefid = await world.registerCard("4000004000000186");
  await world.changeEndpoint("plain", { acceptsPartialApprovals: false });

  // Each amount is approved in part and reversed, and then the next is tried.
  const payment = await merchant.rebill({
    cardrefid,
    amount: "30.00",
    enumerate_amounts: "20.00,10.00",
  });
  await world.settle();

  const tries = world.bank.messages().filter((each) => each.direction === "received");
  const sales = tries.filter(({ mti }) => mti === "0200").slice(1);
  const reversals = tries.filter(({ mti }) => mti === "0420");
  assert.equal((await merchant.status(payment))["error-code"], "162");
  for (const messages of [sales, reversals]) {
    assert.equal(messages.length, 3);
    for (const field of [11, 37]) {
      assert.equal(new Set(messages.map(({ fields }) => fields[field])).size, 3, `field ${field}`);
    }
  }
  assert.equal(new Set(reversals.map(({ fields }) => fields[90])).size, 3);
});

test("after a long outage the list is not continued", async (t) => {
  const world = await joinWorld(t);
  const merchant = world.merchant();
  const cardrefid = await world.registerCard("4000004000000202");
  const payment = await merchant.rebill({
    cardrefid,
    amount: "30.68",
    enumerate_amounts: "10.00",
  });
  while (received(world, "0200") < 2) await world.gateway.claimDue();
  await world.stopHost();
  await world.settle();

  world.clock.advance(24 * 3_600_000);
  await world.startHost();
  await world.settle();
  const status = await merchant.status(payment);

  assert.equal(status.status, "error");
  assert.equal(received(world, "0200"), 2);
});

test("no listed amount is smaller than the endpoint's smallest", async (t) => {
  const world = await startWorld(t);
  const merchant = world.merchant();
  const cardrefid = await world.registerCard("4000004000000202");
  await world.changeEndpoint("plain", { amountMin: "500" });

  const list = { cardrefid, amount: "30.51" };
  await assertRefused(merchant.rebill({ ...list, enumerate_amounts: "4.99" }), 11);
  const payment = await merchant.rebill({ ...list, enumerate_amounts: "5.00" });
  await world.settle();

  assert.equal((await merchant.status(payment))["charged-amount"], "5.00");
});

testOnEachDialect(
  "an amount of more digits than the gate's messages have is refused at once",
  async (t, { through }) => {
    const world = await startWorld(t);
    const merchant = world.merchant(through);
    const cardrefid = await world.registerCard();
    await world.installation.database.query("update endpoints set currency = 'KWD' where id = $1", [
      world.set.endpoints[through],
    ]);
    await world.restart();
    const fils = { currency: "KWD" };

    for (const amount of ["9999999999", "1000000000"]) {
      await assertRefused(merchant.sale({ ...fils, amount }), 11);
      await assertRefused(merchant.preauth({ ...fils, amount }), 11);
      await assertRefused(merchant.rebill({ ...fils, cardrefid, amount }), 11);
    }
    const largest = { ...fils, amount: "999999999" };
    const sale = await merchant.sale(largest);
    const hold = await merchant.preauth(largest);
    await world.settle();
    await merchant.return(sale, { ...fils, amount: "0.001" });
    await merchant.capture(hold, largest);
    await world.settle();

    const returned = await merchant.status(sale);
    assert.equal(returned["order-stage"], "reversal_approved");
    assert.deepEqual(bookedFor(world, returned), ["sale 999999999000", "reversal 1"]);
    assert.equal((await merchant.status(hold))["order-stage"], "capture_approved");
  },
);
