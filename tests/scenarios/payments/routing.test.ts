/** Routing: which gate an order uses, and when another gate may replace it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { startTrapProxy } from "../../support/bank/trap-proxy.ts";
import { atEnd } from "../../support/clean-up.ts";
import { assertRefused, received } from "../../support/expect.ts";
import { joinWorld } from "../../support/shared-world.ts";
import { startWorld, type World } from "../../support/world.ts";

const nowhere = { host: "127.0.0.1", port: 1 };

test("orders go to the first rank, and to the next while the first has no link", async (t) => {
  const world = await startWorld(t);
  const merchant = world.merchant();
  await world.changeGate("sandbox-binary", { terminalId: "SECOND02" });
  await world.placeGates("plain", [
    ["sandbox", 1, 1],
    ["sandbox-binary", 2, 1],
  ]);

  const first = await merchant.sale();
  await world.settle();
  await world.changeGate("sandbox", nowhere, "sandbox");
  const second = await merchant.sale();
  await world.settle();

  const statuses = await Promise.all([first, second].map((sale) => merchant.status(sale)));
  assert.deepEqual(
    statuses.map((status) => [status.status, status["terminal-id"]]),
    [
      ["approved", "10000018"],
      ["approved", "SECOND02"],
    ],
  );
  assert.deepEqual(await choices(world), ["rank 1", "rank 2, because sandbox was not ready"]);
});

test("a link that is lost before the charge leaves hands the order to the next gate", async (t) => {
  const world = await startWorld(t);
  const merchant = world.merchant();
  await world.placeGates("plain", [
    ["sandbox", 1, 1],
    ["sandbox-binary", 2, 1],
  ]);

  const line = await startTrapProxy({ host: "127.0.0.1", port: world.bank.hostPort });
  atEnd(t, () => line.close());
  await world.changeGate("sandbox", { port: line.port });

  // The order is routed to the first gate, whose link is lost before the order is written.
  const { asked } = await world.whileOrdersWait(
    () => merchant.sale(),
    async () => {
      line.shut();
      await world.linksDown("sandbox");
    },
  );
  const sale = await asked;
  await world.settle();
  const status = await merchant.status(sale);

  assert.equal(status.status, "approved");
  assert.deepEqual(await choices(world), ["rank 2, because sandbox was tried before"]);
});

test("a charge that was sent never goes to another gate", async (t) => {
  const world = await startWorld(t);
  const merchant = world.merchant();
  await world.placeGates("plain", [
    ["sandbox", 1, 1],
    ["sandbox-binary", 2, 1],
  ]);

  const dropped = await merchant.sale({ credit_card_number: "4000004000000152" });
  await world.settle();
  await world.linksUp();
  await world.pass(2_000);
  // A repeat confirms that the host does not know the charge.
  await world.pass(30_000);

  assert.equal((await merchant.status(dropped)).status, "error");
  assert.equal(received(world, "0200"), 1);
});

test("gates of one rank share the orders by weight", async (t) => {
  const world = await startWorld(t);
  const merchant = world.merchant();
  await world.changeGate("sandbox-binary", { terminalId: "SECOND02" });
  await world.placeGates("plain", [
    ["sandbox", 1, 70],
    ["sandbox-binary", 1, 30],
  ]);

  const sales = await Promise.all(Array.from({ length: 200 }, () => merchant.sale()));
  await world.settle();
  const statuses = await Promise.all(sales.map((sale) => merchant.status(sale)));
  const second = statuses.filter((status) => status["terminal-id"] === "SECOND02").length;

  assert.ok(statuses.every(({ status }) => status === "approved"));
  // The limits are more than ten standard deviations away, so that chance never exceeds them.
  assert.ok(second > 20 && second < 125, `${second} of 200`);
});

test("a gate that does not accept the currency or the amount is skipped", async (t) => {
  const world = await startWorld(t);
  const merchant = world.merchant();
  await world.placeGates("plain", [
    ["sandbox", 1, 1],
    ["sandbox-binary", 2, 1],
  ]);
  await world.changeGate("sandbox", { amountMax: "5000" });
  await world.changeGate("sandbox-binary", { currencies: ["USD"], terminalId: "SECOND02" });

  const large = await merchant.sale({ amount: "50.01" });
  await world.settle();
  assert.equal((await merchant.status(large))["terminal-id"], "SECOND02");

  await world.changeGate("sandbox-binary", { currencies: ["EUR"] });
  const homeless = await merchant.sale({ amount: "50.01" });
  await world.settle();
  const status = await merchant.status(homeless);

  assert.equal(status.status, "error");
  assert.equal(status["error-code"], "5005");
});

test("without any link the order ends in an error at once, and nothing is sent later", async (t) => {
  const world = await joinWorld(t);
  const merchant = world.merchant();
  await world.stopHost();

  const sale = await merchant.sale();
  await world.settle();
  const failed = await merchant.status(sale);
  await world.startHost();
  await world.pass(3_600_000);

  assert.equal(failed.status, "error");
  assert.equal(failed["error-code"], "5002");
  assert.deepEqual(world.bank.ledger(), []);
});

test("a gate without partial captures and refunds says so, and refuses them", async (t) => {
  const world = await startWorld(t);
  const merchant = world.merchant();
  await world.changeGate("sandbox", { partialReversal: false, partialCapture: false });
  const sale = await merchant.sale();
  const held = await merchant.preauth();
  await world.settle();

  await assertRefused(merchant.return(sale, { amount: "1.00" }), 13);
  await assertRefused(merchant.capture(held, { amount: "1.00" }), 13);
  await merchant.return(sale);
  await merchant.capture(held);
  await world.settle();

  const status = await merchant.status(sale);
  assert.equal(status["gate-partial-reversal"], "disabled");
  assert.equal(status["gate-partial-capture"], "disabled");
  assert.equal(status["order-stage"], "reversal_approved");
  assert.equal((await merchant.status(held))["order-stage"], "capture_approved");
});

/** Returns why each order's gate was chosen, in the order of the orders. */
async function choices({ installation }: World): Promise<readonly string[]> {
  const rows = await installation.database.query<{ choice: string }>(
    "select progress #>> '{transaction,identifiers,gate,choice}' as choice from orders order by id",
  );
  return rows.map(({ choice }) => choice);
}
