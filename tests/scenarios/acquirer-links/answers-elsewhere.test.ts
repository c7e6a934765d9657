/**
 * A host that answers over the connections of other processes. The process that waits gets each
 * answer, so no sale is reversed.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertBooksAgree } from "../../support/books.ts";
import { findServerOf } from "../../support/databases/gateway-server.ts";
import { endOfFile } from "../../support/end-of-file.ts";
import { received } from "../../support/expect.ts";
import { startProcess } from "../../support/gateway-process.ts";
import { startLoad } from "../../support/load.ts";
import type { Acknowledged } from "../../support/merchant.ts";
import { series, testInLongRun } from "../../support/series.ts";
import { until } from "../../support/until.ts";
import { startWorld, type World } from "../../support/world.ts";

const sales = series(60, 1_000);

test("two nodes get the answers to their own requests", async (t) => {
  const world = await startWorld(t);
  const other = await world.otherNode("other");
  await world.bank.setSwitches({ answersElsewhere: true });
  const merchants = [world.merchant(), world.merchantAt(other)];
  const payAndReturn = async (merchant: (typeof merchants)[number]) => {
    const held = await merchant.preauth();
    await untilStage(merchant, held, "auth_approved");
    await merchant.capture(held);
    await untilStage(merchant, held, "capture_approved");
    await merchant.return(held);
    await untilStage(merchant, held, "reversal_approved");
    const declined = await merchant.sale({ credit_card_number: "4000004000000020" });
    await untilStage(merchant, declined, "sale_declined");
  };

  await Promise.all(merchants.map(payAndReturn));
  const paid = await Promise.all(
    Array.from({ length: sales }, async (_, index) => {
      const merchant = merchants[index % 2] ?? assert.fail();
      const sale = await merchant.sale();
      return untilStage(merchant, sale, "sale_approved");
    }),
  );

  assert.equal(paid.length, sales);
  assert.equal(received(world, "0420"), 0, "a charge was reversed");
  assert.equal(world.logged.filter((line) => line.includes("acquirer.late_approval")).length, 0);
});

testInLongRun("two processes of one node get the answers to their own requests", async (t) => {
  const whole = await startProcess(endOfFile, { env: { GW_WORKERS: "2" } });
  const { dataDir, demo } = whole;
  const set = { ...demo.merchant, ...demo };
  const merchants = { set, url: () => whole.baseUrl };
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ answersElsewhere: true });
  await fetch(`${demo.bank.url}/switches`, { method: "POST", headers, body });

  const paying = startLoad(t, { ...merchants, clients: 8, sales });
  await paying.finish();
  const databaseUrl = findServerOf(dataDir) ?? "";
  const own = { ...merchants, databaseUrl, dataDir, nodes: [whole] };
  const orders = await assertBooksAgree(own, paying);

  assert.deepEqual(new Set(orders.map(({ stage }) => stage)), new Set(["approved"]));
  assert.equal(orders.length, sales);
});

function untilStage(merchant: ReturnType<World["merchant"]>, order: Acknowledged, stage: string) {
  return until(`the order is ${stage}`, async () => {
    const status = await merchant.status(order);
    return status["order-stage"] === stage ? status : undefined;
  });
}
