/** Callbacks of several nodes: one stops, one writes slowly, and an operator overrules one. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { readGw } from "../../support/programs.ts";
import { answerWith, hang, startReceiver } from "../../support/receiver.ts";
import { until, untilTrue } from "../../support/until.ts";
import { startWorld, type World } from "../../support/world.ts";

const timeoutMs = 15_000;
const places = 64;
const graceMs = 2_000;

test("the next node at once continues the callbacks of a stopping node", async (t) => {
  const world = await startWorld(t, { GW_DRAIN_S: "30" });
  const shop = await startReceiver(t, hang);
  const merchant = world.merchant();
  const sales = Array.from({ length: places + 8 }, () =>
    merchant.sale({ server_callback_url: shop.url }),
  );
  await Promise.all(sales);
  await shop.untilHeard(places);

  const stopping = world.gateway.stop();
  await untilTrue("what is under way has a moment", () => world.clock.isAwaited(graceMs));
  world.clock.advance(graceMs);
  await stopping;
  const given = await rowsOf(world);
  await world.restart();
  shop.answer(answerWith(200));
  await world.settle();

  assert.deepEqual(
    new Set(given.map(({ tries, ended }) => `${tries} ${ended}`)),
    new Set(["0 null"]),
  );
  assert.ok((await rowsOf(world)).every(({ ended }) => ended === "delivered"));
  assert.equal(shop.heard.length, 2 * places + 8);
  assert.equal(await countAttempts(world, "cancelled: the node stopped"), places);
});

test("a stopping node waits for a receiver that answers soon", async (t) => {
  const world = await startWorld(t, { GW_DRAIN_S: "30" });
  const answers: (() => void)[] = [];
  const shop = await startReceiver(t, (response) => void answers.push(() => response.end()));
  await world.merchant().sale({ server_callback_url: shop.url });
  await shop.untilHeard(1);

  const stopping = world.gateway.stop();
  await untilTrue("it has a moment", () => world.clock.isAwaited(graceMs));
  for (const answer of answers) answer();
  await stopping;

  assert.deepEqual(await rowsOf(world), [{ tries: 1, ended: "delivered" }]);
});

test("a callback that took long to be written is claimed by any node, and sent once", async (t) => {
  const world = await startWorld(t);
  const shop = await startReceiver(t);
  const leaseMs = 4 * timeoutMs;
  // The order is filtered in the step that begins it, so its row and its lease have the same time.
  await world.changeEndpoint("plain", { amountMax: "1" });
  const other = await world.otherNode("other");
  const held = await world.whileOrdersWait(
    () => world.merchant().sale({ server_callback_url: shop.url }),
    async () => world.clock.advance(leaseMs - 5_000),
  );
  await held.asked;
  world.clock.advance(6_000);
  await Promise.all([other.settle(), world.settle()]);

  assert.equal(shop.heard.length, 1);
});

test("a failing attempt does not undo an operator's request to send it again", async (t) => {
  const world = await startWorld(t);
  const shop = await startReceiver(t, hang);
  const sale = await world.merchant().sale({ server_callback_url: shop.url });
  await shop.untilHeard(1);

  // The command uses the machine's clock, which is ahead of the world's.
  await readGw(world, "callback", "resend", sale["gw-order-id"]);
  shop.answer(answerWith(200));
  await world.pass(timeoutMs);

  const [row] = await until("it was sent again", async () => {
    const rows = await rowsOf(world);
    return rows[0]?.ended === "delivered" ? rows : undefined;
  });
  assert.equal(shop.heard.length, 2);
  assert.equal(row?.tries, 1);
  assert.equal(await countAttempts(world, "timed out waiting for the response"), 1);
});

type Row = { readonly tries: number; readonly ended: string | null };

function rowsOf({ installation }: World): Promise<readonly Row[]> {
  return installation.database.query<Row>("select tries, ended from callbacks");
}

async function countAttempts({ installation }: World, failure: string): Promise<number> {
  const rows = await installation.database.query(
    "select from callback_attempts where failure = $1",
    [failure],
  );
  return rows.length;
}
