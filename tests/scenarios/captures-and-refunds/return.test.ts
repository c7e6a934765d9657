/** Returns: sales and captures refunded, and preauthorisations cancelled. */
import assert from "node:assert/strict";
import { testOnAllDialects, testOnEachDialect } from "../../support/bank/dialects.ts";
import { assertRefused, bookedFor, received } from "../../support/expect.ts";
import { joinWorld } from "../../support/shared-world.ts";

const reversalRefused = "4000004000000210";
const reversalNoAnswer = "4000004000000228";
const answerTimeoutMs = 30_000;

testOnEachDialect(
  "a sale is refunded whole, and no more is left to refund",
  async (t, { through }) => {
    const world = await joinWorld(t);
    const merchant = world.merchant(through);
    const sale = await merchant.sale({ amount: "10.15" });
    await world.settle();

    const asked = await merchant.return(sale, { comment: "wrong size" });
    await world.settle();
    const status = await merchant.status(sale);
    await assertRefused(merchant.return(sale, { amount: "0.01" }), 9);

    assert.equal(asked.type, "async-response");
    assert.equal(status.status, "approved");
    assert.equal(status["order-stage"], "reversal_approved");
    assert.equal(status["transaction-type"], "reversal");
    assert.equal(status["total-reversal-amount"], "10.15");
    assert.equal(status.amount, "10.15");
    assert.equal(status["gate-partial-reversal"], "enabled");
    assert.deepEqual(bookedFor(world, status), ["sale 1015", "reversal 1015"]);
  },
);

testOnEachDialect(
  "parts are refunded until nothing is left, never more than was charged",
  async (t, { through }) => {
    const world = await joinWorld(t);
    const merchant = world.merchant(through);
    const sale = await merchant.sale({ amount: "10.15" });
    await world.settle();

    const first = await merchant.return(sale, { amount: "3.00" });
    await world.settle();
    const second = await merchant.return(sale, { amount: "7.00" });
    await world.settle();
    await assertRefused(merchant.return(sale, { amount: "0.16" }), 11);
    const rest = await merchant.return(sale);
    await world.settle();
    await assertRefused(merchant.return(sale, { amount: "0.15" }), 9);

    const described = await Promise.all([first, second, rest].map(merchant.describe));
    assert.deepEqual(
      described.map((each) => each["order-stage"]),
      Array(3).fill("reversal_approved"),
    );
    assert.equal(described[2]?.["total-reversal-amount"], "10.15");
    assert.deepEqual(bookedFor(world, described[0] ?? {}), [
      "sale 1015",
      "reversal 300",
      "reversal 700",
      "reversal 15",
    ]);
    assert.equal((await merchant.describe(sale))["order-stage"], "sale_approved");
  },
);

testOnEachDialect("a preauthorisation is cancelled", async (t, { through }) => {
  const world = await joinWorld(t);
  const merchant = world.merchant(through);
  const order = await merchant.preauth({ amount: "10.15" });
  await world.settle();

  await assertRefused(merchant.return(order, { amount: "5.00" }), 11);
  await merchant.return(order);
  await world.settle();
  const status = await merchant.status(order);
  await assertRefused(merchant.capture(order), 9);

  assert.equal(status["order-stage"], "cancel_approved");
  assert.equal(status["transaction-type"], "reversal");
  assert.equal(status["total-reversal-amount"], "10.15");
  assert.deepEqual(bookedFor(world, status), ["authorisation 1015", "reversal 1015"]);
});

testOnAllDialects(
  "a capture is refunded, not the preauthorisation that was larger",
  async (t, { through }) => {
    const world = await joinWorld(t);
    const merchant = world.merchant(through);
    const order = await merchant.preauth({ amount: "10.15" });
    await world.settle();
    await merchant.capture(order, { amount: "7.00" });
    await world.settle();

    await assertRefused(merchant.return(order, { amount: "7.01" }), 11);
    await merchant.return(order, { amount: "2.00" });
    await world.settle();
    await merchant.return(order);
    await world.settle();
    const status = await merchant.status(order);

    assert.equal(status["total-reversal-amount"], "7.00");
    assert.equal(status["charged-amount"], "7.00");
    assert.deepEqual(bookedFor(world, status), [
      "authorisation 1015",
      "capture 700",
      "reversal 200",
      "reversal 500",
    ]);
  },
);

testOnEachDialect(
  "twenty returns of the whole at the same moment refund it once",
  async (t, { through, mti }) => {
    const world = await joinWorld(t);
    const merchant = world.merchant(through);
    const sale = await merchant.sale();
    await world.settle();

    const asked = await Promise.all(Array.from({ length: 20 }, () => merchant.return(sale)));
    await world.settle();
    const statuses = await Promise.all(asked.map(merchant.describe));

    assert.equal(new Set(asked.map((each) => each["serial-number"])).size, 20);
    for (const status of statuses) assert.equal(status["order-stage"], "reversal_approved");
    assert.equal(received(world, mti("0400")), 1);
    assert.deepEqual(bookedFor(world, statuses[0] ?? {}), ["sale 1015", "reversal 1015"]);
  },
);

testOnEachDialect(
  "of different returns at the same moment one goes ahead",
  async (t, { through, mti }) => {
    const world = await joinWorld(t);
    const merchant = world.merchant(through);
    const sale = await merchant.sale({ amount: "10.15" });
    await world.settle();
    const amounts = Array.from({ length: 10 }, (_, index) => `6.0${index}`);

    const asked = await Promise.allSettled(
      amounts.map((amount) => merchant.return(sale, { amount })),
    );
    await world.settle();

    const accepted = asked.filter(({ status }) => status === "fulfilled");
    assert.equal(accepted.length, 1);
    assert.equal(received(world, mti("0400")), 1);
  },
);

