/**
 * The gateway is killed under load at each point where something becomes true: before and after
 * each commit, and before and after a charge reaches the bank. The next one goes on from there.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertBooksAgree } from "../support/books.ts";
import { startCrashWorld } from "../support/crash-world.ts";
import { startLoad } from "../support/load.ts";
import { bankMessage, statement } from "../support/trap-points.ts";
import { untilTrue } from "../support/until.ts";

const limit = { timeout: 90_000 };
const load = { clients: 20, sales: 160 };

// biome-ignore format: a table
const points = [
  ["before an order is written",                      "database", () => statement("begin_orders", "before", 4)],
  ["when an order is written and nobody was told",    "database", () => statement("begin_orders", "after", 4)],
  ["before a card is stored",                         "database", () => statement("store_cards", "before", 4)],
  ["when a card is stored and nobody was told",       "database", () => statement("store_cards", "after", 4)],
  ["before an outcome is written",                    "database", () => statement("move_orders", "before", 4)],
  ["when an outcome is written and nobody was told",  "database", () => statement("move_orders", "after", 4)],
  ["before a charge reaches the bank",                "acquirer", () => bankMessage("0200", "before", 40)],
  ["when a charge has reached the bank unanswered",   "acquirer", () => bankMessage("0200", "after", 40)],
] as const;

for (const [name, place, makePoint] of points) {
  test(`a gateway killed ${name} loses no order and charges none twice`, limit, async (t) => {
    const world = await startCrashWorld(t);
    let node = await world.startNode();
    await node.untilReady();
    let sprung = false;
    const spring = () => {
      sprung = node.child.kill("SIGKILL");
    };
    world.proxies[place].set({ ...makePoint(), spring });

    const merchants = { set: world.set, url: () => node.url };
    const paying = startLoad(t, { ...load, ...merchants });
    await untilTrue("the trap has gone off", () => sprung);
    await node.kill();
    world.proxies[place].reset();
    node = await world.startNode();
    await paying.finish();

    const orders = await assertBooksAgree({ ...world, ...merchants }, paying);
    assert.equal(orders.length, load.sales);
    assert.ok(orders.some(({ stage }) => stage === "approved"));
  });
}
