/** What happens to orders whose node went silent, and to stages that last too long. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { startWorld, type World } from "../support/world.ts";

const leaseMs = 45_000;

test("another node takes over an order whose node went silent, and never charges it again", async (t) => {
  const world = await startWorld(t);
  const merchant = world.merchant();
  const sale = await merchant.sale({ credit_card_number: "4000004000000129" });
  await world.bank.waitForMessage({ mti: "0200" });
  const other = await world.otherNode("other");

  const early = await other.claimDue();
  // The first node's own clock stands still for this order: it is as good as dead.
  await makeSilent(world);
  world.clock.advance(leaseMs - 30_001);
  await other.claimDue();
  await other.settle();
  const status = await merchant.status(sale);

  assert.equal(early, 0);
  assert.equal(status.status, "error");
  assert.equal(received(world, "0200"), 1);
  assert.equal(received(world, "0420"), 1);
  assert.equal(net(world), 0n);
});

test("two nodes that look at the same moment do not both take the same order", async (t) => {
  const world = await startWorld(t);
  const merchant = world.merchant();
  const sale = await merchant.sale({ credit_card_number: "4000004000000129" });
  await world.bank.waitForMessage({ mti: "0200" });
  await makeSilent(world);
  const first = await world.otherNode("first");
  const second = await world.otherNode("second");

  world.clock.advance(leaseMs - 30_001);
  const taken = await Promise.all([first.claimDue(), second.claimDue()]);
  await Promise.all([first.settle(), second.settle()]);

  assert.equal(taken[0] + taken[1], 1);
  assert.equal(received(world, "0420"), 1);
  assert.equal((await merchant.status(sale)).status, "error");
});

/** Its lease is moved to the past, as if the node had not been heard of since. */
async function makeSilent(world: World): Promise<void> {
  await world.installation.database.query(
    `update orders set due_at = to_timestamp($1::float8 / 1000) where due_at is not null`,
    [world.clock.now()],
  );
}

function received(world: World, mti: string): number {
  const all = world.bank.messages();
  return all.filter((each) => each.mti === mti && each.direction === "received").length;
}

function net(world: World): bigint {
  return world.bank
    .ledger()
    .reduce((sum, { kind, amount }) => (kind === "reversal" ? sum - amount : sum + amount), 0n);
}
