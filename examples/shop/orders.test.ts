/** What the shop knows of an order only grows, in any order of news, and goods are shipped once. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type News, openOrders } from "./orders.ts";

const order = {
  ...{ id: "a", customer: "c", title: "Apples", amount: "24.00", currency: "USD" },
  ...{ keepCard: false, isMonthly: false, follows: null },
};
const open: News = { state: "open", detail: "processing" };
const paid: News = { state: "paid", gatewayOrder: "77" };
const partly: News = { ...paid, refunded: "5.00" };
const refunded: News = { state: "refunded", refunded: "24.00" };

function begin() {
  const orders = openOrders(":memory:");
  orders.begin(order);
  const shipped = () => orders.history("a").filter(({ what }) => what === "shipped").length;
  return { orders, shipped };
}

// biome-ignore format: a table
const journeys: readonly (readonly [news: readonly News[], state: string, refunded: string, shipped: number])[] = [
  [[open, paid, paid, open],               "paid",     "0.00",  1],
  [[paid, refunded, paid, open],           "refunded", "24.00", 1],
  [[refunded, paid],                       "refunded", "24.00", 0],
  [[partly, paid],                         "paid",     "5.00",  1],
  [[{ state: "failed" }, open],            "failed",   "0.00",  0],
  [[{ state: "failed" }, paid],            "paid",     "0.00",  1],
];

test("late and repeated news change nothing", () => {
  for (const [news, state, amount, count] of journeys) {
    const { orders, shipped } = begin();
    for (const each of news) orders.apply("a", each);

    const found = orders.find("a");
    const name = news.map((each) => each.state).join(", ");
    assert.deepEqual([found?.state, found?.refunded, shipped()], [state, amount, count], name);
  }
});

test("an order is sent once, and again only when the gateway has never received it", () => {
  const { orders } = begin();

  assert.equal(orders.begin(order), false);
  for (const detail of ["sending", "processing", "in_doubt", "unreachable"]) {
    orders.apply("a", { state: "open", detail });
    assert.equal(orders.begin(order), false, detail);
  }
  orders.apply("a", { state: "open", detail: "not_received" });
  assert.equal(orders.begin(order), true);
  assert.equal(orders.begin(order), false);
  orders.apply("a", { state: "failed", detail: "not_received" });
  assert.equal(orders.begin(order), false);
});

test("the acknowledgement of a second try opens the order again, that of the first does not", () => {
  const { orders } = begin();
  orders.apply("a", { state: "failed", gatewayOrder: "77" });

  orders.acknowledge("a", "77", null);
  assert.equal(orders.find("a")?.state, "failed");
  orders.acknowledge("a", "78", null);
  assert.equal(orders.find("a")?.state, "open");
  orders.apply("a", paid);
  orders.acknowledge("a", "79", null);
  assert.equal(orders.find("a")?.state, "paid");
});