testOnEachDialect(
  "the identical return is acknowledged again, and the money goes back once",
  async (t, { through }) => {
    const world = await joinWorld(t);
    const merchant = world.merchant(through);
    const sale = await merchant.sale({ amount: "10.15" });
    await world.settle();

    const first = await merchant.return(sale, { amount: "3.00" });
    await world.settle();
    const repeated = await merchant.return(sale, { amount: "3.00" });
    const another = await merchant.return(sale, { amount: "3.00", comment: "the second apple" });
    await world.settle();
    const latest = await merchant.describe(another);

    assert.equal(repeated["gw-order-id"], first["gw-order-id"]);
    assert.equal(latest["total-reversal-amount"], "6.00");
    assert.deepEqual(bookedFor(world, latest), ["sale 1015", "reversal 300", "reversal 300"]);
  },
);

testOnEachDialect(
  "a return that the bank refuses is declined, and may be tried again",
  async (t, { through, mti }) => {
    const world = await joinWorld(t);
    const merchant = world.merchant(through);
    const sale = await merchant.sale({ credit_card_number: reversalRefused });
    await world.settle();

    const first = await merchant.return(sale);
    await world.settle();
    const again = await merchant.return(sale);
    await world.settle();
    const [refused, refusedAgain] = await Promise.all([first, again].map(merchant.describe));

    assert.equal(refused?.["order-stage"], "reversal_declined");
    assert.equal(refused?.["error-code"], "119");
    assert.equal(refusedAgain?.["order-stage"], "reversal_declined");
    assert.equal(refusedAgain?.["total-reversal-amount"], "0.00");
    assert.equal(received(world, mti("0400")), 2);
    assert.deepEqual(bookedFor(world, refused ?? {}), ["sale 1015"]);
  },
);

testOnEachDialect(
  "a return that is not answered is repeated until it is, and refunded once",
  async (t, { through, mti }) => {
    const world = await joinWorld(t);
    const merchant = world.merchant(through);
    const sale = await merchant.sale({ credit_card_number: reversalNoAnswer });
    await world.settle();

    await merchant.return(sale, { amount: "4.00" });
    await world.bank.waitForMessage({ mti: mti("0400") });
    world.clock.advance(answerTimeoutMs);
    await world.bank.waitForMessage({ mti: mti("0401") });
    const doubtful = await merchant.status(sale);
    await world.pass(answerTimeoutMs);
    await world.pass(2_000);
    const settled = await merchant.status(sale);

    assert.equal(doubtful["order-stage"], "reversal_unknown");
    assert.equal(doubtful["total-reversal-amount"], "0.00");
    assert.equal(settled["order-stage"], "reversal_approved");
    assert.equal(settled["total-reversal-amount"], "4.00");
    assert.deepEqual(bookedFor(world, settled), ["sale 1015", "reversal 400"]);
  },
);

testOnEachDialect(
  "a return in doubt goes on after a restart and an outage of hours",
  async (t, { through, mti }) => {
    const world = await joinWorld(t);
    const merchant = world.merchant(through);
    const sale = await merchant.sale();
    await world.settle();
    await world.bank.setSwitches({ lostAnswerShare: 1 });
    await merchant.return(sale, { amount: "4.00" });
    await world.bank.waitForMessage({ mti: mti("0400") });
    await world.bank.setSwitches({ hostDown: true, lostAnswerShare: 0 });
    await world.linksDown();

    await world.restart();
    for (let hour = 0; hour < 6; hour += 1) await world.pass(3_600_000);
    const doubtful = await merchant.status(sale);
    await assertRefused(merchant.return(sale), 9);
    world.clock.advance(300_000);
    await world.startHost();
    await world.settle();
    const settled = await merchant.status(sale);

    assert.equal(doubtful["order-stage"], "reversal_unknown");
    assert.ok(world.logged.some((line) => line.includes("order.doubt_alarm")));
    assert.equal(settled["order-stage"], "reversal_approved");
    assert.deepEqual(bookedFor(world, settled), ["sale 1015", "reversal 400"]);
  },
);

testOnEachDialect(
  "what cannot be returned is refused, and nothing is sent",
  async (t, { through }) => {
    const world = await joinWorld(t);
    const merchant = world.merchant(through);
    const declined = await merchant.sale({ credit_card_number: "4000004000000020" });
    const verified = await merchant.verify();
    const sale = await merchant.sale();
    await world.settle();
    const messages = world.bank.messages().length;

    await assertRefused(merchant.return(declined), 9);
    await assertRefused(merchant.return(verified), 9);
    await assertRefused(merchant.return(sale, { amount: "10.16" }), 11);
    await assertRefused(merchant.return(sale, { amount: "0.00" }), 11);
    await assertRefused(merchant.return(sale, { amount: "1.00", currency: "EUR" }), 10);
    await assertRefused(merchant.return(sale, { amount: "1.001" }), 5);
    await assertRefused(merchant.return({ ...sale, "gw-order-id": "12345678" }), 6);
    await world.settle();

    assert.equal(world.bank.messages().length, messages);
    assert.equal((await merchant.status(sale))["order-stage"], "sale_approved");
  },
);
