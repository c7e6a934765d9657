/**
 * Everything that `npm start` starts is killed under load and started again on the same folder,
 * also with several gateway processes that share the port for results of challenges.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertBooksAgree, assertMoneyAddsUp, readRows } from "../support/books.ts";
import { payAt, payToTheEnd } from "../support/crash-payments.ts";
import { crashTimes } from "../support/crash-world.ts";
import { findServerOf } from "../support/databases/gateway-server.ts";
import { endOfFile } from "../support/end-of-file.ts";
import { startProcess } from "../support/gateway-process.ts";
import { startLoad } from "../support/load.ts";
import { saleFields } from "../support/merchant.ts";
import { testInLongRun } from "../support/series.ts";
import { cards } from "../support/threeds.ts";
import { untilTrue } from "../support/until.ts";

test("all processes killed at once under load start again, continue, and stop without a trace", async (t) => {
  let whole = await startProcess(endOfFile, { env: crashTimes });
  const { dataDir, demo } = whole;
  const set = { ...demo.merchant, ...demo };
  const merchants = { set, url: () => whole.baseUrl };
  const paying = startLoad(t, { ...merchants, clients: 16 });

  await untilTrue("orders are taken", () => paying.acknowledged >= 30);
  const killed = whole;
  await killed.kill();
  const databaseUrl = findServerOf(dataDir) ?? "";
  whole = await startProcess(endOfFile, { env: crashTimes, dataDir });
  const enough = paying.acknowledged + 20;
  await untilTrue("the next gateway takes orders", () => paying.acknowledged >= enough);
  await paying.finish();
  const nodes = [killed, whole];
  const orders = await assertBooksAgree({ ...merchants, databaseUrl, dataDir, nodes }, paying);
  await whole.stop();

  assert.equal(orders.length, paying.sales.length);
  assert.match(whole.output, /Taking over the PostgreSQL/);
  assert.equal(whole.child.exitCode, 0, whole.output);
  assert.equal(findServerOf(dataDir), undefined);
  await assert.rejects(fetch(whole.demo.bank.url));
  await assert.rejects(fetch(whole.baseUrl));
});

testInLongRun("challenges are finished whichever of two workers gets their result", async () => {
  const whole = await startProcess(endOfFile, { env: { ...crashTimes, GW_WORKERS: "2" } });
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
