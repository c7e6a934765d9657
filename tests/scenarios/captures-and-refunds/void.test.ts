/** Voids: a sale or a capture is taken back whole before it is cleared, exactly once. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { testOnEachDialect } from "../../support/bank/dialects.ts";
import { assertRefused, bookedFor } from "../../support/expect.ts";
import { startReceiver } from "../../support/receiver.ts";
import { joinWorld } from "../../support/shared-world.ts";
import { startWorld } from "../../support/world.ts";

const reversalRefused = "4000004000000210";

testOnEachDialect("a sale is voided whole, and nothing follows", async (t, { through }) => {
  const world = await joinWorld(t);
  const merchant = world.merchant(through);
  const sale = await merchant.sale({ amount: "10.15" });
  await world.settle();
  await assertRefused(merchant.void(sale, { amount: "10.14" }), 11);
  await assertRefused(merchant.void(sale, { amount: "10.15", currency: "EUR" }), 10);

  const asked = await merchant.void(sale, { amount: "10.15" });
  const repeated = await merchant.void(sale, { amount: "10.15" });
  await world.settle();
  const status = await merchant.status(sale);
  await assertRefused(merchant.return(sale), 9);
  await assertRefused(merchant.void(sale), 9);

  assert.equal(asked.type, "async-response");
  assert.equal(repeated.type, "async-response");
  assert.equal(status.status, "approved");
  assert.equal(status["order-stage"], "void_approved");
  assert.equal(status["transaction-type"], "void");
  assert.equal(status["total-reversal-amount"], "10.15");
  assert.deepEqual(bookedFor(world, status), ["sale 1015", "reversal 1015"]);
});

testOnEachDialect("a capture is voided, and is not captured again", async (t, { through }) => {
  const world = await joinWorld(t);
  const merchant = world.merchant(through);
  const order = await merchant.preauth({ amount: "10.15" });
  await world.settle();
  await assertRefused(merchant.void(order), 9);
  await merchant.capture(order, { amount: "7.00" });
  await world.settle();

  await merchant.void(order);
  await world.settle();
  const status = await merchant.status(order);
  await assertRefused(merchant.capture(order, { amount: "1.00" }), 9);

  assert.equal(status["order-stage"], "void_approved");
  assert.deepEqual(bookedFor(world, status), ["authorisation 1015", "capture 700", "reversal 700"]);
});

testOnEachDialect("a void that the host refuses leaves the sale", async (t, { through }) => {
  const world = await joinWorld(t);
  const merchant = world.merchant(through);
  const sale = await merchant.sale({ credit_card_number: reversalRefused });
  await world.settle();

  await merchant.void(sale);
  await world.settle();
  const status = await merchant.status(sale);

  assert.equal(status.status, "declined");
  assert.equal(status["order-stage"], "void_rejected");
  assert.equal((await merchant.describe(sale))["order-stage"], "sale_approved");
});

test("a void is called back as a void, or as a reversal where the endpoint wants that", async (t) => {
  const world = await startWorld(t);
  const shop = await startReceiver(t);
  const merchant = world.merchant();
  const voidOne = async () => {
    const sale = await merchant.sale({ notify_url: shop.url });
    await world.settle();
    await merchant.void(sale);
    await world.settle();
    return merchant.status(sale);
  };

  const asVoid = await voidOne();
  await world.changeEndpoint("plain", { voidAs: "reversal" });
  const asReversal = await voidOne();

  assert.deepEqual(
    shop.heard.map(({ fields }) => fields["type"]),
    ["sale", "void", "sale", "reversal"],
  );
  assert.deepEqual(
    [asVoid, asReversal].map((each) => [each["transaction-type"], each["order-stage"]]),
    [
      ["void", "void_approved"],
      ["reversal", "void_approved"],
    ],
  );
});
