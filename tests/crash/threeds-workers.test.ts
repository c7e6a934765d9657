/** Several gateway processes on one machine share the port on which results of challenges come. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertMoneyAddsUp, readRows } from "../support/books.ts";
import { payAt, payToTheEnd } from "../support/crash-payments.ts";
import { shortTimes } from "../support/crash-world.ts";
import { findServerOf } from "../support/database-server.ts";
import { startProcess } from "../support/gateway-process.ts";
import { saleFields } from "../support/merchant.ts";
import { cards } from "../support/threeds.ts";

test("challenges are finished whichever of two workers gets their result", async () => {
  const whole = await startProcess({ env: { ...shortTimes, GW_WORKERS: "2" } });
  const { dataDir, demo } = whole;
  const databaseUrl = findServerOf(dataDir) ?? "";
  const pay = payAt({ set: { ...demo.merchant, ...demo } }, { url: whole.baseUrl });

  const orders = await Promise.all(
    Array.from({ length: 8 }, () =>
      payToTheEnd(pay, saleFields({ credit_card_number: cards.challenge })),
    ),
  );

  const statuses = await Promise.all(orders.map((order) => pay.status(order)));
  const results = await readRows<{ node: string }>(
    databaseUrl,
    `select distinct node from order_history where events::text like '%"challenge_passed"%'`,
  );
  for (const { status, "verified-3d-status": verified } of statuses) {
    assert.deepEqual({ status, verified }, { status: "approved", verified: "AUTHENTICATED" });
  }
  assert.equal(results.length, 2, "one worker has taken all results");
  await assertMoneyAddsUp({ databaseUrl, dataDir });
  await whole.stop();
});
