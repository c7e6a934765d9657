/**
 * Cards of wallet orders that are registered: a card number like any card, and a device number for
 * payments that the merchant initiates, without a cryptogram and with the network's id of the first
 * payment.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { testOnEachDialect } from "../../support/bank/dialects.ts";
import { assertRefused, bookedFor } from "../../support/expect.ts";
import { rebillFields } from "../../support/merchant.ts";
import { readGw } from "../../support/programs.ts";
import { cards, chargesAt } from "../../support/threeds.ts";
import {
  chargeAtHost,
  joinWalletWorld,
  mintA,
  mintB,
  pay,
  payloadOf,
  startWalletWorld,
  textOf,
  type WalletKind,
  walletFields,
  walletKinds,
} from "../../support/wallets.ts";
import { type Fields, giveKey, makeKeyPair, postSigned } from "../../support/wire.ts";
import type { World } from "../../support/world.ts";

const visa = "4000001000000018";
const mastercard = "5200000000000015";

testOnEachDialect("a device number is charged again by its merchant", async (t, dialect) => {
  const { through, entry } = dialect;
  const world = await joinWalletWorld(t);
  const merchant = world.merchant(through);
  for (const kind of walletKinds) {
    for (const pan of [visa, mastercard]) {
      const first = await payFirst(world, kind, { pan }, through);
      const again = await merchant.register(first.order);
      const payment = await merchant.rebill({ cardrefid: first.cardrefid, amount: "4.99" });
      await world.settle();
      const status = await merchant.status(payment);
      const charge = await chargeAtHost(world, status);

      const about = `${kind} ${pan}: ${status["error-message"]}`;
      assert.equal(status["order-stage"], "sale_approved", about);
      assert.equal(again["card-ref-id"], first.cardrefid, about);
      assert.deepEqual(
        [charge.fields[2]?.slice(-4), charge.fields[22]],
        [pan.slice(-4), entry.onFile],
      );
      assert.deepEqual(
        [charge.authenticationValue, charge.eci, charge.cvv],
        [undefined, undefined, ""],
      );
      const networkId = first.status["processor-tx-id"] ?? "none";
      const inHex = Buffer.from(networkId).toString("hex").toUpperCase();
      const said = JSON.stringify(charge.fields);
      assert.match(networkId, pan === visa ? /^\d{15}$/ : /^MCC[0-9A-Z]{6}\d{4}$/, about);
      assert.ok(said.includes(networkId) || said.includes(inHex), about);
      assert.deepEqual(bookedFor(world, status), ["sale 499"], about);
      assert.equal(status["last-four-digits"], undefined, about);
      assert.equal(status["card-hash-id"], first.status["card-hash-id"], about);
      assert.equal(again["unq-card-ref-id"], first.status["card-hash-id"], about);
    }
  }
});

test("a device number's registration shows the fields that the status shows of any card", async (t) => {
  const world = await startWalletWorld(t);
  const merchant = world.merchant();
  const { cardrefid, order, status } = await payFirst(world, "walletb_encrypted", { pan: visa });
  const told = await merchant.cardInfo(cardrefid);
  const shown = await readGw(world, "card", "show", world.set.login, cardrefid);

  assert.deepEqual([told.bin, told["last-four-digits"]], ["400000", "0018"]);
  assert.deepEqual([told["expire-month"], told["expire-year"]], ["12", "2031"]);
  assert.equal((shown as { "device number": string })["device number"], "yes");
  const stored = await world.installation.database.query<{ everything: string }>(
    "select facts::text || progress::text as everything from orders",
  );
  assert.ok(stored.every(({ everything }) => !everything.includes(visa)));
  assert.notEqual(order["gw-order-id"], undefined);
  assert.equal(status["verified-3d-status"], undefined);
});

testOnEachDialect("a device number is held, captured and returned", async (t, { through }) => {
  const world = await joinWalletWorld(t);
  const merchant = world.merchant(through);
  const { cardrefid } = await payFirst(world, "walleta_encrypted", { pan: mastercard }, through);

  const held = await merchant.endpoint(through).makeRebillPreauth(rebillFields({ cardrefid }));
  await world.settle();
  await merchant.capture(held, { amount: "7.00" });
  await world.settle();
  await merchant.return(held);
  await world.settle();

  const status = await merchant.status(held);
  assert.equal(status["order-stage"], "reversal_approved");
  assert.deepEqual(bookedFor(world, status), ["authorisation 1015", "capture 700", "reversal 700"]);
});

test("a cardholder cannot initiate a payment with a device number", async (t) => {
  const world = await startWalletWorld(t);
  const { cardrefid } = await payFirst(world, "walleta_encrypted", { pan: visa });
  const before = chargesAt(world);
  const recurrent_initiator = "CARDHOLDER";

  for (const through of ["plain", "secure", "secureAlways"]) {
    const redirect_url = "https://shop.example/return";
    const fields = { cardrefid, recurrent_initiator, redirect_url, cvv2: "123" };
    await assertRefused(world.merchant(through).rebill(fields), 9, /device number has no crypt/);
  }
  const fields = rebillFields({ cardrefid });
  const paid = await world.merchant().rebill(fields);
  await world.changeGate("sandbox", { recurrent: { initiator: "CARDHOLDER" } });
  await assertRefused(world.merchant().rebill({ cardrefid, cvv2: "123" }), 9);
  // A payment that began before the gate's setting changed is acknowledged as usual.
  assert.equal((await world.merchant().rebill(fields))["gw-order-id"], paid["gw-order-id"]);
  assert.equal(chargesAt(world), before + 1);
});

test("a card number that replaces a device number is charged like any card number", async (t) => {
  const world = await startWalletWorld(t);
  const pair = makeKeyPair();
  await giveKey(world, world.set.login, pair);
  await world.changeEndpoint("plain", { profiles: "on" });
  const { cardrefid, order } = await payFirst(world, "walleta_encrypted", { pan: visa });
  const signer = { consumerKey: world.set.login, ...pair };
  const ask = async (what: string, fields: Fields) => {
    const path = `/gw/api/v4/${what}/${world.set.endpoints["plain"]}`;
    return new URLSearchParams((await postSigned(world, signer, path, fields)).text);
  };
  const { "merchant-order-id": client_orderid, "gw-order-id": orderid } = order;
  const registered = await ask("create-card-ref", { client_orderid, orderid });
  const changed = await ask("update-recurring-payment", {
    "client-orderid": "renewed",
    "recurring-payment-id": registered.get("recurring-payment-id") ?? "",
    "credit-card-number": mastercard,
    "card-printed-name": "JANE DOE",
    "expire-month": "12",
    "expire-year": "2032",
  });

  assert.equal(changed.get("status"), "approved", String(changed));
  const charged = await world
    .merchant()
    .rebill({ cardrefid, recurrent_initiator: "CARDHOLDER", cvv2: "123" });
  await world.settle();
  assert.equal((await world.merchant().status(charged))["last-four-digits"], "0015");
});

test("an issuer that requires the cardholder finally declines the merchant's payment", async (t) => {
  const world = await joinWalletWorld(t);
  const { cardrefid } = await payFirst(world, "walletb_encrypted", { pan: cards.scaRequired });

  for (const through of ["plain", "secureAlways"]) {
    const merchant = world.merchant(through);
    const payment = await merchant.rebill({ cardrefid });
    await world.settle();
    const status = await merchant.status(payment);

    assert.deepEqual([status["order-stage"], status["error-code"]], ["sale_declined", "161"]);
    assert.deepEqual([status["tds-status"], status["redirect-to"]], [undefined, undefined]);
  }
});

testOnEachDialect("a card number of a wallet is registered as any card", async (t, { through }) => {
  const world = await joinWalletWorld(t);
  const merchant = world.merchant(through);
  for (const kind of ["walletb_encrypted", "walletb_decrypted"] as const) {
    const { cardrefid } = await payFirst(world, kind, { pan: visa, isPanOnly: true }, through);
    for (const recurrent_initiator of ["MERCHANT", "CARDHOLDER"]) {
      const payment = await merchant.rebill({ cardrefid, recurrent_initiator, cvv2: "123" });
      await world.settle();
      const status = await merchant.status(payment);

      assert.equal(status["order-stage"], "sale_approved", kind);
      assert.equal(status["last-four-digits"], "0018", kind);
    }
  }
});

test("a card number of a wallet goes through 3-D Secure when its cardholder pays", async (t) => {
  const world = await joinWalletWorld(t);
  const pan = cards.frictionless;
  const { cardrefid } = await payFirst(world, "walletb_encrypted", { pan, isPanOnly: true });
  const merchant = world.merchant("secureAlways");

  const payment = await merchant.rebill({
    cardrefid,
    recurrent_initiator: "CARDHOLDER",
    cvv2: "123",
    redirect_url: "https://shop.example/return",
  });
  await world.settle();

  assert.equal((await merchant.status(payment))["tds-status"], "MethodUrlFrame");
});

test("a device number without a network transaction id is not registered", async (t) => {
  const world = await startWalletWorld(t);
  const order = await pay(world, "walletb_encrypted", await mintB(world));
  await world.settle();
  await world.installation.database.query(
    `update orders set progress = (progress::jsonb #- '{transaction,answer,networkId}')::json`,
  );

  await assertRefused(world.merchant().register(order), 9, /has no network transaction id/);
});

test("a device number's reference ends with its token", async (t) => {
  const world = await joinWalletWorld(t);
  const { cardrefid } = await payFirst(world, "walletb_encrypted", { pan: visa });

  world.clock.advance(10 * 365 * 86_400_000);
  await world.linksUp();

  await assertRefused(world.merchant().rebill({ cardrefid }), 14);
});

testOnEachDialect(
  "an account is verified with payment data, and registered",
  async (t, dialect) => {
    const world = await joinWalletWorld(t);
    const merchant = world.merchant(dialect.through);
    const payments: readonly (readonly [WalletKind, string])[] = [
      ["walleta_encrypted", await mintA(world, { pan: mastercard, amount: 0 })],
      ["walletb_encrypted", await mintB(world, { pan: visa })],
      ["walleta_decrypted", JSON.stringify(payloadOf(world, "walleta_decrypted", { amount: 0 }))],
    ];
    for (const [kind, text] of payments) {
      const asked = await merchant.verify(walletFields(kind, text));
      await world.settle();
      const status = await merchant.status(asked);
      const payment = await merchant.rebill({ cardrefid: status["card-ref-id"] ?? "" });
      await world.settle();

      assert.equal(status["order-stage"], "av_approved", `${kind}: ${status["error-message"]}`);
      assert.equal((await merchant.status(payment))["order-stage"], "sale_approved", kind);
    }
    const other = await merchant.verify(walletFields("walleta_encrypted", await mintA(world)));
    await world.settle();
    assert.equal((await merchant.status(other))["error-code"], "3007");
  },
);

async function payFirst(
  world: World,
  kind: WalletKind,
  paying: Parameters<typeof textOf>[2],
  through = "plain",
) {
  const merchant = world.merchant(through);
  const order = await pay(world, kind, await textOf(world, kind, paying), { through });
  await world.settle();
  const status = await merchant.status(order);
  assert.equal(status["order-stage"], "sale_approved", `${kind}: ${status["error-message"]}`);
  const { "card-ref-id": cardrefid = "" } = await merchant.register(order);
  return { order, status, cardrefid };
}
