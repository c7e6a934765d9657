/** Who can see which order, and by which name. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { saleFields } from "../support/merchant.ts";
import { startWorld } from "../support/world.ts";

const nobody = "0190a000-0000-7000-8000-000000000000";

test("an order is found by its ids, by the client's id alone and by a request's serial number", async (t) => {
  const world = await startWorld(t);
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
  const world = await startWorld(t);
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

test("what is unknown, another's or of another endpoint is not found", async (t) => {
  const world = await startWorld(t);
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
