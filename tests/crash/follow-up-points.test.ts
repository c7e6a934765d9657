/**
 * The gateway is killed at each point of a capture, a return and a cancel: before and after each
 * commit, and before and after the message reaches the bank. The merchant asks until it is
 * answered, the next gateway continues from there, and the money moves once.
 */
import assert from "node:assert/strict";
import { after, before, type TestContext, test } from "node:test";
import { bankMessage, type Moment, statement } from "../support/bank/trap-proxy.ts";
import {
  assertMoneyAddsUp,
  type BookedOrder,
  readLedger,
  readOrders,
  untilFinal,
} from "../support/books.ts";
import { atEnd } from "../support/clean-up.ts";
import { type Node, startCrashWorld } from "../support/crash-world.ts";
import { makeLoadClient } from "../support/load.ts";
import { type Acknowledged, about, saleFields } from "../support/merchant.ts";
import { rowsOf } from "../support/series.ts";
import { untilTrue } from "../support/until.ts";

// biome-ignore format: a table
const followUps = [
  { name: "capture", begin: "preauth", operation: "capture", much: { amount: "4.00" }, mti: "0220", asking: "capturing", end: "capture_approved",  books: ["authorisation 1015", "capture 400"] },
  { name: "return",  begin: "sale",    operation: "return",  much: { amount: "4.00" }, mti: "0400", asking: "returning", end: "reversal_approved", books: ["sale 1015", "reversal 400"] },
  { name: "cancel",  begin: "preauth", operation: "return",  much: {},                 mti: "0400", asking: "returning", end: "cancel_approved",   books: ["authorisation 1015", "reversal 1015"] },
] as const;

type FollowUp = (typeof followUps)[number];

/**
 * The proxy of the trap, what the trap waits for, and the state in which the crash must have left
 * the order.
 */
type Point = readonly [
  when: string,
  place: "database" | "acquirer",
  makeMoment: (followUp: FollowUp) => Moment,
  left: "unasked" | "asked" | "booked" | "over",
];

// biome-ignore format: a table
const points: readonly Point[] = [
  ["before it is written",                         "database", () => statement("move_orders_1", "before", 1), "unasked"],
  ["when it is written and nobody was told",       "database", () => statement("move_orders_1", "after", 1),  "asked"],
  ["before its message reaches the bank",          "acquirer", ({ mti }) => bankMessage(mti, "before", 1),    "asked"],
  ["when the bank has booked it unheard",          "acquirer", ({ mti }) => bankMessage(mti, "after", 1),     "booked"],
  ["before the bank's answer is written",          "database", () => statement("move_orders_1", "before", 2), "booked"],
  ["when the answer is written and nobody was told", "database", () => statement("move_orders_1", "after", 2), "over"],
];

const world = await startCrashWorld({ after });
let node: Node;

before(async () => {
  node = await world.startNode();
});

for (const followUp of followUps) {
  const { name, operation, begin, books } = followUp;
  // The three differ only in their messages, and a cancel and a return have the same message.
  // Before a step the next node finds the same as after the previous step.
  const isShort = ([, place, , left]: Point) =>
    place === "acquirer"
      ? left === "booked" && name !== "cancel"
      : left === "asked" && name === "capture";
  for (const [when, place, makeMoment, left] of rowsOf(points, isShort)) {
    test(`a ${name} moves money once when the gateway is killed ${when}`, async (t) => {
      await node.untilReady();
      const merchant = makeLoadClient({ set: world.set, url: () => node.url });
      const order = await merchant[begin](saleFields());
      await untilFinal(world.databaseUrl);
      const fields = about(order, followUp.much);
      let sprung = false;
      const spring = () => {
        sprung = node.child.kill("SIGKILL");
      };
      world.proxies[place].set({ ...makeMoment(followUp), spring });

      const asked = askUntilAnswered(t, (options) => merchant[operation](fields, options));
      await untilTrue("the trap has gone off", () => sprung);
      await node.kill();
      const found = await readWhatIsLeft(order, followUp);
      world.proxies[place].reset();
      node = await world.startNode();
      const reply = await asked;
      await untilFinal(world.databaseUrl);
      const repeated = await merchant[operation](fields);
      await untilFinal(world.databaseUrl);

      assert.equal(found, left);
      for (const { "gw-order-id": orderid, "serial-number": serial } of [reply, repeated]) {
        const { client_orderid } = fields;
        const status = await merchant.status({ client_orderid, orderid, "by-request-sn": serial });
        assert.equal(orderid, order["gw-order-id"]);
        assert.equal(status["order-stage"], followUp.end);
      }
      assert.deepEqual(await readBooked(order), books);
      await assertMoneyAddsUp(world);
    });
  }
}

/** Asks until it is answered, like every careful merchant, or until the test ends. */
function askUntilAnswered<Reply>(
  t: TestContext,
  ask: (options: { readonly signal: AbortSignal }) => Promise<Reply>,
): Promise<Reply> {
  const gone = new AbortController();
  atEnd(t, () => gone.abort());
  const asked = ask({ signal: gone.signal });
  asked.catch(() => undefined);
  return asked;
}

async function readWhatIsLeft(
  order: Acknowledged,
  { asking, books }: FollowUp,
): Promise<Point[3] | string> {
  const { stage } = await readOrder(order);
  const isBooked = (await readBooked(order)).length === books.length;
  if (stage === asking) return isBooked ? "booked" : "asked";
  if (stage === "approved") return isBooked ? "over" : "unasked";
  return stage;
}

async function readBooked(order: Acknowledged): Promise<readonly string[]> {
  const { reference } = await readOrder(order);
  const booked = (await readLedger(world.dataDir)).filter((each) => each.reference === reference);
  return booked.map(({ kind, amount }) => `${kind} ${amount}`);
}

async function readOrder({ "gw-order-id": id }: Acknowledged): Promise<BookedOrder> {
  const order = (await readOrders(world.databaseUrl)).find((each) => each.id === id);
  assert.ok(order !== undefined, `there is no order ${id}`);
  return order;
}
