/** The shop with a gateway that follows a script, for failures that the sandbox does not have. */
import assert from "node:assert/strict";
import { generateKeyPairSync, randomUUID } from "node:crypto";
import { type TestContext, test } from "node:test";
import {
  type Answer,
  acknowledged,
  approved,
  refuse,
  say,
  startServer,
} from "../../client/testing.ts";
import { openOrders } from "./orders.ts";
import { makePayments } from "./payments.ts";
import { makeRoutes } from "./routes.ts";
import { listen, serve } from "./server.ts";

const privateKey = generateKeyPairSync("rsa", {
  modulusLength: 2048,
  publicKeyEncoding: { format: "pem", type: "spki" },
  privateKeyEncoding: { format: "pem", type: "pkcs8" },
}).privateKey;

async function openShop(t: TestContext, ...answers: readonly Answer[]) {
  const { baseUrl, received } = await startServer(t, ...answers);
  const orders = openOrders(":memory:");
  const { server, address: shopUrl } = await listen("127.0.0.1", 0);
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const gateway = { baseUrl, login: "demo", controlKey: "key", endpoint: "1001", privateKey };
  const callbackUrl = `${shopUrl}/callback`;
  const payments = makePayments({ gateway, orders, shopUrl, callbackUrl });
  const setup = { orders, payments, bankUrl: baseUrl, gatewayUrl: baseUrl };
  serve(server, makeRoutes({ ...setup, newNonce: () => "nonce" }));
  const post = async (path: string, fields: Readonly<Record<string, string>>) => {
    const body = new URLSearchParams(fields);
    const answer = await fetch(shopUrl + path, { method: "POST", body, redirect: "manual" });
    return answer.headers.get("location");
  };
  const get = async (path: string) => (await fetch(shopUrl + path)).text();
  return { orders, payments, received, post, get };
}

const charged = acknowledged.replace("async-response", "process-recurring-payment-response");

// biome-ignore format: a table
const troubles: readonly (readonly [what: string, answer: Answer, state: string])[] = [
  ["an internal failure",   refuse(200, "INTERNAL_ERROR", 5000, "3600"),          "open"],
  ["no storage",            refuse(503, "TEMPORARILY_UNAVAILABLE", 5001, "3600"), "open"],
  ["an order that exists",  refuse(200, "DUPLICATE_ORDER", 7),                    "open"],
  ["a refusal",             refuse(200, "INVALID_PARAMETER", 5),                  "failed"],
];

test("only a refusal ends an order: a gateway that has failed may have charged", async (t) => {
  for (const [what, answer, state] of troubles) {
    const { orders, post } = await openShop(t, answer);
    const id = randomUUID();

    await post("/buy", { order: id, credit_card_number: "4000001000000018" });

    assert.equal(orders.find(id)?.state, state, what);
    assert.equal(orders.begin({ ...anOrder, id }), false, what);
  }
});

const anOrder = {
  customer: "c",
  title: "Apples",
  amount: "24.00",
  currency: "USD",
  keepCard: true,
  isMonthly: true,
  follows: null,
};

test("an order is paid in a currency without decimals and in one with three", async (t) => {
  for (const [own, told, currency] of [
    ["3600", "3600", "JPY"],
    ["7.500", "7.500", "KWD"],
  ] as const) {
    const status = say(`${approved}&amount=${told}&currency=${currency}`);
    const { orders, payments } = await openShop(t, status);
    const id = randomUUID();
    orders.begin({ ...anOrder, id, amount: own, currency });

    await payments.refresh(orders.find(id) ?? assert.fail());

    assert.equal(orders.find(id)?.state, "paid", currency);
  }
});

test("the forms for staff say that a real shop asks for a sign-in", async (t) => {
  const { orders, get } = await openShop(t, say(acknowledged));
  const id = randomUUID();
  orders.begin({ ...anOrder, id });
  orders.apply(id, { state: "paid", gatewayOrder: "77" });
  orders.keepCard(id, "88", "99", "VISA");

  const page = await get(`/orders/${id}`);

  assert.equal(page.split("ONLY SIGNED-IN STAFF").length, 3);
});

test("each month is charged once, and a charge that did not arrive is repeated", async (t) => {
  const { orders, received, post } = await openShop(t, say(charged));
  const id = randomUUID();
  orders.begin({ ...anOrder, id });
  orders.apply(id, { state: "paid", gatewayOrder: "77" });
  orders.keepCard(id, "88", "99", "VISA");
  const charge = (month: string) => post(`/orders/${id}/next-month`, { month });

  assert.equal(await charge("2"), `/orders/${id}-2`);
  assert.equal(await charge("3"), `/orders/${id}`);
  orders.apply(`${id}-2`, { state: "paid" });
  assert.equal(await charge("2"), `/orders/${id}`);
  orders.begin({ ...anOrder, id: `${id}-3`, follows: id });
  orders.apply(`${id}-3`, { state: "open", detail: "not_received" });
  assert.equal(await charge("4"), `/orders/${id}`);
  assert.equal(await charge("3"), `/orders/${id}-3`);

  const sent = received.map(({ url, body }) => {
    const fields = new URLSearchParams(body);
    return [url, fields.get("client_orderid"), fields.get("recurring_payment_id")];
  });
  const path = "/gw/api/v4/process-recurring-payment/1001";
  assert.deepEqual(sent, [
    [path, `${id}-2`, "99"],
    [path, `${id}-3`, "99"],
  ]);
});
