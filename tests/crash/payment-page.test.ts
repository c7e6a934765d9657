/**
 * The gateway is killed at each point of a try on the payment page: before and after each commit,
 * and before and after the charge reaches the bank. The cardholder returns to the page and pays:
 * one charge is in force at the end, and no try begins before the one in doubt is settled.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { bankMessage, type Moment, statement } from "../support/bank/trap-proxy.ts";
import { assertMoneyAddsUp, readRows, untilFinal } from "../support/books.ts";
import { type Node, shortLease, startCrashWorld } from "../support/crash-world.ts";
import { makePatientClient } from "../support/load.ts";
import { makeMerchant } from "../support/merchant.ts";
import { look, openPage, pay } from "../support/posted-page.ts";
import { rowsOf } from "../support/series.ts";
import { until, untilTrue } from "../support/until.ts";

const world = await startCrashWorld({ after });
let node: Node;
const merchant = makeMerchant({
  set: world.set,
  baseUrl: () => node.url,
  makeClient: makePatientClient,
});

/** `tries` is the number of tries in the history at the end. */
type Point = readonly [
  when: string,
  place: "database" | "acquirer",
  makeMoment: () => Moment,
  left: string,
  tries: number,
];

// biome-ignore format: a table
const points: readonly Point[] = [
  ["before the try is written",                         "database", () => statement("enter_cards_1", "before", 1),   "awaiting_card", 1],
  ["when the try is written and nothing is sent",       "database", () => statement("enter_cards_1", "after", 1),    "authorizing",   2],
  ["before the charge reaches the bank",                "acquirer", () => bankMessage("0200", "before", 1),        "authorizing",   2],
  ["when the charge has reached the bank unanswered",   "acquirer", () => bankMessage("0200", "after", 1),         "authorizing",   2],
  ["before the outcome is written",                     "database", () => statement("move_orders_1", "before", 1), "authorizing",   2],
  ["when the outcome is written and nobody was told",   "database", () => statement("move_orders_1", "after", 1),  "approved",      1],
];

before(async () => {
  node = await world.startNode(shortLease);
  await node.untilReady();
  // The first card of a cell is written at the second run of its statement: the first run finds
  // that the cell does not list the card's key yet, and writes nothing.
  await merchant.sale();
  await untilFinal(world.databaseUrl);
});

// The short run tests the moments in which a charge could be made twice or be lost. Before a step
// the next node finds the same as after the previous step.
const isShort = ([when, , , left]: Point) => when.startsWith("when") && left === "authorizing";

for (const [when, place, makeMoment, left, tries] of rowsOf(points, isShort)) {
  test(`a node killed ${when} leaves at most one charge, and the page continues`, async () => {
    const page = await openPage(merchant);
    let sprung = false;
    const spring = () => {
      sprung = node.child.kill("SIGKILL");
    };
    world.proxies[place].set({ ...makeMoment(), spring });

    const trying = pay(page).catch(() => undefined);
    await untilTrue("the trap has gone off", () => sprung);
    await node.kill();
    await trying;
    const found = await readOrder(page["gw-order-id"]);
    world.proxies[place].reset();
    node = await world.startNode(shortLease);
    await node.untilReady();
    // The node has another port by now; the page's path is the same.
    const { pathname } = new URL(page["redirect-url"]);
    const again = { "redirect-url": new URL(pathname, node.url).href };
    const paid = await until("the order is paid", async () => {
      if ((await look(again)).takesCard) await pay(again);
      const status = await merchant.status(page);
      return status.status === "processing" ? undefined : status;
    });
    const ended = await readOrder(page["gw-order-id"]);

    assert.equal(found.stage, left);
    assert.equal(paid["order-stage"], "sale_approved");
    assert.equal(ended.tries, tries);
    await assertMoneyAddsUp(world);
  });
}

type Row = { readonly stage: string; readonly tries: number };

async function readOrder(id: string): Promise<Row> {
  const [row] = await readRows<Row>(
    world.databaseUrl,
    `select stage, (select count(*)::int from order_history
       where order_id = orders.id and events::text like '%"card_entered"%') as tries
     from orders where id = ${Number(id)}`,
  );
  return row ?? assert.fail(`There is no order ${id}.`);
}
