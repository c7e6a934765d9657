/** The vault's keys are changed: what wallets encrypt for a merchant still opens. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { runGw } from "../support/programs.ts";
import { mintA, mintB, packed, startWalletWorld } from "../support/wallets.ts";

test("the wallets' keys are sealed anew with the vault's, and open tokens as before", async (t) => {
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
      ...{ credit_card_number: undefined, expire_month: undefined, expire_year: undefined },
      ...{ cvv2: undefined, payment_data: packed(token), payment_data_type: type },
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
