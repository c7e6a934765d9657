/**
 * The gateway is killed under load at each point where something becomes true: before and after
 * each commit, and before and after a charge reaches the bank. The next one goes on from there.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { bankMessage, type Moment, statement } from "../support/bank/trap-proxy.ts";
import { assertBooksAgree, type Left, readWhatIsLeft } from "../support/books.ts";
import { startCrashWorld } from "../support/crash-world.ts";
import { startLoad } from "../support/load.ts";
import { untilTrue } from "../support/until.ts";

const load = { clients: 20, sales: 160 };

/** Where the trap stands, what it waits for, and what must be found as the crash has left it. */
type Point = readonly [
  name: string,
  place: "database" | "acquirer",
  makeMoment: () => Moment,
  left: keyof Left,
];

// biome-ignore format: a table
const points: readonly Point[] = [
  ["before an order is written",                     "database", () => statement("begin_orders", "before", 4), "unwritten"],
  ["when an order is written and nobody was told",   "database", () => statement("begin_orders", "after", 4),  "untold"],
  ["before an outcome is written",                   "database", () => statement("move_orders_1", "before", 4), "charged"],
  ["when an outcome is written and nobody was told", "database", () => statement("move_orders_1", "after", 4),  "approved"],
  ["before a charge reaches the bank",               "acquirer", () => bankMessage("0200", "before", 40),      "uncharged"],
  ["when a charge has reached the bank unanswered",  "acquirer", () => bankMessage("0200", "after", 40),       "charged"],
];

for (const [name, place, makeMoment, expected] of points) {
  test(`a gateway killed ${name} loses no order and charges none twice`, async (t) => {
    const world = await startCrashWorld(t);
    let node = await world.startNode();
    await node.untilReady();
    let sprung = false;
    const spring = () => {
      sprung = node.child.kill("SIGKILL");
    };
    world.proxies[place].set({ ...makeMoment(), spring });

    const merchants = { set: world.set, url: () => node.url };
    const paying = startLoad(t, { ...load, ...merchants });
    await untilTrue("the trap has gone off", () => sprung);
    await node.kill();
    const left = await readWhatIsLeft(world, paying);
    world.proxies[place].reset();
    node = await world.startNode();
    await paying.finish();

    const orders = await assertBooksAgree({ ...world, ...merchants }, paying);
    assert.ok(left[expected] > 0, `left ${expected}: ${left[expected]}`);
    assert.equal(orders.length, load.sales);
    assert.ok(orders.some(({ stage }) => stage === "approved"));
  });
}
