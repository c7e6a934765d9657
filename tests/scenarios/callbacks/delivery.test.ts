/**
 * Callbacks as a merchant receives them: their fields, their addresses, their order and their
 * repeats.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { answerWith, startReceiver } from "../../support/receiver.ts";
import { joinWorld } from "../../support/shared-world.ts";
import { startWorld, type World } from "../../support/world.ts";

test("the callback of a sale has all its fields and a checksum", async (t) => {
  const world = await joinWorld(t);
  const shop = await startReceiver(t);
  const url = `${shop.url}/told?shop=7`;

  const sale = await world.merchant().sale({ server_callback_url: url, merchant_data: "cart 9" });
  await world.settle();

  const [told] = shop.heard;
  assert.equal(shop.heard.length, 1);
  assert.equal(told?.method, "GET");
  assert.ok(told?.path.startsWith("/told?shop=7&status=approved&orderid="));
  const { control, "serial-number": serial, ...fields } = told?.fields ?? {};
  const rest = ["processor-tx-id", "processor-rrn", "approval-code", "descriptor"];
  for (const name of rest) assert.notEqual(fields[name] ?? "", "", name);
  assert.deepEqual(Object.fromEntries(Object.entries(fields).filter(([n]) => !rest.includes(n))), {
    shop: "7",
    status: "approved",
    type: "sale",
    amount: "10.15",
    currency: "USD",
    orderid: sale["gw-order-id"],
    client_orderid: sale["merchant-order-id"],
    merchant_order: sale["merchant-order-id"],
    merchantdata: "cart 9",
    bin: "411111",
    "last-four-digits": "1111",
    "card-type": "VISA",
    "card-holder-name": "JANE DOE",
    email: "jane@example.com",
    phone: "+1 555 0100",
    "gate-partial-reversal": "enabled",
    "gate-partial-capture": "enabled",
  });
  assert.equal(serial, sale["serial-number"]);
  assert.equal(control, checksum(world, "approved", sale));
});

test("every final status is sent by a callback", async (t) => {
  const world = await startWorld(t);
  const shop = await startReceiver(t);
  const merchant = world.merchant();
  const url = { server_callback_url: shop.url };

  const approved = await merchant.sale(url);
  await world.settle();
  const declined = await merchant.sale({ ...url, credit_card_number: "4000004000000012" });
  await world.settle();
  await world.changeEndpoint("plain", { amountMax: "1000" });
  const filtered = await merchant.sale({ ...url, amount: "10.01" });
  await world.settle();
  await world.stopHost();
  const error = await merchant.sale({ ...url, amount: "9.00" });
  await world.settle();

  const sales = { approved, declined, filtered, error };
  assert.equal(shop.heard.length, 4);
  for (const [at, [status, sale]] of Object.entries(sales).entries()) {
    const fields = shop.heard[at]?.fields ?? {};
    assert.equal(fields["status"], status);
    assert.equal(fields["control"], checksum(world, status, sale));
    assert.equal(fields["serial-number"], sale["serial-number"]);
    const reasons = [fields["error_code"], fields["error_message"]].filter(Boolean);
    assert.equal(reasons.length, status === "approved" ? 0 : 2, status);
  }
});

test("the log has every callback except those that arrive at the first attempt", async (t) => {
  const world = await joinWorld(t);
  const shop = await startReceiver(t);
  const told = () =>
    world.logged.map((line) => JSON.parse(line)).filter(({ event }) => /^callback/.test(event));
  const levels = { debug: 20, info: 30, warn: 40 };

  await world.merchant().sale({ server_callback_url: shop.url });
  await world.settle();
  shop.answer(answerWith(500));
  await world.merchant().sale({ server_callback_url: shop.url });
  await world.settle();
  shop.answer(answerWith(200));
  await world.pass(150_000);
  shop.answer(answerWith(410));
  await world.merchant().sale({ server_callback_url: shop.url });
  await world.settle();

  assert.deepEqual(
    told().map(({ level, status, ended }) => [level, status, ended]),
    [
      [levels.debug, 200, undefined],
      [levels.info, 500, undefined],
      [levels.info, 200, undefined],
      [levels.warn, 410, "stopped"],
    ],
  );
});

test("the first transaction is sent to one address, and later ones to the other", async (t) => {
  const world = await joinWorld(t);
  const first = await startReceiver(t);
  const later = await startReceiver(t);
  const merchant = world.merchant();
  const both = { server_callback_url: first.url, notify_url: later.url };

  const sale = await merchant.sale(both);
  await world.settle();
  const returned = await merchant.return(sale, { amount: "3.00" });
  await world.settle();
  await merchant.sale({ notify_url: later.url });
  await world.settle();
  const untold = await merchant.sale({ server_callback_url: first.url });
  await world.settle();
  await merchant.return(untold);
  await world.settle();

  const types = (heard: typeof first.heard) => heard.map(({ fields }) => fields["type"]);
  assert.deepEqual(types(first.heard), ["sale", "sale"]);
  assert.deepEqual(types(later.heard), ["reversal", "sale"]);
  assert.equal(later.heard[0]?.fields["serial-number"], returned["serial-number"]);
});

test("a callback that fails is repeated to the end of the table of gaps, and then given up", async (t) => {
  const world = await startWorld(t);
  const shop = await startReceiver(t, answerWith(500, {}, "no room"));
  const { callbackRetryGapsMs: gapsMs } = world.installation.config;

  const sale = await world.merchant().sale({ server_callback_url: shop.url });
  await world.settle();
  for (const [index, gapMs] of gapsMs.entries()) {
    await world.pass(gapMs * 0.89);
    assert.equal(shop.heard.length, index + 1, `before gap ${index} is over`);
    await world.pass(gapMs * 0.22);
    assert.equal(shop.heard.length, index + 2, `after gap ${index}`);
  }
  await world.pass(2 * 86_400_000);

  assert.equal(shop.heard.length, 30);
  assert.equal(new Set(shop.heard.map(({ headers }) => headers["webhook-id"])).size, 1);
  assert.equal(new Set(shop.heard.map(({ path }) => path)).size, 1);
  assert.deepEqual(await endsOf(world), ["given_up"]);
  assert.equal((await world.merchant().status(sale)).status, "approved");
});

test("a receiver that answers that it is gone is not called again", async (t) => {
  const world = await startWorld(t);
  const shop = await startReceiver(t, answerWith(410));

  await world.merchant().sale({ server_callback_url: shop.url });
  await world.settle();
  await world.pass(86_400_000);

  assert.equal(shop.heard.length, 1);
  assert.deepEqual(await endsOf(world), ["stopped"]);
});

test("a receiver that asks for a pause gets it", async (t) => {
  const world = await startWorld(t);
  const shop = await startReceiver(t, answerWith(503, { "retry-after": "3600" }));

  await world.merchant().sale({ server_callback_url: shop.url });
  await world.settle();
  shop.answer(answerWith(200));
  await world.pass(3_590_000);
  const before = shop.heard.length;
  await world.pass(20_000);

  assert.equal(before, 1);
  assert.equal(shop.heard.length, 2);
  assert.deepEqual(await endsOf(world), ["delivered"]);
});

test("a redirect is not followed", async (t) => {
  const world = await startWorld(t);
  const other = await startReceiver(t);
  const shop = await startReceiver(t, answerWith(302, { location: other.url }));

  await world.merchant().sale({ server_callback_url: shop.url });
  await world.settle();

  assert.equal(shop.heard.length, 1);
  assert.equal(other.heard.length, 0);
  assert.deepEqual(await endsOf(world), [null]);
});

test("one order's callbacks arrive one after the other, also when the first fails", async (t) => {
  const world = await joinWorld(t);
  const shop = await startReceiver(t, answerWith(500));
  const merchant = world.merchant();

  const sale = await merchant.sale({ notify_url: shop.url });
  await world.settle();
  const first = await merchant.return(sale, { amount: "1.00" });
  await world.settle();
  const second = await merchant.return(sale, { amount: "2.00" });
  await world.settle();
  const before = shop.heard.length;
  shop.answer(answerWith(200));
  // The second attempt is due after at most 132 s, and each next callback at the next look.
  await world.pass(200_000);

  assert.equal(before, 1);
  assert.deepEqual(
    shop.heard.slice(1).map(({ fields }) => fields["serial-number"]),
    [sale, first, second].map((asked) => asked["serial-number"]),
  );
});

async function endsOf(world: World): Promise<readonly (string | null)[]> {
  const rows = await world.installation.database.query<{ ended: string | null }>(
    "select ended from callbacks order by order_id, sequence",
    [],
  );
  return rows.map(({ ended }) => ended);
}

function checksum(
  world: World,
  status: string,
  order: { readonly "gw-order-id": string; readonly "merchant-order-id": string },
): string {
  const text = status + order["gw-order-id"] + order["merchant-order-id"] + world.set.controlKey;
  return createHash("sha1").update(text).digest("hex");
}
