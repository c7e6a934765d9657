/**
 * Rare cases of wallet payments: unusual ids, another spelling of a token, lost answers, old
 * versions.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { testOnEachDialect } from "../../support/bank/dialects.ts";
import { assertRefused, bookedFor } from "../../support/expect.ts";
import { readGw, runGw } from "../../support/programs.ts";
import { chargesAt } from "../../support/threeds.ts";
import { until } from "../../support/until.ts";
import {
  assertWalletRefused,
  chargeAtHost,
  joinWalletWorld,
  mintA,
  mintB,
  paid,
  pay,
  payloadOf,
  startWalletWorld,
  textOf,
  type WalletKind,
  walletFields,
  walletKinds,
} from "../../support/wallets.ts";

test("another spelling of the same token is the same token", async (t) => {
  const world = await joinWalletWorld(t);
  const respell: readonly ((token: string) => string)[] = [
    (token) => JSON.stringify(JSON.parse(token), undefined, 2),
    (token) => JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(token)).reverse())),
    (token) =>
      token.replace(/("transactionId":")([^"]+)/, (_, name, id) => name + id.toUpperCase()),
    (token) => token.replaceAll("/", "\\/"),
  ];
  for (const kind of ["walleta_encrypted", "walletb_encrypted"] as const) {
    const token = await textOf(world, kind);
    const first = await paid(world, kind, token);
    assert.equal(first.status, "approved", kind);
    for (const [index, spell] of respell.entries()) {
      assertWalletRefused(await paid(world, kind, spell(token)), 3005, `${kind} ${index}`);
    }
  }
});

test("a message that was paid encrypted is not paid decrypted, or the other way round", async (t) => {
  const world = await joinWalletWorld(t);
  const kinds = ["walletb_encrypted", "walletb_decrypted"] as const;
  for (const [first, second] of [kinds, kinds.toReversed()]) {
    const messageId = `first-${first}`;
    const texts = {
      walletb_encrypted: await mintB(world, {}, { messageId }),
      walletb_decrypted: JSON.stringify({ ...payloadOf(world, "walletb_decrypted"), messageId }),
    };
    assert.ok(first !== undefined && second !== undefined);

    assert.equal((await paid(world, first, texts[first])).status, "approved", first);
    assertWalletRefused(await paid(world, second, texts[second]), 3005, second);
  }
});

test("ids of any characters are remembered unchanged", async (t) => {
  const world = await joinWalletWorld(t);
  const ids = ["NULL", '"', "\\", "{}", "a,b", "'; --", 'a"b\\c{},NULL', "x".repeat(255), "a b"];
  for (const messageId of ids) {
    const text = () => JSON.stringify({ ...payloadOf(world, "walletb_decrypted"), messageId });

    const first = await paid(world, "walletb_decrypted", text());
    assert.equal(first.status, "approved", `${messageId} ${first["error-message"]}`);
    assertWalletRefused(await paid(world, "walletb_decrypted", text()), 3005, messageId);
  }
});

test("a message that ends in the far future is paid once", async (t) => {
  const world = await joinWalletWorld(t);
  const payload = payloadOf(world, "walletb_decrypted");
  const text = JSON.stringify({ ...payload, messageExpiration: "9".repeat(15) });

  const first = await paid(world, "walletb_decrypted", text);

  assert.equal(first.status, "approved", `${first["error-message"]}`);
  assertWalletRefused(await paid(world, "walletb_decrypted", text), 3005, "again");
});

test("the first version of walletb's tokens is accepted only if that is allowed", async (t) => {
  const world = await startWalletWorld(t);
  const old = () => mintB(world, {}, { version: "ECv1" });
  const before = await paid(world, "walletb_encrypted", await old());
  const walletb = { recipientId: "gateway:tollgate", versions: ["ECv1", "ECv2"] };
  await world.changeMerchant({ wallets: { walletb } });

  const after = await paid(world, "walletb_encrypted", await old());
  const panOnly = await mintB(world, { isPanOnly: true }, { version: "ECv1" });
  const typed = await chargeAtHost(world, await paid(world, "walletb_encrypted", panOnly));

  assertWalletRefused(before, 3001, "ECv1");
  assert.equal(after.status, "approved", `${after["error-message"]}`);
  assert.equal((await chargeAtHost(world, after)).fields[22], "810");
  assert.equal(typed.fields[22], "010");
});

test("a token for the gateway that names no merchant is refused", async (t) => {
  const world = await startWalletWorld(t);
  const [key] = await world.installation.database.query<{ public_key: string }>(
    "select public_key from vault.wallet_keys where wallet = 'walletb'",
  );
  const der = (key?.public_key ?? "").replaceAll(/-----[^-]+-----|\s/g, "");
  const publicKey = Buffer.from(der, "base64").subarray(-65).toString("base64");
  const recipient = { publicKey, recipientId: "gateway:tollgate" };
  const url = `${world.bank.url}/wallets/walletb/recipient`;
  const told = await fetch(url, { method: "POST", body: JSON.stringify(recipient) });
  assert.equal(told.status, 200);

  const nobodys = await paid(world, "walletb_encrypted", await mintB(world));
  const own = await mintB(world, {}, { gatewayMerchantId: world.set.login });

  assertWalletRefused(nobodys, 3006, "no merchant");
  assert.equal((await paid(world, "walletb_encrypted", own)).status, "approved");
});

testOnEachDialect("a lost answer is settled as for any card", async (t, { through, inquires }) => {
  const world = await joinWalletWorld(t);
  for (const [index, kind] of walletKinds.entries()) {
    // The host books the sale and never answers.
    const text = await textOf(world, kind, { pan: "4000004000000129" });
    const order = await pay(world, kind, text, { through });
    await until("the host has it", () => chargesAt(world) > index || undefined);
    await world.pass(30_000);

    const status = await world.merchant(through).status(order);
    const told = [status["order-stage"], status["error-code"]];
    assert.deepEqual(told, inquires ? ["sale_approved", undefined] : ["sale_error", "5003"], kind);
    const booked = inquires ? ["sale 1015"] : ["sale 1015", "reversal 1015"];
    assert.deepEqual(bookedFor(world, status), booked, kind);
  }
});

test("a rejected order can be neither captured nor returned nor registered", async (t) => {
  const world = await joinWalletWorld(t);
  const merchant = world.merchant();
  const token = await mintA(world, {}, { defect: "tampered" });
  const order = await merchant.preauth(walletFields("walleta_encrypted", token));
  await world.settle();

  const status = await merchant.status(order);
  assert.deepEqual([status["order-stage"], status["error-code"]], ["auth_declined", "3003"]);
  await assertRefused(merchant.capture(order), 9);
  await assertRefused(merchant.return(order), 9);
  await assertRefused(merchant.register(order), 9);
});

test("a rejected order is tried again under its own id with another token", async (t) => {
  const world = await joinWalletWorld(t);
  const broken = await mintB(world, {}, { defect: "expired" });
  const first = await paid(world, "walletb_encrypted", broken);
  const fields = { client_orderid: first["merchant-order-id"] };
  const second = await paid(world, "walletb_encrypted", await mintB(world), { fields });

  assertWalletRefused(first, 3004, "the first");
  assert.equal(second.status, "approved");
  assert.notEqual(second["gw-order-id"], first["gw-order-id"]);
});

test("an operator sees wallet orders, including rejected ones", async (t) => {
  const world = await startWalletWorld(t);
  const kinds: readonly (readonly [WalletKind, string])[] = [
    ["walletb_encrypted", await mintB(world)],
    ["walleta_encrypted", await mintA(world, {}, { defect: "wrong-root" })],
  ];
  for (const [kind, text] of kinds) {
    const order = await pay(world, kind, text);
    await world.settle();

    const shown = await runGw(world, "order", "show", order["gw-order-id"]);
    assert.equal(shown.code, 0, shown.complaint);
    assert.doesNotMatch(shown.printed, /undefined|4111111111111111/);
    await readGw(world, "order", "show", order["gw-order-id"]);
  }
});
