/** Recurrent payments: registered cards are charged again, with one amount or several. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { testOnEachDialect } from "../../support/bank/dialects.ts";
import { assertRefused, bookedFor, received } from "../../support/expect.ts";
import { rebillFields } from "../../support/merchant.ts";
import { joinWorld } from "../../support/shared-world.ts";
import { startWorld } from "../../support/world.ts";

testOnEachDialect(
  "a registered card is charged without its number or CVV",
  async (t, { through, entry }) => {
    const world = await joinWorld(t);
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
    assert.equal(message?.fields[22], entry.onFile);
  },
);

test("the network's id of the first payment is sent with every later one", async (t) => {
  const world = await joinWorld(t);
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
  const world = await joinWorld(t);
  const merchant = world.merchant();
  const cardrefid = await world.registerCard();

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

test("bad recurrent payments are refused, and nothing is stored or sent", async (t) => {
  const world = await startWorld(t);
  const merchant = world.merchant();
  const cardrefid = await world.registerCard();
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
  const world = await joinWorld(t);
  const merchant = world.merchant();
  const cardrefid = await world.registerCard("4000004000000244");

  const payment = await merchant.rebill({ cardrefid });
  await world.settle();

  assert.equal((await merchant.status(payment))["error-code"], "101");
});

test("3-D Secure is skipped for a charge by the merchant, because no cardholder is present", async (t) => {
  const world = await joinWorld(t);
  const cardrefid = await world.registerCard();
  const merchant = world.merchant("secureAlways");
  const redirect_url = "https://shop.example/return";

  const byMerchant = await merchant.rebill({ cardrefid });
  const byCardholder = await merchant.rebill({
    cardrefid,
    redirect_url,
    cvv2: "123",
    recurrent_initiator: "CARDHOLDER",
  });
  const unreturning = { cardrefid, recurrent_initiator: "CARDHOLDER", cvv2: "123" };
  await assertRefused(merchant.rebill(unreturning), 4, /redirect_url/);
  await world.settle();

  const [skipped, asked] = await Promise.all([
    merchant.status(byMerchant),
    merchant.status(byCardholder),
  ]);
  assert.equal(skipped?.status, "approved");
  assert.equal(skipped?.["verified-3d-status"], undefined);
  assert.equal(asked?.["order-stage"], "sale_3d_validating");
  assert.equal(asked?.["tds-status"], "MethodUrlFrame");
});

test("a CVV is sent if it is given, and then decides the result", async (t) => {
  const world = await joinWorld(t);
  const merchant = world.merchant();
  const cardrefid = await world.registerCard();

  const right = await merchant.rebill({ cardrefid, cvv2: "123" });
  const wrong = await merchant.rebill({ cardrefid, cvv2: "999" });
  await world.settle();

  assert.equal((await merchant.status(right)).status, "approved");
  assert.equal((await merchant.status(wrong))["error-code"], "160");
});

test("the gate's setting names initiator and regularity, and the request overrides it", async (t) => {
  const world = await startWorld(t);
  const merchant = world.merchant();
  const cardrefid = await world.registerCard();
  await world.changeGate("sandbox", {
    recurrent: { initiator: "CARDHOLDER", scenario: "IRREGULAR" },
  });

  const usual = await merchant.rebill({ cardrefid, cvv2: "123" });
  const other = await merchant.rebill({
    cardrefid,
    recurrent_initiator: "MERCHANT",
    recurrent_scenario: "REGULAR",
  });
  await world.settle();

  const kept = await world.installation.database.query<{ credential: object }>(
    "select facts #> '{purchase,credential}' as credential from orders order by accepted_at, id",
  );
  const told = kept.map(({ credential }) => credential).filter((each) => each !== null);
  assert.equal((await merchant.status(usual)).status, "approved");
  assert.equal((await merchant.status(other)).status, "approved");
  assert.deepEqual(told.map((each) => ("initiator" in each ? each.initiator : "")).sort(), [
    "CARDHOLDER",
    "MERCHANT",
  ]);
});

test("a gate may require the CVV from a cardholder, and never from a merchant", async (t) => {
  const world = await startWorld(t);
  const merchant = world.merchant();
  const cardrefid = await world.registerCard();
  const recurrent_initiator = "CARDHOLDER";

  await assertRefused(merchant.rebill({ cardrefid, recurrent_initiator }), 4, /: cvv2 /);
  await assertRefused(merchant.rebill({ cardrefid, recurrent_initiator, cvv2: "" }), 4, /: cvv2 /);
  const byMerchant = await merchant.rebill({ cardrefid });
  await world.changeGate("sandbox", { worksWithoutCvv: true });
  const withoutCvv = await merchant.rebill({ cardrefid, recurrent_initiator });
  await world.settle();

  assert.equal((await merchant.status(byMerchant)).status, "approved");
  assert.equal((await merchant.status(withoutCvv)).status, "approved");
});

test("the identical recurrent payment is acknowledged again, and charged once", async (t) => {
  const world = await joinWorld(t);
  const merchant = world.merchant();
  const cardrefid = await world.registerCard("4000004000000202");
  const fields = rebillFields({ cardrefid, amount: "30.51", enumerate_amounts: "10.00" });
  const endpoint = merchant.endpoint("plain");

  const first = await endpoint.makeRebill(fields);
  await world.settle();
  const again = await endpoint.makeRebill(fields);
  const byOtherName = await endpoint.makeRebillSale(fields);
  await world.settle();
  const status = await merchant.status(first);

  assert.equal(again["gw-order-id"], first["gw-order-id"]);
  assert.equal(byOtherName["gw-order-id"], first["gw-order-id"]);
  assert.deepEqual(bookedFor(world, status), ["sale 1000"]);
});

test("a group charges a registered card in any of its currencies, also while one waits", async (t) => {
  const world = await joinWorld(t);
  const cardrefid = await world.registerCard();
  const group = world.merchant().group();

  const fields = rebillFields({ cardrefid, currency: "JPY", amount: "500" });
  const status = await group.sync.makeRebill(fields);

  assert.equal(status["order-stage"], "sale_approved");
  assert.equal(status.currency, "JPY");
  assert.deepEqual(bookedFor(world, status), ["sale 500"]);
});
