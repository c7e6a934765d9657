/**
 * The shop's knowledge of an order only grows, with results in any order, and goods are shipped
 * once.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { type News, openOrders } from "./orders.ts";

const order = {
  id: "a",
  customer: "c",
  title: "Apples",
  amount: "24.00",
  currency: "USD",
  keepCard: false,
  isMonthly: false,
  follows: null,
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

test("late and repeated results change nothing", () => {
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

test("the acknowledgement of a second attempt opens the order again, and that of the first does not", () => {
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

test("an order that the gateway has acknowledged is not paid again, even if it is not found", () => {
  const { orders } = begin();
  orders.acknowledge("a", "77", null);
  orders.apply("a", { state: "open", detail: "not_received" });

  assert.equal(orders.find("a")?.detail, "unreachable");
  assert.equal(orders.begin(order), false);
});

// biome-ignore format: a table
const agreements: readonly (readonly [customer: string, keepCard: boolean, isMonthly: boolean, kept: readonly number[]])[] = [
  ["c",     false, false, [0, 0]],
  ["c",     true,  true,  [1, 1]],
  ["other", true,  true,  [0, 0]],
];

test("the customer's agreement of the second attempt replaces that of the first", () => {
  for (const [customer, keepCard, isMonthly, kept] of agreements) {
    const orders = openOrders(":memory:");
    orders.begin({ ...order, keepCard: true, isMonthly: true });
    orders.apply("a", { state: "open", detail: "not_received" });

    assert.equal(orders.begin({ ...order, customer, keepCard, isMonthly }), true);
    const found = orders.find("a");
    assert.deepEqual([found?.keepCard, found?.isMonthly], kept, customer);
  }
});

/** Pays and ships in a transaction that ends only when the test waits for it. */
const otherProcess = `
  const { parentPort, workerData } = require("node:worker_threads");
  const { DatabaseSync } = require("node:sqlite");
  const database = new DatabaseSync(workerData.file);
  database.exec("begin immediate; update orders set state = 'paid'");
  database.exec("insert into history values ('a', 'now', 'shipped')");
  const isWaiting = new Int32Array(workerData.shared);
  parentPort.postMessage("begun");
  Atomics.wait(isWaiting, 0, 0);
  setTimeout(() => { database.exec("commit"); database.close(); }, 100);`;

test("two processes that get the result of the same payment ship once", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-orders-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, "shop.sqlite");
  const orders = openOrders(file);
  t.after(() => orders.close());
  orders.begin(order);
  const shared = new SharedArrayBuffer(4);
  const other = new Worker(otherProcess, { eval: true, workerData: { file, shared } });
  await once(other, "message");
  const ended = once(other, "exit");

  Atomics.store(new Int32Array(shared), 0, 1);
  Atomics.notify(new Int32Array(shared), 0);
  orders.apply("a", paid);
  await ended;

  const shipped = orders.history("a").filter(({ what }) => what === "shipped");
  assert.equal(shipped.length, 1);
});
