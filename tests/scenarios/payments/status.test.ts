/**
 * Which merchant can see which order by which id, and status fields from other sources: the BIN
 * table, the host's remarks, fees, descriptors.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { testOnEachDialect } from "../../support/bank/dialects.ts";
import { saleFields } from "../../support/merchant.ts";
import { joinWorld } from "../../support/shared-world.ts";
import { startWorld } from "../../support/world.ts";

const nobody = "0190a000-0000-7000-8000-000000000000";

test("an order is found by its ids, by the client's id alone and by a request's serial number", async (t) => {
  const world = await joinWorld(t);
  const merchant = world.merchant();
  const sale = await merchant.sale();
  await world.settle();
  const client_orderid = sale["merchant-order-id"];
  const endpoint = merchant.endpoint("plain");

  const both = await endpoint.status({ client_orderid, orderid: sale["gw-order-id"] });
  const alone = await endpoint.status({ client_orderid });
  const serial = await endpoint.status({
    client_orderid,
    "by-request-sn": sale["serial-number"],
  });

  for (const status of [both, alone, serial]) {
    assert.equal(status["gw-order-id"], sale["gw-order-id"]);
    assert.equal(status.type, "status-response");
  }
  assert.equal(serial["by-request-sn"], sale["serial-number"]);
  assert.notEqual(serial["serial-number"], sale["serial-number"]);
});

test("a repeat's serial number leads to the order it repeated", async (t) => {
  const world = await joinWorld(t);
  const merchant = world.merchant();
  const fields = saleFields();
  const first = await merchant.endpoint("plain").sale(fields);
  const again = await merchant.endpoint("plain").sale(fields);

  const status = await merchant.endpoint("plain").status({
    client_orderid: fields.client_orderid,
    "by-request-sn": again["serial-number"],
  });

  assert.equal(status["gw-order-id"], first["gw-order-id"]);
});

test("an unknown order, another merchant's and another endpoint's are not found", async (t) => {
  const world = await joinWorld(t);
  const merchant = world.merchant();
  const sale = await merchant.sale();
  const client_orderid = sale["merchant-order-id"];
  const orderid = sale["gw-order-id"];
  const endpoint = merchant.endpoint("plain");

  await assert.rejects(endpoint.status({ client_orderid: "nothing" }), { code: 6 });
  await assert.rejects(endpoint.status({ client_orderid, orderid: "123456789" }), { code: 6 });
  await assert.rejects(endpoint.status({ client_orderid: "other", orderid }), { code: 6 });
  await assert.rejects(endpoint.status({ client_orderid, "by-request-sn": nobody }), { code: 6 });
  await assert.rejects(merchant.endpoint("eur").status({ client_orderid, orderid }), { code: 6 });
  await assert.rejects(merchant.endpoint("eur").status({ client_orderid }), { code: 6 });
  await assert.rejects(endpoint.status({ client_orderid, orderid: "12x" }), { code: 5 });
  await assert.rejects(endpoint.status({ client_orderid, "by-request-sn": "x" }), { code: 5 });
});

test("a merchant never sees another merchant's order", async (t) => {
  const world = await startWorld(t);
  const merchant = world.merchant();
  const sale = await merchant.sale();
  const stranger = await world.stranger();
  const asked = { client_orderid: sale["merchant-order-id"], orderid: sale["gw-order-id"] };
  const bySerial = { ...asked, "by-request-sn": sale["serial-number"] };

  const own = stranger.endpoint("plain");
  await assert.rejects(own.status(asked), { code: 6 });
  await assert.rejects(own.status(bySerial), { code: 6 });

  const foreign = stranger.client().endpoint(merchant.set.endpoints["plain"] ?? "");
  await assert.rejects(foreign.status(asked), { code: 2 });
});

testOnEachDialect(
  "what the host tells of a loyalty program reaches the merchant",
  async (t, { through }) => {
    const world = await joinWorld(t);
    const merchant = world.merchant(through);

    const sale = await merchant.sale({ credit_card_number: "4000004000000251" });
    await world.settle();
    const status = await merchant.status(sale);

    assert.equal(status.status, "approved");
    assert.equal(status["loyalty-balance"], "1250");
    assert.equal(status["loyalty-message"], "Thank you for paying with us");
    assert.equal(status["loyalty-bonus"], "15");
    assert.equal(status["loyalty-program"], "Sandbox Bonus");
  },
);

testOnEachDialect(
  "a decline that the host explains is explained to the cardholder",
  async (t, { through }) => {
    const world = await joinWorld(t);
    const merchant = world.merchant(through);

    const sale = await merchant.sale({ credit_card_number: "4000004000000269" });
    await world.settle();
    const status = await merchant.status(sale);

    assert.equal(status["error-code"], "116");
    assert.match(status["motivational-message"] ?? "", /balance of this card is too low/);
  },
);

test("the BIN table has the sandbox's cards, and the issuer of any other card is unknown", async (t) => {
  const world = await joinWorld(t);
  const merchant = world.merchant();

  const known = await merchant.sale({ credit_card_number: "4000004000000194" });
  const stranger = await merchant.sale({ credit_card_number: "4111111111111111" });
  await world.settle();
  const [told, untold] = await Promise.all([known, stranger].map((sale) => merchant.status(sale)));

  assert.match(told?.["bank-name"] ?? "", /Sandbox/);
  assert.match(told?.["card-country-alpha-three-code"] ?? "", /^[A-Z]{3}$/);
  for (const field of ["product-code", "product-name", "type-code", "type-name"] as const) {
    assert.notEqual(told?.[`ips-src-payment-${field}`], undefined, field);
  }
  assert.equal(untold?.["bank-name"], "UNKNOWN");
  assert.equal(untold?.["card-country-alpha-three-code"], undefined);
});

test("commissions are shown only to a merchant that may see them", async (t) => {
  const world = await startWorld(t);
  const merchant = world.merchant();
  await world.changeGate("sandbox", { fee: { percent: "1.5", fixed: "10" } });
  await world.changeEndpoint("plain", { fee: { percent: "2.9", fixed: "30" } });

  const before = await merchant.sale({ amount: "10.15" });
  await world.settle();
  const hidden = await merchant.status(before);
  await world.changeMerchant({ commissions: true });
  const after = await merchant.sale({ amount: "10.15" });
  await world.settle();
  const shown = await merchant.status(after);

  assert.equal(hidden["seller-commission"], undefined);
  assert.equal(hidden["acquirer-commission"], undefined);
  // 2.9 % of 10.15 is 0.29435, and 1.5 % of it is 0.15225.
  assert.equal(shown["seller-commission"], "0.59");
  assert.equal(shown["acquirer-commission"], "0.25");
});

test("the statement shows the endpoint's descriptor, and the status also has the gate's", async (t) => {
  const world = await startWorld(t);
  const merchant = world.merchant();
  await world.changeEndpoint("plain", { descriptor: "APPLES*SHOP" });

  const sale = await merchant.sale();
  await world.settle();
  const status = await merchant.status(sale);

  assert.equal(status.descriptor, "APPLES*SHOP");
  assert.equal(status["original-gate-descriptor"], "TOLLGATE*DEMO");
  assert.equal(status["terminal-id"], "10000018");
  assert.match(status["processor-rrn"] ?? "", /^[0-9A-Z]{12}$/);
});
