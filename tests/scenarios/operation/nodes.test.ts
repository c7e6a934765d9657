/**
 * Orders whose node went silent, stages that last too long, and crossing messages of two nodes: a
 * node that stalls, an operator who settles, an answer that arrives late.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertRefused, bookedFor, received } from "../../support/expect.ts";
import { joinWorld } from "../../support/shared-world.ts";
import { until } from "../../support/until.ts";
import { startWorld, type World } from "../../support/world.ts";

const leaseMs = 45_000;

/**
 * Moves the clock in steps in which nodes look for due orders: a node that does not look for ten
 * seconds concludes that it was paused. Returns how many orders they claimed.
 */
async function passTime(
  { clock }: World,
  nodes: readonly { claimDue(): Promise<number> }[],
  forMs: number,
): Promise<number> {
  let claimed = 0;
  for (let left = forMs; left > 0; left -= 5_000) {
    clock.advance(Math.min(left, 5_000));
    const counts = await Promise.all(nodes.map((node) => node.claimDue()));
    claimed += counts.reduce((sum, each) => sum + each, 0);
  }
  return claimed;
}

test("another node claims an order whose node went silent, and never charges it again", async (t) => {
  const world = await startWorld(t);
  const merchant = world.merchant();
  const sale = await merchant.sale({ credit_card_number: "4000004000000129" });
  await world.bank.waitForMessage({ mti: "0200" });
  const other = await world.otherNode("other");

  const early = await other.claimDue();
  // The first node's clock stands still for this order, as if the node were dead.
  await makeSilent(world);
  assert.equal(await passTime(world, [other], leaseMs - 30_001), 1);
  await other.settle();
  const status = await merchant.status(sale);

  assert.equal(early, 0);
  assert.equal(status.status, "error");
  assert.equal(received(world, "0200"), 1);
  assert.equal(received(world, "0420"), 1);
  assert.equal(net(world), 0n);
});

test("two nodes that look at the same time do not both claim an order", async (t) => {
  const world = await startWorld(t);
  const merchant = world.merchant();
  const sale = await merchant.sale({ credit_card_number: "4000004000000129" });
  await world.bank.waitForMessage({ mti: "0200" });
  await makeSilent(world);
  const first = await world.otherNode("first");
  const second = await world.otherNode("second");

  const taken = await passTime(world, [first, second], leaseMs - 30_001);
  await Promise.all([first.settle(), second.settle()]);

  assert.equal(taken, 1);
  assert.equal(received(world, "0420"), 1);
  assert.equal((await merchant.status(sale)).status, "error");
});

test("a node does not touch an expired order that another node has in flight", async (t) => {
  const world = await startWorld(t, { GW_PROCESSING_DEADLINE_S: "20" });
  const merchant = world.merchant();
  const sale = await merchant.sale({ credit_card_number: "4000004000000129" });
  await world.bank.waitForMessage({ mti: "0200" });
  const other = await world.otherNode("other");

  world.clock.advance(25_000);
  const early = await other.claimDue();
  await makeDue(world);
  const misled = await other.claimDue();
  world.clock.advance(6_000);
  await world.settle();

  assert.deepEqual([early, misled], [0, 0]);
  assert.equal(received(world, "0420"), 1);
  assert.equal((await merchant.status(sale)).status, "error");
});

test("a change without a notification takes effect at the next reading", async (t) => {
  const world = await startWorld(t, { GW_RELOAD_EVERY_S: "0.05" });
  const merchant = world.merchant();
  await merchant.sale();

  await world.installation.database.query("update endpoints set enabled = false");

  const refused = await until("the endpoint is unknown", () =>
    merchant.sale().then(
      () => undefined,
      (error: unknown) => error,
    ),
  );
  await assertRefused(Promise.reject(refused), 3);
});

/** Moves the lease to the past, as if the node had sent no sign of life since. */
async function makeSilent(world: World): Promise<void> {
  await world.installation.database.query(
    `update orders
     set progress = jsonb_set(progress::jsonb, '{owed,claimableAt}', to_jsonb($1::bigint))
     where progress #> '{owed,claimableAt}' is not null`,
    [world.clock.now()],
  );
  await makeDue(world);
}

/** Makes a node look at the order now, before the deadline of the stage. */
async function makeDue(world: World): Promise<void> {
  await world.installation.database.query(
    `insert into due (due_at, order_id, version, merchant_id, node)
     select to_timestamp($1::float8 / 1000), id, version, merchant_id, carrier
     from orders where owes is not null
     on conflict do nothing`,
    [world.clock.now()],
  );
}

function net(world: World): bigint {
  return world.bank
    .ledger()
    .reduce((sum, { kind, amount }) => (kind === "reversal" ? sum - amount : sum + amount), 0n);
}

// A link that is moved through time without a sign of life would count as lost.
const patient = { GW_ACQUIRER_ECHO_AFTER_S: "86400" };

test("a node that stalls before it captures does not capture again after another has", async (t) => {
  const world = await startWorld(t, patient);
  const order = await world.merchant().preauth({ amount: "10.15" });
  await world.settle();
  const slow = await world.otherNode("slow");

  // The slow node begins the capture, and hangs when it reads the card.
  const { asked } = await world.whileCardsWaitAfterWrite(
    () => world.merchantAt(slow).capture(order),
    async () => {
      world.clock.advance(leaseMs + 1_000);
      await world.gateway.claimDue();
    },
  );
  await asked;
  await world.settle();
  await slow.settle();
  await world.settle();
  const status = await world.merchant().status(order);

  assert.equal(status["order-stage"], "capture_approved");
  assert.equal(received(world, "0220"), 0);
  assert.deepEqual(bookedFor(world, status), ["authorisation 1015", "capture 1015"]);
});

test("a client order id is not charged again while its first charge is in doubt", async (t) => {
  const world = await joinWorld(t, patient);
  const merchant = world.merchant();
  const fields = { client_orderid: "once-only", credit_card_number: "4000004000000145" };
  const first = await merchant.sale(fields);
  await world.bank.waitForMessage({ mti: "0200" });
  await world.stopHost();
  await world.settle();

  await assertRefused(merchant.sale({ client_orderid: "once-only", amount: "9.00" }), 7);
  await world.startHost();
  await world.pass(300_000);
  await world.pass(300_000);
  const second = await merchant.sale({ client_orderid: "once-only", amount: "9.00" });
  await world.settle();

  assert.equal((await merchant.status(first)).status, "error");
  assert.equal((await merchant.status(second)).status, "approved");
});
