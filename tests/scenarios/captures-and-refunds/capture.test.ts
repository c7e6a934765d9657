/** Preauthorisation and capture: what is held, what is charged, and what is refused. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { testOnEachDialect } from "../../support/bank/dialects.ts";
import { assertRefused, bookedFor } from "../../support/expect.ts";
import { joinWorld } from "../../support/shared-world.ts";
import { startWorld } from "../../support/world.ts";

const captureRefused = "4000004000000236";

testOnEachDialect(
  "a preauthorisation holds the money, and a capture takes it",
  async (t, { through }) => {
    const world = await joinWorld(t);
    const merchant = world.merchant(through);

    const order = await merchant.preauth({ amount: "10.15" });
    await world.settle();
    const held = await merchant.status(order);
    const asked = await merchant.capture(order);
    await world.settle();
    const taken = await merchant.status(order);

    assert.equal(held["order-stage"], "auth_approved");
    assert.equal(held["transaction-type"], "preauth");
    assert.equal(held["gate-partial-capture"], "enabled");
    assert.equal(asked.type, "async-response");
    assert.equal(asked["gw-order-id"], order["gw-order-id"]);
    assert.equal(taken.status, "approved");
    assert.equal(taken["order-stage"], "capture_approved");
    assert.equal(taken["transaction-type"], "capture");
    assert.equal(taken["charged-amount"], undefined);
    assert.equal(taken["processor-rrn"], held["processor-rrn"]);
    assert.equal(taken["receipt-id"], held["receipt-id"]);
    assert.deepEqual(bookedFor(world, held), ["authorisation 1015", "capture 1015"]);
  },
);

testOnEachDialect("a part can be captured, once", async (t, { through }) => {
  const world = await joinWorld(t);
  const merchant = world.merchant(through);
  const order = await merchant.preauth({ amount: "10.15" });
  await world.settle();

  const first = await merchant.capture(order, { amount: "7.00" });
  await world.settle();
  const repeated = await merchant.capture(order, { amount: "7.00" });
  await assertRefused(merchant.capture(order, { amount: "3.15" }), 9);
  await world.settle();
  const status = await merchant.describe(repeated);

  assert.notEqual(first["serial-number"], repeated["serial-number"]);
  assert.equal(first["gw-order-id"], repeated["gw-order-id"]);
  assert.equal(status["order-stage"], "capture_approved");
  assert.equal(status["charged-amount"], "7.00");
  assert.equal(status["amount"], "10.15");
  assert.deepEqual(bookedFor(world, status), ["authorisation 1015", "capture 700"]);
});

testOnEachDialect(
  "a capture that the bank refuses leaves the money held",
  async (t, { through }) => {
    const world = await joinWorld(t);
    const merchant = world.merchant(through);
    const order = await merchant.preauth({ credit_card_number: captureRefused });
    await world.settle();

    await merchant.capture(order);
    await world.settle();
    const refused = await merchant.status(order);
    await merchant.return(order);
    await world.settle();
    const cancelled = await merchant.status(order);

    assert.equal(refused.status, "declined");
    assert.equal(refused["order-stage"], "capture_declined");
    assert.equal(refused["error-code"], "100");
    assert.equal(cancelled["order-stage"], "cancel_approved");
    assert.deepEqual(bookedFor(world, refused), ["authorisation 1015", "reversal 1015"]);
  },
);

testOnEachDialect(
  "a capture whose answer is lost is repeated until it is known, and taken once",
  async (t, { through, mti }) => {
    const world = await joinWorld(t);
    const merchant = world.merchant(through);
    const order = await merchant.preauth();
    await world.settle();
    await world.bank.setSwitches({ lostAnswerShare: 1 });
    await merchant.capture(order, { amount: "7.00" });
    await world.bank.waitForMessage({ mti: mti("0220") });

    // The first repeat directly follows the timeout, and its answer is lost as well.
    world.clock.advance(30_000);
    await world.bank.waitForMessage({ mti: mti("0221") });
    const doubtful = await merchant.status(order);
    await assertRefused(merchant.return(order), 9);
    await world.bank.setSwitches({ lostAnswerShare: 0 });
    await world.pass(30_000);
    await world.pass(2_000);
    const settled = await merchant.status(order);

    assert.equal(doubtful.status, "processing");
    assert.equal(doubtful["order-stage"], "capture_unknown");
    assert.equal(settled["order-stage"], "capture_approved");
    assert.deepEqual(bookedFor(world, settled), ["authorisation 1015", "capture 700"]);
  },
);

testOnEachDialect(
  "a capture survives the end of its node, and is taken once",
  async (t, { through, mti }) => {
    const world = await joinWorld(t);
    const merchant = world.merchant(through);
    const order = await merchant.preauth();
    await world.settle();
    await world.bank.setSwitches({ lostAnswerShare: 1 });
    await merchant.capture(order);
    await world.bank.waitForMessage({ mti: mti("0220") });
    await world.bank.setSwitches({ lostAnswerShare: 0 });

    await world.restart();
    await world.settle();
    // The stopping node may have noted that its repeat was not sent; the next one is due later.
    await world.pass(30_000);
    const status = await merchant.status(order);

    assert.equal(status["order-stage"], "capture_approved");
    assert.deepEqual(bookedFor(world, status), ["authorisation 1015", "capture 1015"]);
  },
);

testOnEachDialect(
  "what cannot be captured is refused, and nothing is sent",
  async (t, { through }) => {
    const world = await joinWorld(t);
    const merchant = world.merchant(through);
    const sale = await merchant.sale();
    const declined = await merchant.preauth({ credit_card_number: "4000004000000020" });
    const order = await merchant.preauth();
    await world.settle();
    const messages = world.bank.messages().length;

    await assertRefused(merchant.capture(sale), 9);
    await assertRefused(merchant.capture(declined), 9);
    await assertRefused(merchant.capture(order, { amount: "10.16" }), 11);
    await assertRefused(merchant.capture(order, { amount: "0.00" }), 11);
    await assertRefused(merchant.capture(order, { amount: "10.15", currency: "EUR" }), 10);
    await assertRefused(merchant.capture({ ...order, "gw-order-id": "12345678" }), 6);
    await assertRefused(merchant.capture({ ...order, "merchant-order-id": "another" }), 6);
    await world.settle();

    assert.equal(world.bank.messages().length, messages);
    assert.equal((await merchant.status(order))["order-stage"], "auth_approved");
  },
);

test("another merchant's order can be neither captured nor returned", async (t) => {
  const world = await startWorld(t);
  const order = await world.merchant().preauth();
  await world.settle();
  const stranger = await world.stranger();

  await assertRefused(stranger.capture(order), 6);
  await assertRefused(stranger.return(order), 6);
});

test("with the link down a capture ends in an error at once, and may be requested again", async (t) => {
  const world = await joinWorld(t);
  const merchant = world.merchant();
  const order = await merchant.preauth();
  await world.settle();
  await world.stopHost();

  await merchant.capture(order);
  await world.settle();
  const failed = await merchant.status(order);
  await world.startHost();
  await merchant.capture(order);
  await world.settle();
  const done = await merchant.status(order);

  assert.equal(failed["order-stage"], "capture_error");
  assert.equal(failed["error-code"], "5002");
  assert.equal(done["order-stage"], "capture_approved");
  assert.deepEqual(bookedFor(world, done), ["authorisation 1015", "capture 1015"]);
});

test("the group of endpoints captures and returns in any of its currencies", async (t) => {
  const world = await joinWorld(t);
  const merchant = world.merchant();
  const order = await merchant.preauth({ currency: "JPY", amount: "500" }, "jpy");
  await world.settle();
  const named = { client_orderid: order["merchant-order-id"], orderid: order["gw-order-id"] };

  await merchant.group().capture({ ...named, amount: "300", currency: "JPY" });
  await world.settle();
  await merchant.group().return({ ...named, amount: "100", currency: "JPY" });
  await world.settle();
  const status = await merchant.status(order, "jpy");

  assert.equal(status["order-stage"], "reversal_approved");
  assert.equal(status["total-reversal-amount"], "100.00");
  assert.equal(status["charged-amount"], "300.00");
});
