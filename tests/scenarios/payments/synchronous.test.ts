/** Synchronous variants: the same operations, answered with the result if it arrives in time. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertRefused, bookedFor } from "../../support/expect.ts";
import { about, saleFields } from "../../support/merchant.ts";
import { joinWorld } from "../../support/shared-world.ts";

test("every transaction can be waited for, and is answered with its status", async (t) => {
  const world = await joinWorld(t);
  const merchant = world.merchant();
  const { sync } = merchant.endpoint("plain");

  const sale = await sync.sale(saleFields());
  const returned = await sync.return(about(sale, { amount: "4.00" }));
  const held = await sync.preauth(saleFields());
  const taken = await sync.capture(about(held, {}));
  const verified = await sync.accountVerification(saleFields());

  assert.equal(sale.type, "status-response");
  assert.deepEqual(
    [sale, returned, held, taken, verified].map((status) => status["order-stage"]),
    ["sale_approved", "reversal_approved", "auth_approved", "capture_approved", "av_approved"],
  );
  assert.equal(returned["total-reversal-amount"], "4.00");
  assert.deepEqual(bookedFor(world, sale), ["sale 1015", "reversal 400"]);
});

test("the identical request gets the same result, and the money moves once", async (t) => {
  const world = await joinWorld(t);
  const { sync } = world.merchant().endpoint("plain");
  const fields = saleFields();

  const statuses = await Promise.all([sync.sale(fields), sync.sale(fields), sync.sale(fields)]);
  const [sale] = statuses;

  assert.equal(new Set(statuses.map((status) => status["gw-order-id"])).size, 1);
  for (const { status } of statuses) assert.equal(status, "approved");
  assert.deepEqual(bookedFor(world, sale ?? {}), ["sale 1015"]);
});

test("a sale and its synchronous variant are the same request", async (t) => {
  const world = await joinWorld(t);
  const merchant = world.merchant();
  const fields = saleFields();

  const sale = await merchant.endpoint("plain").sale(fields);
  const status = await merchant.endpoint("plain").sync.sale(fields);

  assert.equal(status["gw-order-id"], sale["gw-order-id"]);
  assert.equal(status.status, "approved");
});

test("if the bank takes longer than thirty seconds, the answer shows the stage", async (t) => {
  // A link that is moved through time without a sign of life would count as lost.
  const patient = { GW_ACQUIRER_ANSWER_TIMEOUT_S: "60", GW_ACQUIRER_ECHO_AFTER_S: "600" };
  const world = await joinWorld(t, patient);
  const merchant = world.merchant();

  const asked = merchant.endpoint("plain").sync.sale(saleFields({ cvv2: "217" }));
  await world.bank.waitForMessage({ mti: "0200" });
  world.clock.advance(30_000);
  const status = await asked;
  await world.pass(30_000);

  assert.equal(status.status, "processing");
  assert.equal(status["order-stage"], "sale_processing");
  assert.equal((await merchant.status(status)).status, "error");
});

test("a refused request is refused at once", async (t) => {
  const world = await joinWorld(t);
  const { sync } = world.merchant().endpoint("plain");

  await assertRefused(sync.sale(saleFields({ currency: "EUR" })), 10);
  await assertRefused(sync.capture({ client_orderid: "none", orderid: "12345678" }), 6);
});

// If it takes longer than this, the gateway has waited for the timeout of the idle connection.
const endsWithin = { timeout: 60_000 };

test("a stopping gateway answers the requests that wait", endsWithin, async (t) => {
  const world = await joinWorld(t);
  // The clock moves while the gateway stops, and a reversal could end the doubt before the answer.
  await world.bank.setSwitches({ lostAnswerShare: 1, reversalCode: "96" });
  const asked = world.merchant().endpoint("plain").sync.sale(saleFields());
  await world.bank.waitForMessage({ mti: "0200" });

  await world.restart();
  await world.bank.setSwitches({ lostAnswerShare: 0, reversalCode: null });

  assert.equal((await asked).status, "processing");
});

test("a group also has the synchronous variants", async (t) => {
  const world = await joinWorld(t);

  const status = await world
    .merchant()
    .group()
    .sync.sale(saleFields({ currency: "JPY", amount: "500" }));

  assert.equal(status["order-stage"], "sale_approved");
});
