/**
 * A server that archives its write-ahead log is lost and restored to a point in time by PostgreSQL
 * alone. The first node that starts on it puts the installation on hold: nothing is sent before an
 * operator has verified and released it, and no reference of a lost order is used again.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { makeClient } from "@tollgate/client";
import { readRows } from "../support/books.ts";
import { crashTimes } from "../support/crash-world.ts";
import { startArchived } from "../support/databases/archived-server.ts";
import { endOfFile } from "../support/end-of-file.ts";
import { type GatewayProcess, startProcess } from "../support/gateway-process.ts";
import { makeMerchant } from "../support/merchant.ts";
import { readGw, runGw } from "../support/programs.ts";
import { until } from "../support/until.ts";

const salesEach = 2;

test("a server that was restored to a point in time is on hold until it is released", async () => {
  const source = await startArchived();
  const first = await startProcess(endOfFile, {
    env: { ...crashTimes, GW_DATABASE_URL: source.url },
  });
  const early = await pay(first);
  await source.backUp();
  const kept = await pay(first);
  const [{ moment = "" } = {}] = await readRows<{ moment: string }>(
    source.url,
    "select clock_timestamp()::text as moment",
  );
  const lost = await pay(first);
  await source.archiveAll();
  await first.stop();
  await source.stop();

  const restored = await source.recover(moment);
  const env = { ...crashTimes, GW_DATABASE_URL: restored.url };
  const second = await startProcess(endOfFile, { env, dataDir: first.dataDir });
  const place = { installation: { databaseUrl: restored.url }, dataDir: first.dataDir };

  const { merchant } = await at(second);
  assert.equal((await readReady(second)).status, "on hold");
  assert.match((await readReady(second)).why ?? "", /restored to a point in time/);
  for (const { sale } of [...early, ...kept]) {
    assert.equal((await merchant.status(sale)).status, "approved");
  }
  for (const { sale } of lost) await assert.rejects(merchant.status(sale));
  await assert.rejects(merchant.sale());
  const unverified = await runGw(place, "restore", "release", "--unreconciled");
  assert.match(unverified.complaint, /not verified/);
  assert.equal(
    ((await readGw(place, "restore", "verify")) as { verified: string }).verified,
    "yes",
  );
  const released = await runGw(place, "restore", "release", "--unreconciled", "--why", "a test");
  assert.equal(released.code, 0, released.complaint);
  await until("it can take payments", async () =>
    (await readReady(second)).status === "ready" ? true : undefined,
  );
  const fresh = await pay(second);

  const references = [...early, ...kept, ...lost, ...fresh].map(({ reference }) => reference);
  assert.equal(new Set(references).size, 4 * salesEach);
  assert.match((await runGw(place, "doctor")).printed, /still have recovery_target_time/);
  await second.stop();
  await restored.stop();
});

async function at({ demo, baseUrl }: GatewayProcess) {
  const set = { ...demo.merchant, ...demo };
  return { merchant: makeMerchant({ set, baseUrl: () => baseUrl, makeClient }) };
}

async function pay(gateway: GatewayProcess) {
  const { merchant } = await at(gateway);
  const sales = Array.from({ length: salesEach }, async () => {
    const sale = await merchant.sale();
    const status = await until("the sale is approved", async () => {
      const now = await merchant.status(sale);
      return now.status === "approved" ? now : undefined;
    });
    return { sale, reference: status["processor-rrn"] };
  });
  return Promise.all(sales);
}

async function readReady({ baseUrl }: GatewayProcess) {
  const answer = await fetch(`${baseUrl}/health/ready`);
  return (await answer.json()) as { status: string; why?: string };
}
