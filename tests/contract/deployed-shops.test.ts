/**
 * Requests and addresses as published shop plugins and libraries of this interface make them, where
 * they differ from a careful client's.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertRefused, readEverything } from "../support/expect.ts";
import { saleFields } from "../support/merchant.ts";
import { startReceiver } from "../support/receiver.ts";
import { joinWorld } from "../support/shared-world.ts";
import { post, signedSale } from "../support/wire.ts";
import { startWorld } from "../support/world.ts";

const missingParameter = 4;
const invalidParameter = 5;

test("a state is checked where the country has codes, and otherwise ignored when unreadable", async (t) => {
  const merchant = (await joinWorld(t)).merchant();

  const long = await merchant.sale({ country: "GB", state: "Greater London" });
  const short = await merchant.sale({ country: "IT", state: "MI" });

  assert.equal((await merchant.status(long)).state, undefined);
  assert.equal((await merchant.status(short)).state, "MI");
  for (const state of ["Illinois", "ZZ", "il"]) {
    await assertRefused(merchant.sale({ state }), invalidParameter, /state/);
  }
});

test("a shop without states works if the endpoint waives the state", async (t) => {
  const world = await startWorld(t);
  const merchant = world.merchant();

  await assertRefused(merchant.sale({ state: undefined }), missingParameter, /state/);
  await world.changeEndpoint("plain", { optionalFields: ["state"] });
  await merchant.sale({ state: undefined });
  await merchant.sale({ country: "CA", state: undefined });

  await merchant.sale({ state: "Illinois" });

  // The other endpoints still require it.
  await assertRefused(merchant.sale({ state: undefined }, "secure"), missingParameter, /state/);
  await assertRefused(
    merchant.group().sync.accountVerification(saleFields({ state: undefined })),
    missingParameter,
    /state/,
  );
  await world.settle();
});

test("card fields beside a request for a payment page are ignored, and stored nowhere", async (t) => {
  const world = await startWorld(t);
  const id = world.set.endpoints["plain"] ?? "";
  const number = "4000001000000018";
  const left = { credit_card_number: number, expire_month: "12", expire_year: "2099", cvv2: "321" };
  const empty = { credit_card_number: "", card_printed_name: "", expire_month: "", cvv2: "" };

  for (const fields of [left, empty]) {
    const body = signedSale(world, id, saleFields({ ...fields, state: undefined }));
    const reply = await post(world, `/gw/api/v2/sale-form/${id}`, body);

    assert.match(reply.text, /^type=async-form-response&serial-number=.*&redirect-url=http/);
  }
  assert.ok(!(await readEverything(world)).text.includes(number));
  assert.ok(!world.logged.join("").includes(number));
});

test("a shop finds its order by an orderId of its own in the callback's address", async (t) => {
  const world = await joinWorld(t);
  const shop = await startReceiver(t);

  const server_callback_url = `${shop.url}/index.php?route=payment.callback&orderId=42&orderid=7`;
  const sale = await world.merchant().sale({ server_callback_url });
  await world.settle();

  const [told] = shop.heard;
  const query = new URL(told?.path ?? "", shop.url).searchParams;
  assert.equal(query.get("route"), "payment.callback");
  assert.equal(query.get("orderId"), "42");
  assert.deepEqual(query.getAll("orderid"), [sale["gw-order-id"]]);
});
