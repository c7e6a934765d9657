/** The thread that opens tokens ends in the middle of a sale. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { assertRefused } from "../support/expect.ts";
import { chargesAt } from "../support/threeds.ts";
import { mintA, paid, pay, startWalletWorld } from "../support/wallets.ts";

test("a sale whose token was being opened is refused for now, and paid when it comes again", async (t) => {
  const world = await startWalletWorld(t);
  const token = await mintA(world);
  const started = once(process, "worker");

  const refused = assertRefused(pay(world, "walleta_encrypted", token), 5001);
  const [thread] = await started;
  await thread.terminate();
  await refused;
  const status = await paid(world, "walleta_encrypted", token);

  assert.equal(status.status, "approved");
  assert.equal(chargesAt(world), 1);
  assert.ok(world.logged.some((line) => line.includes("the wallet worker was lost")));
  assert.ok(world.logged.some((line) => line.includes("wallet.worker_lost")));
});
