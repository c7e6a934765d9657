/**
 * Sales and preauthorisations paid with wallets: what the customer pays, and what the bank
 * receives.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { testOnEachDialect } from "../../support/bank/dialects.ts";
import { assertRefused, bookedFor } from "../../support/expect.ts";
import {
  chargeAtHost,
  joinWalletWorld,
  mintA,
  mintB,
  paid,
  pay,
  payloadOf,
  textOf,
  walletKinds,
} from "../../support/wallets.ts";

const fundsCard = "4000004000000020";

testOnEachDialect("each kind of payment data is charged once", async (t, { through }) => {
  const world = await joinWalletWorld(t);
  for (const kind of walletKinds) {
    const status = await paid(world, kind, await textOf(world, kind), { through });

    assert.equal(status["order-stage"], "sale_approved", `${kind}: ${status["error-message"]}`);
    assert.equal(status["card-type"], "VISA", kind);
    assert.equal(status.bin, "411111", kind);
    assert.deepEqual([status["card-exp-month"], status["card-exp-year"]], ["12", "2031"], kind);
    assert.deepEqual(bookedFor(world, status), ["sale 1015"], kind);
  }
});

testOnEachDialect("a refusal of the bank is told as for any card", async (t, { through, code }) => {
  const world = await joinWalletWorld(t);
  for (const kind of walletKinds) {
    const text = await textOf(world, kind, { pan: fundsCard });
    const status = await paid(world, kind, text, { through });

    assert.equal(status["order-stage"], "sale_declined", kind);
    assert.ok(status["error-message"]?.includes(`[${code("51")}]`), kind);
    assert.deepEqual(bookedFor(world, status), [], kind);
  }
});

testOnEachDialect("a hold is captured, and returned in parts", async (t, { through }) => {
  const world = await joinWalletWorld(t);
  const merchant = world.merchant(through);
  for (const kind of walletKinds) {
    const order = await pay(world, kind, await textOf(world, kind), { through, kind: "preauth" });
    await world.settle();
    const held = await merchant.status(order);
    await merchant.capture(order);
    await world.settle();
    const taken = await merchant.status(order);
    await merchant.return(order, { amount: "0.15" });
    await world.settle();
    const returned = await merchant.status(order);

    assert.equal(held["order-stage"], "auth_approved", kind);
    assert.equal(taken["order-stage"], "capture_approved", kind);
    assert.equal(returned["order-stage"], "reversal_approved", kind);
    const booked = bookedFor(world, held);
    assert.deepEqual(booked, ["authorisation 1015", "capture 1015", "reversal 15"], kind);
  }
});

testOnEachDialect(
  "a cryptogram reaches the host in its own places",
  async (t, { through, entry }) => {
    const world = await joinWalletWorld(t);
    for (const kind of ["walleta_decrypted", "walletb_decrypted"] as const) {
      const payload = JSON.stringify(payloadOf(world, kind));
      const [, cryptogram] = /"(?:onlinePaymentC|c)ryptogram":"([^"]+)"/.exec(payload) ?? [];
      const status = await paid(world, kind, payload, { through });
      const charge = await chargeAtHost(world, status);

      assert.equal(charge.authenticationValue, cryptogram, kind);
      assert.deepEqual([charge.eci, charge.cvv, charge.fields[22]], ["05", "", entry.wallet], kind);
      assert.equal(charge.fields[14], "3112", kind);
      assert.equal(status.eci, "05", kind);
      assert.equal(status["verified-3d-status"], undefined, kind);
    }
    for (const kind of ["walleta_encrypted", "walletb_encrypted"] as const) {
      const charge = await chargeAtHost(
        world,
        await paid(world, kind, await textOf(world, kind), { through }),
      );
      const value = Buffer.from(charge.authenticationValue ?? "", "base64");
      assert.deepEqual(
        [charge.eci, value.length, charge.fields[22]],
        ["05", 20, entry.wallet],
        kind,
      );
    }
  },
);

testOnEachDialect(
  "a card number alone is sent as one that was typed",
  async (t, { through, entry }) => {
    const world = await joinWalletWorld(t);
    for (const kind of ["walletb_encrypted", "walletb_decrypted"] as const) {
      const text = await textOf(world, kind, { isPanOnly: true });
      const charge = await chargeAtHost(world, await paid(world, kind, text, { through }));

      assert.equal(charge.fields[22], entry.typed, kind);
      assert.deepEqual([charge.authenticationValue, charge.cvv], [undefined, ""], kind);
    }
  },
);

// biome-ignore format: a table
const indicators: readonly (readonly [network: string, pan: string, sent: string, walleta: string, walletb: string])[] = [
  ["VISA",       "4111111111111111", "5",  "05", "05"],
  ["VISA",       "4111111111111111", "07", "07", "07"],
  ["VISA",       "4111111111111111", "",   "07", "07"],
  ["MASTERCARD", "5200000000000015", "",   "02", "06"],
  ["MASTERCARD", "5200000000000015", "2",  "02", "02"],
  ["MASTERCARD", "2223000000000015", "",   "02", "06"],
  ["MASTERCARD", "2223000000000015", "06", "06", "06"],
  ["AMEX",       "340000000000017",  "5",  "05", "05"],
  ["AMEX",       "340000000000017",  "",   "05", "05"],
  ["DISCOVER",   "6011000000000012", "",   "05", "05"],
];

test("the ECI has two digits, and a token without one gets the ECI of its wallet and network", async (t) => {
  const world = await joinWalletWorld(t);
  for (const kind of walletKinds) {
    for (const [network, pan, eci, ofA, ofB] of indicators) {
      const expected = kind.startsWith("walleta") ? ofA : ofB;
      const status = await paid(world, kind, await textOf(world, kind, { pan, eci }));
      const charge = await chargeAtHost(world, status);

      const about = `${kind} ${pan} "${eci}"`;
      assert.deepEqual([charge.eci, status.eci], [expected, expected], about);
      assert.equal(status["card-type"], network, about);
    }
  }
});

test("the status shows no digits of a device number", async (t) => {
  const world = await joinWalletWorld(t);
  for (const kind of walletKinds) {
    const status = await paid(world, kind, await textOf(world, kind));
    assert.equal(status["last-four-digits"], undefined, kind);
  }
  for (const kind of ["walletb_encrypted", "walletb_decrypted"] as const) {
    const status = await paid(world, kind, await textOf(world, kind, { isPanOnly: true }));
    assert.equal(status["last-four-digits"], "1111", kind);
  }
});

test("card fields of a device order describe the device number", async (t) => {
  const world = await joinWalletWorld(t);
  const typed = await world.merchant().sale();
  await world.settle();
  const known = await world.merchant().status(typed);
  const pan = "5200000000000015";
  const [device, again] = [
    await paid(world, "walletb_encrypted", await textOf(world, "walletb_encrypted", { pan })),
    await paid(world, "walleta_encrypted", await textOf(world, "walleta_encrypted", { pan })),
  ];

  assert.deepEqual([device.bin, device["card-exp-year"]], ["520000", "2031"]);
  assert.equal(device["card-hash-id"], again["card-hash-id"]);
  assert.notEqual(device["card-hash-id"], known["card-hash-id"]);
});

test("every wallet sale needs a return URL if 3-D Secure is on", async (t) => {
  const world = await joinWalletWorld(t);
  for (const isPanOnly of [true, false]) {
    const text = await textOf(world, "walletb_encrypted", { isPanOnly });
    const how = { through: "secure", fields: { redirect_url: undefined } };
    await assertRefused(pay(world, "walletb_encrypted", text, how), 4);
  }
});

test("the cardholder's name comes from the merchant, or otherwise from the wallet", async (t) => {
  const world = await joinWalletWorld(t);
  const cardholderName = "JÜRGEN DOE";
  const own = { fields: { card_printed_name: "JANE DOE" } };

  const fromWallet = await paid(
    world,
    "walleta_encrypted",
    await mintA(world, {}, { cardholderName }),
  );
  const fromMerchant = await paid(
    world,
    "walleta_encrypted",
    await mintA(world, {}, { cardholderName }),
    own,
  );
  const fromNobody = await paid(world, "walletb_encrypted", await mintB(world));

  assert.equal(fromWallet["cardholder-name"], cardholderName);
  assert.equal(fromMerchant["cardholder-name"], "JANE DOE");
  assert.equal(fromNobody["cardholder-name"], undefined);
});
