/** Orders by mail or telephone: there is no authentication, the CVV may be absent. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { testOnAllDialects } from "../../support/bank/dialects.ts";
import { assertRefused, bookedFor } from "../../support/expect.ts";
import { saleFields } from "../../support/merchant.ts";
import { openPage, postPage } from "../../support/payer.ts";
import { readGw, runGw } from "../../support/programs.ts";
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

test("the virtual terminal takes one order, and asks for all that a sale needs", async (t) => {
  const world = await startWorld(t);
  const endpoint = world.set.endpoints["secure"] ?? "";
  const words = ["terminal", "open", "--endpoint", endpoint, "--amount", "12.50"];
  const open = [...words, "--currency", "USD"];
  const refused = await runGw(world, ...open);
  assert.match(refused.complaint, /takes no orders by mail or telephone/);
  await world.changeEndpoint("secure", { moto: true });
  const { url, link } = (await readGw(world, ...open)) as Record<"url" | "link", string>;

  const page = await openPage(new URL(new URL(url).pathname, world.gateway.url).href);
  const asked = [...page.text.matchAll(/<(?:input|select) id="([^"]+)"/g)].map(([, id]) => id);
  await postPage(page, { "cc-csc": "", "cc-number": cards.scaRequired });
  await world.settle();
  await postPage(page, { "cc-csc": "", "cc-number": cards.scaRequired });
  await world.settle();

  assert.ok(["address-line1", "postal-code", "tel"].every((id) => asked.includes(id)));
  assert.deepEqual(
    world.bank.ledger().map(({ kind, amount }) => `${kind} ${amount}`),
    ["sale 1250"],
  );
  const shown = await runGw(world, "link", "show", link);
  assert.match(shown.complaint, /is shown only when it is opened/);
});

test("a terminal's page ends after half an hour, and when the endpoint takes no such orders", async (t) => {
  const world = await startWorld(t);
  await world.changeEndpoint("plain", { moto: true });
  const endpoint = world.set.endpoints["plain"] ?? "";
  const words = ["terminal", "open", "--endpoint", endpoint, "--amount", "12.50"];
  const open = async () => {
    const made = await readGw(world, ...words, "--currency", "USD");
    const { pathname } = new URL((made as { url: string }).url);
    return () => openPage(new URL(pathname, world.gateway.url).href);
  };
  const [late, forbidden] = [await open(), await open()];

  assert.match((await late()).text, /cc-number/);
  await world.changeEndpoint("plain", { moto: false });
  assert.doesNotMatch((await forbidden()).text, /cc-number/);
  await world.changeEndpoint("plain", { moto: true });
  await world.pass(30 * 60_000);
  assert.doesNotMatch((await late()).text, /cc-number/);
});
