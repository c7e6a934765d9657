/**
 * The gateway is killed under load at each point of no return: before and after each commit, and
 * before and after a charge reaches the bank. The next gateway continues from there.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { bankMessage, type Moment, orderChange, statement } from "../support/bank/trap-proxy.ts";
import { assertBooksAgree, type Left, readWhatIsLeft } from "../support/books.ts";
import { type Node, startCrashWorld } from "../support/crash-world.ts";
import { type Sale, startLoad } from "../support/load.ts";
import { rowsOf, series } from "../support/series.ts";
import { untilTrue } from "../support/until.ts";

const load = { clients: 20, sales: series(30, 160) };

/**
 * The run of the point, the proxy of the trap, what the trap waits for, and the state that the
 * crash must have left.
 */
type Point = readonly [
  run: "short" | "long",
  name: string,
  place: "database" | "acquirer",
  makeMoment: () => Moment,
  left: keyof Left,
];

// biome-ignore format: a table
const points: readonly Point[] = [
  ["long",  "before an order is written",                     "database", () => statement("begin_orders", "before", 2), "unwritten"],
  ["short", "when an order is written and nobody was told",   "database", () => statement("begin_orders", "after", 2),  "untold"],
  ["long",  "before an outcome is written",                   "database", () => orderChange(2, "before"), "charged"],
  ["long",  "when an outcome is written and nobody was told", "database", () => orderChange(2, "after"),  "approved"],
  ["long",  "before a charge reaches the bank",               "acquirer", () => bankMessage("0200", "before", 15),      "uncharged"],
  ["short", "when a charge has reached the bank unanswered",  "acquirer", () => bankMessage("0200", "after", 15),       "charged"],
];

const world = await startCrashWorld({ after });
const paid: Sale[] = [];
let node: Node;

before(async () => {
  node = await world.startNode();
});

for (const [, name, place, makeMoment, expected] of rowsOf(points, ([run]) => run === "short")) {
  test(`a gateway killed ${name} loses no order and charges none twice`, async (t) => {
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

    paid.push(...paying.sales);
    const orders = await assertBooksAgree({ ...world, ...merchants }, { sales: paid });
    assert.ok(left[expected] > 0, `left ${expected}: ${left[expected]}`);
    assert.equal(orders.length, paid.length);
    const own = new Set(paying.sales.map(({ fields }) => fields.client_orderid));
    assert.ok(orders.some((order) => own.has(order.client_orderid) && order.stage === "approved"));
  });
}
