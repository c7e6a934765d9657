/** Orders by mail or telephone: there is no authentication, the CVV may be absent. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { testOnAllDialects } from "../../support/bank/dialects.ts";
import { assertRefused, bookedFor } from "../../support/expect.ts";
import { saleFields } from "../../support/merchant.ts";
import { openPage, postPage } from "../../support/payer.ts";
import { cards } from "../../support/threeds.ts";
import { startWorld } from "../../support/world.ts";

const moto = { transaction_channel: "MOTO" };

function formFields() {
  const { client_orderid, order_desc, amount, currency } = saleFields();
  return { client_orderid, order_desc, amount, currency, ...moto };
}

testOnAllDialects("an order by telephone is charged without a CVV", async (t, dialect) => {
  const world = await startWorld(t);
  const { through, mti } = dialect;
  await world.changeEndpoint(through, { moto: true });
  const merchant = world.merchant(through);

  const order = await merchant.sale({ ...moto, cvv2: undefined });
  await world.settle();
  const status = await merchant.status(order);
  await merchant.return(order);
  await world.settle();

  assert.equal(status.status, "approved");
  assert.equal(status["cvv-result"], undefined);
  const { fields } = await world.bank.waitForMessage({ mti: mti("0200") });
  const returned = await world.bank.waitForMessage({ mti: mti("0400") });
  if (dialect.name === "1993") assert.equal(fields[22], "100030100110");
  else assert.deepEqual([fields[22], fields[25], returned.fields[25]], ["010", "08", "08"]);
  if (dialect.name === "binary") assert.equal(fields[60], "0000000001");
  assert.deepEqual(bookedFor(world, status), ["sale 1015", "reversal 1015"]);
});

test("an endpoint that always authenticates charges an order by telephone at once", async (t) => {
  const world = await startWorld(t);
  await world.changeEndpoint("secure", { moto: true, threeDSecure: "always" });
  const merchant = world.merchant("secure");

  const fields = { ...moto, credit_card_number: cards.scaRequired, redirect_url: undefined };
  const order = await merchant.sale(fields);
  await world.settle();

  const status = await merchant.status(order);
  assert.deepEqual([status.status, status["verified-3d-status"]], ["approved", undefined]);
});

test("an endpoint that does not accept the channel says so, and begins nothing", async (t) => {
  const world = await startWorld(t);
  const merchant = world.merchant();
  const sentence = /transaction_channel: the endpoint does not accept it/;

  await assertRefused(merchant.sale(moto), 13, sentence);
  await assertRefused(merchant.endpoint("plain").saleForm(formFields()), 13, sentence);
  const ecommerce = await merchant.sale({ transaction_channel: "ECOM" });
  await world.settle();

  assert.equal((await merchant.status(ecommerce)).status, "approved");
  const orders = await world.installation.database.query("select from orders");
  assert.equal(orders.length, 1);
});

test("a wallet pays no order by telephone", async (t) => {
  const world = await startWorld(t);
  await world.changeEndpoint("plain", { moto: true });
  const data = Buffer.from("{}").toString("base64");
  const wallet = { payment_data: data, payment_data_type: "walletb_encrypted" };
  const noCard = { credit_card_number: undefined, expire_month: undefined };
  const none = { ...noCard, expire_year: undefined, cvv2: undefined };

  const sent = world.merchant().sale({ ...moto, ...wallet, ...none });

  await assertRefused(sent, 5, /payment_data: not with MOTO/);
});

test("the payment page of an order by telephone asks for no CVV", async (t) => {
  const world = await startWorld(t);
  await world.changeEndpoint("secure", { moto: true });
  const merchant = world.merchant("secure");
  const order = await merchant.endpoint("secure").saleForm(formFields());

  const page = await openPage(order["redirect-url"] ?? "");
  await postPage(page, { "cc-csc": "", "cc-number": cards.scaRequired });
  await world.settle();

  assert.equal((await merchant.status(order)).status, "approved");
});
