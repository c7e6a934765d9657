/** Recurrent payments: registered cards charged again, one amount or several. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { testOnEachDialect } from "../support/dialects.ts";
import { assertRefused, bookedFor, received } from "../support/expect.ts";
import { rebillFields } from "../support/merchant.ts";
import { registerOne } from "../support/register-one.ts";
import { startWorld } from "../support/world.ts";

testOnEachDialect(
  "a registered card is charged without its number or CVV",
  async (t, { through }) => {
    const world = await startWorld(t);
    const merchant = world.merchant(through);
    const first = await merchant.sale({ credit_card_number: "4000001000000018" });
    await world.settle();
    const { "card-ref-id": cardrefid = "" } = await merchant.register(first);

    const payment = await merchant.rebill({ cardrefid, amount: "4.99" });
    await world.settle();
    const status = await merchant.status(payment);

    assert.equal(payment.type, "async-response");
    assert.equal(status["order-stage"], "sale_approved");
    assert.equal(status["transaction-type"], "sale");
    assert.equal(status["last-four-digits"], "0018");
    assert.deepEqual(bookedFor(world, status), ["sale 499"]);
    const [message] = world.bank.messages(status["processor-rrn"]);
    assert.match(message?.fields[22] ?? "", /^10/);
  },
);

test("the network's id of the first payment goes with every later one", async (t) => {
  const world = await startWorld(t);
  const merchant = world.merchant();
  const first = await merchant.sale();
  await world.settle();
  const networkId = (await merchant.status(first))["processor-tx-id"] ?? "none";
  const { "card-ref-id": cardrefid = "" } = await merchant.register(first);

  const payment = await merchant.rebill({ cardrefid });
  await world.settle();

  const rrn = (await merchant.status(payment))["processor-rrn"];
  const [message] = world.bank.messages(rrn);
  assert.ok(JSON.stringify(message?.fields).includes(networkId));
});

test("a registered card is preauthorised, captured and returned like any other", async (t) => {
  const world = await startWorld(t);
  const merchant = world.merchant();
  const cardrefid = await registerOne(world);

  const held = await merchant.endpoint("plain").makeRebillPreauth(rebillFields({ cardrefid }));
  await world.settle();
  await merchant.capture(held, { amount: "7.00" });
  await world.settle();
  await merchant.return(held);
  await world.settle();
  const status = await merchant.status(held);

  assert.equal(status["order-stage"], "reversal_approved");
  assert.deepEqual(bookedFor(world, status), ["authorisation 1015", "capture 700", "reversal 700"]);
});

test("of several amounts the first that the bank takes is charged", async (t) => {
  const world = await startWorld(t);
  const merchant = world.merchant();
  const cardrefid = await registerOne(world, "4000004000000202");

  // The minor units are the bank's answer: no funds, over the limit, approved.
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
  // The first payment, and three tries.
  assert.equal(received(world, "0200"), 4);
});

test("a hard decline ends the list, and a list that is used up is declined", async (t) => {
  const world = await startWorld(t);
  const merchant = world.merchant();
  const cardrefid = await registerOne(world, "4000004000000202");

  const lost = await merchant.rebill({ cardrefid, amount: "30.41", enumerate_amounts: "10.00" });
  const poor = await merchant.rebill({ cardrefid, amount: "30.51", enumerate_amounts: "20.51" });
  await world.settle();

  assert.equal((await merchant.status(lost))["error-code"], "208");
  assert.equal((await merchant.status(poor))["error-code"], "116");
  assert.equal((await merchant.status(poor))["charged-amount"], undefined);
});

test("doubt about one amount is settled before the next is tried", async (t) => {
  const world = await startWorld(t);
  const merchant = world.merchant();
  const cardrefid = await registerOne(world, "4000004000000202");

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

test("an enumeration goes on after a restart in its middle, and charges once", async (t) => {
  const world = await startWorld(t);
  const merchant = world.merchant();
  const cardrefid = await registerOne(world, "4000004000000202");
  const payment = await merchant.rebill({
    cardrefid,
    amount: "30.68",
    enumerate_amounts: "10.00",
  });
  while (received(world, "0200") < 2) await world.gateway.claimDue();

  await world.restart();
  await world.settle();
  const status = await merchant.status(payment);

  assert.equal(status.status, "approved");
  assert.equal(status["charged-amount"], "10.00");
  assert.deepEqual(bookedFor(world, status), ["sale 1000"]);
});

test("bad recurrent payments are refused, and nothing is stored or sent", async (t) => {
  const world = await startWorld(t);
  const merchant = world.merchant();
  const cardrefid = await registerOne(world);
  const sent = received(world, "0200");

  const bad = (fields: Readonly<Record<string, string>>, code: number) =>
    assertRefused(merchant.rebill({ cardrefid, ...fields }), code);
  await bad({ cardrefid: "1234567890123456789" }, 8);
  await bad({ cardrefid: "12a" }, 5);
  await bad({ enumerate_amounts: "10.16" }, 11);
  await bad({ enumerate_amounts: "1.00,,2.00" }, 5);
  await bad({ enumerate_amounts: "1.001" }, 5);
  await bad({ enumerate_amounts: "0.00" }, 11);
  await bad({ enumerate_amounts: Array(40).fill("1.00").join(",") }, 5);
  await bad({ recurrent_scenario: "SOMETIMES" }, 5);
  await bad({ recurrent_initiator: "NOBODY" }, 5);
  await bad({ currency: "EUR" }, 10);
  await world.settle();
  const stranger = await world.stranger();
  await assertRefused(stranger.rebill({ cardrefid }), 8);
  await assertRefused(stranger.cardInfo(cardrefid), 8);

  assert.equal(received(world, "0200"), sent);
});

test("a card that is about to expire is declined when it is charged again", async (t) => {
  const world = await startWorld(t);
  const merchant = world.merchant();
  const cardrefid = await registerOne(world, "4000004000000244");

  const payment = await merchant.rebill({ cardrefid });
  await world.settle();

  assert.equal((await merchant.status(payment))["error-code"], "101");
});
