/**
 * A backup of the database is restored after orders that it does not know. The acquirer remembers
 * them: no new order may carry the id or the reference of a lost one.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { makeClient } from "@tollgate/client";
import { crashTimes } from "../support/crash-world.ts";
import { endOfFile } from "../support/end-of-file.ts";
import { type GatewayProcess, startProcess } from "../support/gateway-process.ts";
import { makeMerchant } from "../support/merchant.ts";
import { until } from "../support/until.ts";

test("after a restored backup no order id and no acquirer reference is used again", async () => {
  const known = await startProcess(endOfFile, { env: crashTimes });
  const { dataDir } = known;
  const [folder, backup] = [join(dataDir, "postgres"), join(dataDir, "backup")];
  const orders = [...(await pay(known))];
  await known.stop();
  await copy(folder, backup);
  const lost = await startProcess(endOfFile, { env: crashTimes, dataDir });
  orders.push(...(await pay(lost)));
  await lost.stop();

  await rm(folder, { recursive: true });
  await copy(backup, folder);
  const restored = await startProcess(endOfFile, { env: crashTimes, dataDir });
  orders.push(...(await pay(restored)));
  const answer = await fetch(`${restored.demo.bank.url}/ledger`);
  const { entries } = (await answer.json()) as Ledger;
  await restored.stop();

  assert.equal(orders.length, 3 * salesEach);
  assert.equal(new Set(orders.map(({ id }) => id)).size, orders.length);
  assert.equal(new Set(orders.map(({ reference }) => reference)).size, orders.length);
  assert.equal(new Set(entries.map(({ reference }) => reference)).size, orders.length);
});

type Ledger = { readonly entries: readonly { readonly reference: string }[] };

const salesEach = 3;

async function pay({ demo, baseUrl }: GatewayProcess) {
  const set = { ...demo.merchant, ...demo };
  const merchant = makeMerchant({ set, baseUrl: () => baseUrl, makeClient });
  const sales = Array.from({ length: salesEach }, async () => {
    const sale = await merchant.sale();
    const status = await until("the sale is approved", async () => {
      const now = await merchant.status(sale);
      return now.status === "approved" ? now : undefined;
    });
    return { id: sale["gw-order-id"], reference: status["processor-rrn"] };
  });
  return Promise.all(sales);
}

/**
 * Copies the folder with owners and rights, because root runs the database server as another user.
 */
async function copy(from: string, to: string): Promise<void> {
  await promisify(execFile)("cp", ["-a", from, to]);
}
