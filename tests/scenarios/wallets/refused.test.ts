/**
 * Payment data that is not accepted: the order is acknowledged and declined, and the bank receives
 * nothing.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { WalletAOptions, WalletBOptions } from "@tollgate/sandbox-bank";
import { chargesAt } from "../../support/threeds.ts";
import {
  assertWalletRefused,
  joinWalletWorld,
  mintA,
  mintB,
  paid,
  payloadOf,
  startWalletWorld,
  textOf,
  type WalletKind,
  walletFields,
  walletKinds,
} from "../../support/wallets.ts";
import type { World } from "../../support/world.ts";

type DefectA = NonNullable<WalletAOptions["defect"]>;
type DefectB = NonNullable<WalletBOptions["defect"]>;

// biome-ignore format: a table
const defectsA: Readonly<Record<DefectA, number>> = {
  "expired":         3004,
  "wrong-recipient": 3009,
  "tampered":        3003,
  "wrong-root":      3003,
  "other-merchant":  3009,
  "wrong-amount":    3007,
  "wrong-currency":  3007,
  "no-marker":       3003,
};

// biome-ignore format: a table
const defectsB: Readonly<Record<DefectB, number>> = {
  "expired":              3004,
  "expired-intermediate": 3004,
  "wrong-recipient":      3003,
  "tampered":             3003,
  "wrong-root":           3003,
  "other-merchant":       3006,
  "wrong-mac":            3009,
};

test("every defect of a token is found, and has its code", async (t) => {
  const world = await joinWalletWorld(t);
  for (const through of ["plain", "secureAlways"]) {
    for (const [defect, code] of Object.entries(defectsA)) {
      // The names of the table are those of the type.
      const token = await mintA(world, {}, { defect: defect as DefectA });
      const status = await paid(world, "walleta_encrypted", token, { through });
      assertWalletRefused(status, code, `walleta ${defect}`);
    }
    for (const [defect, code] of Object.entries(defectsB)) {
      for (const isPanOnly of [true, false]) {
        const token = await mintB(world, { isPanOnly }, { defect: defect as DefectB });
        const status = await paid(world, "walletb_encrypted", token, { through });
        assertWalletRefused(status, code, `walletb ${defect}`);
      }
    }
  }
  assert.equal(chargesAt(world), 0);
});

test("data of one kind under the name of another is rejected", async (t) => {
  const world = await joinWalletWorld(t);
  for (const real of walletKinds) {
    for (const declared of walletKinds.filter((kind) => kind !== real)) {
      const status = await paid(world, declared, await textOf(world, real));
      assertWalletRefused(status, 3001, `${real} sent as ${declared}`);
    }
  }
  assert.equal(chargesAt(world), 0);
});

test("JSON that is not payment data is rejected", async (t) => {
  const world = await joinWalletWorld(t);
  for (const kind of walletKinds) {
    for (const text of ["{}", "[]", "null", "7", '"a"', "true", '{"a":{"a":1}}', '{"a":1,"a":1}']) {
      assertWalletRefused(await paid(world, kind, text), 3001, `${kind} ${text}`);
    }
    const deep = `${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`;
    assertWalletRefused(await paid(world, kind, deep), 3001, `${kind}, deeply nested`);
  }
});

test("JSON inside a JSON string is reported as such", async (t) => {
  const world = await joinWalletWorld(t);
  for (const kind of walletKinds) {
    const status = await paid(world, kind, JSON.stringify(await textOf(world, kind)));
    assertWalletRefused(status, 3008, kind);
  }
  assert.equal(chargesAt(world), 0);
});

test("a token for another recipient is rejected", async (t) => {
  const world = await joinWalletWorld(t);
  const recipientId = "gateway:somebody-else";
  const own = await mintB(world, {}, { gatewayMerchantId: "stranger" });
  const other = await mintB(world, {}, { recipientId });
  const identifier = await mintA(world, {}, { merchantIdentifier: "merchant.somebody" });
  const payload = { ...payloadOf(world, "walletb_decrypted"), gatewayMerchantId: "stranger" };
  const decrypted = JSON.stringify(payload);

  // biome-ignore format: a table
  const rows: readonly (readonly [kind: WalletKind, text: string, code: number])[] = [
    ["walletb_encrypted", own,        3006],
    ["walletb_encrypted", other,      3003],
    ["walleta_encrypted", identifier, 3009],
    ["walletb_decrypted", decrypted,  3006],
  ];
  for (const [kind, text, code] of rows) {
    assertWalletRefused(await paid(world, kind, text), code, `${kind} ${code}`);
  }
  assert.equal(chargesAt(world), 0);
});

test("walleta's amount and currency must be the order's", async (t) => {
  const world = await joinWalletWorld(t);
  for (const kind of ["walleta_encrypted", "walleta_decrypted"] as const) {
    for (const paying of [{ amount: 1014 }, { amount: 101_500 }, { amount: 0 }]) {
      const status = await paid(world, kind, await textOf(world, kind, paying));
      assertWalletRefused(status, 3007, `${kind} ${paying.amount}`);
    }
    const currency = kind === "walleta_encrypted" ? "EUR" : "978";
    const euro = await textOf(world, kind, { currency });
    assertWalletRefused(await paid(world, kind, euro), 3007, `${kind} in another currency`);
    const inEuro = { through: "eur", fields: { currency: "EUR" } };
    const fine = await paid(world, kind, await textOf(world, kind, { currency }), inEuro);
    assert.equal(fine["order-stage"], "sale_approved", kind);
    const yen = { currency: kind === "walleta_encrypted" ? "JPY" : "392" };
    const inYen = { through: "jpy", fields: { currency: "JPY", amount: "1015" } };
    const round = await paid(world, kind, await textOf(world, kind, yen), inYen);
    assert.equal(round["order-stage"], "sale_approved", kind);
  }
});

test("expired payment data is rejected", async (t) => {
  const world = await joinWalletWorld(t);
  const { clock } = world;
  const late = await mintA(world, {}, { signingTime: clock.now() - 301_000 });
  const inTime = await mintA(world, {}, { signingTime: clock.now() - 295_000 });
  const ahead = await mintA(world, {}, { signingTime: clock.now() + 310_000 });
  const over = await mintB(world, {}, { messageExpiration: clock.now() - 1 });
  const minutes = await textOf(world, "walletb_decrypted");
  const token = await mintB(world);

  assertWalletRefused(await paid(world, "walleta_encrypted", late), 3004, "walleta, late");
  assertWalletRefused(await paid(world, "walleta_encrypted", ahead), 3004, "walleta, ahead");
  assertWalletRefused(await paid(world, "walletb_encrypted", over), 3004, "walletb, over");
  const taken = await paid(world, "walleta_encrypted", inTime);
  assert.equal(taken["order-stage"], "sale_approved");
  await passHours(world, 1.1);
  assertWalletRefused(await paid(world, "walletb_encrypted", token), 3004, "an hour later");
  assertWalletRefused(await paid(world, "walletb_decrypted", minutes), 3004, "decrypted, later");
});

test("an invalid or expired card is rejected", async (t) => {
  const world = await joinWalletWorld(t);
  for (const kind of walletKinds) {
    const mistyped = await textOf(world, kind, { pan: "4111111111111112" });
    const over = await textOf(world, kind, { year: 2020 });

    assertWalletRefused(await paid(world, kind, mistyped), 3010, `${kind} check digit`);
    assertWalletRefused(await paid(world, kind, over), 3010, `${kind} expired`);
  }
  assert.equal(chargesAt(world), 0);
});

test("a payload with a missing or an additional part is rejected", async (t) => {
  const world = await joinWalletWorld(t);
  const text = (kind: WalletKind) => JSON.stringify(payloadOf(world, kind));
  const panOnly = JSON.stringify(payloadOf(world, "walletb_decrypted", { isPanOnly: true }));
  const emv = text("walleta_decrypted")
    .replace("3DSecure", "EMV")
    .replace("onlinePaymentCryptogram", "emvData");

  // biome-ignore format: a table
  const rows: readonly (readonly [kind: WalletKind, text: string, code: number])[] = [
    ["walletb_decrypted", text("walletb_decrypted").replace(/"cryptogram":"[^"]+",/, ""), 3000],
    ["walletb_decrypted", panOnly.replace('"PAN_ONLY"', '"PAN_ONLY","cryptogram":"AAAA"'), 3000],
    ["walletb_decrypted", panOnly.replace("PAN_ONLY", "PIN"),                              3000],
    ["walletb_decrypted", panOnly.replace('"CARD"', '"CASH"'),                             3000],
    ["walletb_decrypted", panOnly.replace(/"pan":"\d+"/, '"pan":4111111111111111'),        3000],
    ["walleta_decrypted", text("walleta_decrypted").replace("1015", '"1015"'),             3000],
    ["walleta_decrypted", text("walleta_decrypted").replace("1015", "10.15"),              3000],
    ["walleta_decrypted", text("walleta_decrypted").replace("311231", "311331"),           3000],
    ["walleta_decrypted", emv,                                                             3011],
  ];
  for (const [kind, sent, code] of rows) {
    assertWalletRefused(await paid(world, kind, sent), code, sent.replace(/\d{12,}/, "*"));
  }
  assert.equal(chargesAt(world), 0);
});

test("a merchant without keys is told what is missing", async (t) => {
  const world = await startWalletWorld(t);
  const stranger = await world.stranger();
  const missing = async (kind: "walleta_encrypted" | "walletb_encrypted") => {
    const order = await stranger.sale(walletFields(kind, await textOf(world, kind)));
    await world.settle();
    return stranger.status(order);
  };

  const [a, b] = [await missing("walleta_encrypted"), await missing("walletb_encrypted")];

  assertWalletRefused(a, 3002, "walleta");
  assertWalletRefused(b, 3002, "walletb");
  assert.match(a["error-message"] ?? "", /^WALLET_NOT_CONFIGURED: walleta: no certificate/);
  assert.match(b["error-message"] ?? "", /^WALLET_NOT_CONFIGURED: walletb: no recipient id/);
  assert.equal(chargesAt(world), 0);
});

async function passHours(world: World, hours: number): Promise<void> {
  world.clock.advance(hours * 3_600_000);
  await world.linksUp();
}
