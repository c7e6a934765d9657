/** Messages that cross: a node that stalls, an operator who settles, an answer that comes late. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertRefused, bookedFor, received } from "../support/expect.ts";
import { startWorld } from "../support/world.ts";

const leaseMs = 45_000;
// A link that is moved through time without a sign of life would count as lost.
const patient = { GW_ACQUIRER_ECHO_AFTER_S: "86400" };

test("a node that stalls before it captures does not capture again after another has", async (t) => {
  const world = await startWorld(t, patient);
  const order = await world.merchant().preauth({ amount: "10.15" });
  await world.settle();
  const slow = await world.otherNode("slow");

  // The slow node begins the capture, and hangs when it looks for the card.
  const { asked } = await world.whileCardsWait(
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

test("a client order id is not charged anew while its first charge is in doubt", async (t) => {
  const world = await startWorld(t, patient);
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
