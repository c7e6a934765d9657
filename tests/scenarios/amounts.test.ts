/** Recurrent payments of several amounts: tried one after the other, charged once. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { bookedFor, received } from "../support/expect.ts";
import { registerOne } from "../support/register-one.ts";
import { startWorld } from "../support/world.ts";

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
