/** A receipt is only found by its complete address. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Endpoint } from "../orders/merchant.ts";
import { approved, gate, inStage } from "../orders/testing.ts";
import { asEndpointId, asMerchantId } from "../values/ids.ts";
import { Secret } from "../values/secret.ts";
import { makeFindReceipt } from "./find.ts";

const merchant = {
  id: asMerchantId("7"),
  login: "shop",
  name: "Shop",
  controlKey: new Secret("k"),
  enabled: true,
  cell: "main",
  oauthKeys: [],
  settings: {},
};
const endpoint: Endpoint = {
  id: asEndpointId("1001"),
  merchant,
  name: "plain",
  currency: "USD",
  gates: [],
  enabled: false,
  settings: { threeDSecure: "off", shopName: "Harbour Coffee" },
};
const sister = { ...endpoint, id: asEndpointId("1002") };
const place = { name: "gate", rank: 1, weight: 1, worksWithoutCvv: false, amountDigits: 12 };
const nameless: Endpoint = {
  ...endpoint,
  id: asEndpointId("1004"),
  gates: [{ ...gate, ...place }],
  settings: { threeDSecure: "off" },
};
const endpoints = new Map([endpoint, sister, nameless].map((each) => [each.id, each]));

test("an approved order's receipt is found at its endpoint, also a closed one", async () => {
  const asked: string[] = [];
  const find = finder(approved(), asked);

  const found = await find("1001", "814660");

  assert.equal(found?.order.id, "42000001");
  assert.equal(found?.merchantName, "Harbour Coffee");
  assert.deepEqual(asked, [`7/${approved().id}`]);
});

test("a shop without a name is shown as statements show it, and never by its login", async () => {
  const find = finder({ ...approved(), endpointId: nameless.id });

  assert.equal((await find("1004", "814660"))?.merchantName, "SHOP");
});

test("another endpoint, another word or another stage is nothing", async () => {
  const asked: string[] = [];
  const find = finder(approved(), asked);

  for (const [at, receipt] of [
    ["1002", "814660"],
    ["1003", "814660"],
    ["1001", ""],
    ["1001", "81466x"],
    ["1001", "9".repeat(40)],
    ["constructor", "814660"],
  ] as const) {
    assert.equal(await find(at, receipt), undefined);
  }
  assert.deepEqual(asked, [`7/${approved().id}`], "only what can be a receipt is looked for");
  assert.equal(await finder(inStage("reversing"))("1001", "814660"), undefined);
  assert.equal(await finder(undefined)("1001", "814660"), undefined);
});

function finder(order: ReturnType<typeof approved> | undefined, asked: string[] = []) {
  return makeFindReceipt({
    findEndpoint: (id) => endpoints.get(id),
    readReceiptId: () => ({ merchantId: approved().merchantId, orderId: approved().id }),
    findOfReceipt: async (merchantId, orderId) => {
      asked.push(`${merchantId}/${orderId}`);
      return order;
    },
  });
}
