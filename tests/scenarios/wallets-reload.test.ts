/** Keys of wallets that a running gateway cannot read, or not all of them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../support/until.ts";
import { assertWalletRefused, mintA, mintB, paid, startWalletWorld } from "../support/wallets.ts";

test("one broken key is told to the operator, and keeps nobody else from being paid", async (t) => {
  const world = await startWalletWorld(t);
  const { query } = world.installation.database;
  await query("update vault.wallet_keys set sealed = '\\x00' where wallet = 'walleta'");
  await world.restart();

  const ofA = await paid(world, "walleta_encrypted", await mintA(world));
  const ofB = await paid(world, "walletb_encrypted", await mintB(world));

  assertWalletRefused(ofA, 3002, "walleta");
  assert.equal(ofB.status, "approved");
  const told = world.logged.filter((line) => line.includes("wallet.key_unreadable"));
  assert.ok(told.length > 0);
});

test("keys that could not be read are read a little later", async (t) => {
  const world = await startWalletWorld(t);
  const { query } = world.installation.database;
  await query("alter table vault.wallet_keys rename to hidden");
  await query("notify tollgate_configuration");
  await until(
    "it has failed",
    () => world.logged.some((line) => line.includes("wallet.keys_reload_failed")) || undefined,
  );
  await query("alter table vault.hidden rename to wallet_keys");
  await query("update vault.wallet_keys set removed_at = now() where wallet = 'walletb'");

  await until("it was tried again", async () => {
    world.clock.advance(10_000);
    const status = await paid(world, "walletb_encrypted", await mintB(world));
    return status["error-code"] === "3002" || undefined;
  });
});
