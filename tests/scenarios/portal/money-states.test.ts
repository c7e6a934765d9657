/** The state of an order's money in lists, filters, exports, totals and the home screen. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { writeLines } from "../../support/bank/settlement.ts";
import { endOfFile } from "../../support/end-of-file.ts";
import { addUser, openBrowser } from "../../support/operator/portal.ts";
import { runGw } from "../../support/programs.ts";
import { startWorld } from "../../support/world.ts";

const world = await startWorld(endOfFile, { GW_PORTAL_INDEX_EVERY_S: "1" });
await addUser(world, { login: "bob", role: "merchant-admin", merchant: "demo" });
const bob = openBrowser(world.gateway);
await bob.signIn("bob@demo");
const merchant = world.merchant();

type Payment = { readonly kind?: "sale" | "preauth"; readonly card?: string };

async function pay({ kind = "sale", card }: Payment = {}) {
  const order = await merchant[kind]({
    amount: "71.00",
    ...(card && { credit_card_number: card }),
  });
  await world.settle();
  return order;
}

async function payAndReturn(payment: Payment, amount?: string) {
  const order = await pay(payment);
  await merchant.return(order, amount === undefined ? {} : { amount });
  await world.settle();
  return order;
}

/** A command records the chargeback, and the refund of the rest makes the node index both. */
async function payAndDispute() {
  const order = await pay();
  const { "processor-rrn": reference } = await merchant.status(order);
  const file = await writeLines(world, "chargebacks.csv", [
    "case,reference,amount,currency,reason,stage,at",
    `P1,${reference},7000,USD,10.4,first,2030-01-31`,
  ]);
  await runGw(world, "chargeback", "import", file);
  await merchant.return(order);
  await world.settle();
  return order;
}

const orders = {
  charged_back: await payAndDispute(),
  captured: await pay(),
  partly_refunded: await payAndReturn({}, "1.00"),
  refunded: await payAndReturn({}),
  held: await pay({ kind: "preauth" }),
  cancelled: await payAndReturn({ kind: "preauth" }),
  declined: await pay({ card: "4000004000000012" }),
};

for (const [state, { "gw-order-id": order }] of Object.entries(orders)) {
  test(`the list, its filter, the export and the heading show an order that is ${state} alike`, async () => {
    const list = (await bob.call("GET /orders", { status: [state] })).body;
    const { csv } = (await bob.call("GET /exports/orders", { status: [state] })).body;
    const detail = (await bob.call("GET /orders/:order", { order })).body;

    assert.deepEqual(
      list.orders.map((line) => [line.order, line.status]),
      [[order, state]],
    );
    assert.match(csv.split("\r\n")[1] ?? "", new RegExp(`^${order},.*,${state},`));
    assert.equal(detail.line.status, state);
  });
}

test("a filter of several states continues where its last page ended", async () => {
  const asked = { status: ["refunded", "partly_refunded", "held"], limit: 2 };

  const first = (await bob.call("GET /orders", asked)).body;
  const second = (await bob.call("GET /orders", { ...asked, after: first.next })).body;

  assert.deepEqual(
    [first.orders, second.orders].map((page) => page.map(({ status }) => status)),
    [["held", "refunded"], ["partly_refunded"]],
  );
});

test("every order whose charge was approved is found as approved", async () => {
  const { body } = await bob.call("GET /orders", { status: ["approved"] });

  assert.equal(body.orders.length, Object.keys(orders).length - 1);
});

test("totals contain chargebacks, and the home screen counts the rest", async () => {
  const order = orders.charged_back["gw-order-id"];
  const { totals } = (await bob.call("GET /orders/:order", { order })).body;
  const { net } = (await bob.call("GET /home", { range: "day" })).body;

  assert.deepEqual([totals.chargedBack.text, totals.left.text], ["70.00", "0.00"]);
  assert.deepEqual(
    net.map(({ text, currency }) => `${text} ${currency}`),
    ["141.00 USD"],
  );
});
