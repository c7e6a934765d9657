/** A client order id can be charged once; a merchant may retry after a lost reply without fear. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { saleFields } from "../../support/merchant.ts";
import { joinWorld } from "../../support/shared-world.ts";
import { startWorld } from "../../support/world.ts";

test("an identical request gets the first acknowledgement again, and its own serial number", async (t) => {
  const world = await joinWorld(t);
  const { endpoint } = world.merchant();
  const fields = saleFields();

  const first = await endpoint("plain").sale(fields);
  await world.settle();
  const again = await endpoint("plain").sale(fields);
  await world.settle();

  assert.equal(again["gw-order-id"], first["gw-order-id"]);
  assert.notEqual(again["serial-number"], first["serial-number"]);
  assert.equal(world.bank.ledger().length, 1);
});

test("an identical request after a decline is still answered with the declined order", async (t) => {
  const world = await joinWorld(t);
  const { endpoint } = world.merchant();
  const fields = saleFields({ credit_card_number: "4000004000000020" });

  const first = await endpoint("plain").sale(fields);
  await world.settle();
  const again = await endpoint("plain").sale(fields);

  assert.equal(again["gw-order-id"], first["gw-order-id"]);
});

test("twenty concurrent identical requests make one order and one charge", async (t) => {
  const world = await startWorld(t);
  const { endpoint } = world.merchant();
  const fields = saleFields();

  const all = await Promise.all(Array.from({ length: 20 }, () => endpoint("plain").sale(fields)));
  await world.settle();

  assert.equal(new Set(all.map((each) => each["gw-order-id"])).size, 1);
  assert.equal(new Set(all.map((each) => each["serial-number"])).size, 20);
  assert.equal(world.bank.ledger().length, 1);
  const cards = await world.installation.database.query("select id from cards");
  assert.equal(cards.length, 1, "cards of requests that made no order are not kept");
});

test("another request with a paid client order id is a duplicate", async (t) => {
  const world = await joinWorld(t);
  const { endpoint } = world.merchant();
  const fields = saleFields();
  await endpoint("plain").sale(fields);
  await world.settle();

  await assert.rejects(endpoint("plain").sale({ ...fields, amount: "10.16" }), { code: 7 });
  await assert.rejects(endpoint("plain").sale({ ...fields, cvv2: "124" }), { code: 7 });
  assert.equal(world.bank.ledger().length, 1);
});

test("another request is a duplicate while the first may still be paid", async (t) => {
  const world = await joinWorld(t);
  const { endpoint } = world.merchant();
  const fields = saleFields({ credit_card_number: "4000004000000129" });
  await endpoint("plain").sale(fields);
  await world.bank.waitForMessage({ mti: "0200" });

  const other = endpoint("plain").sale({ ...fields, credit_card_number: "4111111111111111" });
  await assert.rejects(other, { code: 7 });
  await world.pass(30_000);
});

test("a corrected request after a decline is a new attempt, and the status describes the latest", async (t) => {
  const world = await joinWorld(t);
  const merchant = world.merchant();
  const fields = saleFields({ cvv2: "999" });

  const first = await merchant.endpoint("plain").sale(fields);
  await world.settle();
  const second = await merchant.endpoint("plain").sale({ ...fields, cvv2: "123" });
  await world.settle();
  const latest = await merchant.status({ "merchant-order-id": first["merchant-order-id"] });
  const named = await merchant.status(first);
  const repeated = await merchant.endpoint("plain").sale(fields);

  assert.notEqual(second["gw-order-id"], first["gw-order-id"]);
  assert.equal(latest["gw-order-id"], second["gw-order-id"]);
  assert.equal(latest.status, "approved");
  assert.equal(named.status, "declined");
  assert.equal(repeated["gw-order-id"], first["gw-order-id"]);
});

test("after a quarter of an hour a request that differs in the CVV alone is a repeat", async (t) => {
  const world = await joinWorld(t);
  const { endpoint } = world.merchant();
  const fields = saleFields({ cvv2: "999" });
  const first = await endpoint("plain").sale(fields);
  await world.settle();
  world.clock.advance(15 * 60_000);
  await world.linksUp();

  const corrected = await endpoint("plain").sale({ ...fields, cvv2: "123" });
  const other = await endpoint("plain").sale({ ...fields, cvv2: "123", amount: "10.16" });
  await world.settle();

  assert.equal(corrected["gw-order-id"], first["gw-order-id"]);
  assert.notEqual(other["gw-order-id"], first["gw-order-id"]);
  assert.equal(world.bank.ledger().length, 1);
});

test("only one of several concurrent different attempts after a decline is accepted", async (t) => {
  const world = await joinWorld(t);
  const { endpoint } = world.merchant();
  const fields = saleFields({ cvv2: "999" });
  await endpoint("plain").sale(fields);
  await world.settle();

  const names = Array.from({ length: 40 }, (_, index) => `JANE DOE ${index}`);
  const attempts = await Promise.allSettled(
    names.map((card_printed_name) =>
      endpoint("plain").sale({ ...fields, cvv2: "123", card_printed_name }),
    ),
  );
  await world.settle();

  assert.equal(attempts.filter(({ status }) => status === "fulfilled").length, 1);
  assert.equal(world.bank.ledger().length, 1);
});
