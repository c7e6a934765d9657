/**
 * Faults of the wallets' keys and of the thread that decrypts tokens: a key that cannot be read,
 * keys that are encrypted again with the vault's, and a thread that ends in the middle of a sale.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { assertRefused } from "../../support/expect.ts";
import { runGw } from "../../support/programs.ts";
import { chargesAt } from "../../support/threeds.ts";
import { until } from "../../support/until.ts";
import {
  assertWalletRefused,
  joinWalletWorld,
  mintA,
  mintB,
  packed,
  paid,
  pay,
  startWalletWorld,
} from "../../support/wallets.ts";

test("a broken key is reported to the operator, and does not affect other merchants", async (t) => {
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

test("a sale whose token was being decrypted is refused for now, and paid when it is repeated", async (t) => {
  const world = await joinWalletWorld(t);
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

test("the wallets' keys are encrypted again with the vault's new key, and still decrypt tokens", async (t) => {
  const world = await startWalletWorld(t);
  const before = await sealedKeys();

  const rotated = await runGw({ ...world, settings: { GW_KEY_GRACE_S: "1" } }, "key", "rotate");
  await world.restart();

  assert.equal(rotated.code, 0, rotated.complaint);
  for (const [index, sealed] of (await sealedKeys()).entries()) {
    assert.notEqual(sealed, before[index]);
  }
  for (const [type, token] of [
    ["walleta_encrypted", await mintA(world)],
    ["walletb_encrypted", await mintB(world)],
  ] as const) {
    const sale = await world.merchant().sale({
      credit_card_number: undefined,
      expire_month: undefined,
      expire_year: undefined,
      cvv2: undefined,
      payment_data: packed(token),
      payment_data_type: type,
    });
    await world.settle();
    assert.equal((await world.merchant().status(sale)).status, "approved", type);
  }

  async function sealedKeys(): Promise<readonly string[]> {
    const rows = await world.installation.database.query<{ sealed: Buffer }>(
      "select sealed from vault.wallet_keys order by id",
    );
    assert.equal(rows.length, 2);
    return rows.map(({ sealed }) => sealed.toString("hex"));
  }
});
