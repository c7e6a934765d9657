/** Account verification: the issuer is asked about a card, and no money moves. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { testOnEachDialect } from "../../support/bank/dialects.ts";
import { saleFields } from "../../support/merchant.ts";
import { joinWorld } from "../../support/shared-world.ts";
import { startWorld } from "../../support/world.ts";

testOnEachDialect("a good card is verified for nothing", async (t, { through }) => {
  const world = await joinWorld(t);
  const merchant = world.merchant(through);

  const asked = await merchant.verify();
  await world.settle();
  const status = await merchant.status(asked);

  assert.equal(status["order-stage"], "av_approved");
  assert.equal(status["transaction-type"], "account-verification");
  assert.equal(status.amount, "0.00");
  assert.equal(status.currency, "USD");
  assert.match(status["approval-code"] ?? "", /^[A-Z0-9]{6}$/);
  assert.deepEqual(world.bank.ledger(), []);
});

testOnEachDialect("a bad card is declined with the issuer's reason", async (t, { through }) => {
  const world = await joinWorld(t);
  const merchant = world.merchant(through);

  const lost = await merchant.verify({ credit_card_number: "4000004000000046" });
  const mismatch = await merchant.verify({ cvv2: "999" });
  await world.settle();

  assert.equal((await merchant.status(lost))["error-code"], "208");
  assert.equal((await merchant.status(mismatch))["error-code"], "160");
});

testOnEachDialect(
  "without an answer nothing is charged, and the order says so",
  async (t, { through, mti }) => {
    const world = await joinWorld(t);
    const merchant = world.merchant(through);

    const asked = await merchant.verify({ credit_card_number: "4000004000000129" });
    await world.bank.waitForMessage({ mti: mti("0100") });
    await world.pass(30_000);
    await world.pass(30_000);
    const status = await merchant.status(asked);

    assert.equal(status["order-stage"], "av_error");
    assert.deepEqual(world.bank.ledger(), []);
  },
);

test("the amount limits of an endpoint do not apply to a verification", async (t) => {
  const world = await startWorld(t);
  const merchant = world.merchant();
  await world.changeEndpoint("plain", { amountMin: "500" });

  const asked = await merchant.verify();
  await world.settle();

  assert.equal((await merchant.status(asked)).status, "approved");
});

test("a group verifies through one of its endpoints", async (t) => {
  const world = await joinWorld(t);
  const merchant = world.merchant();

  const group = merchant.group();
  const asked = await group.accountVerification(saleFields());
  await world.settle();
  const status = await group.status({ client_orderid: asked["merchant-order-id"] });

  assert.equal(status["order-stage"], "av_approved");
});
