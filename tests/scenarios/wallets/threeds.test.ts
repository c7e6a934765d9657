/**
 * Wallets and 3-D Secure: a verified cryptogram is sufficient proof, one that the merchant has
 * decrypted only if 3-D Secure is optional, and a card number alone is treated like any card.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { bookedFor } from "../../support/expect.ts";
import {
  cards,
  chargesAt,
  type Pending,
  standingOf,
  statusOf,
  uploadMethod,
} from "../../support/threeds.ts";
import {
  chargeAtHost,
  joinWalletWorld,
  paid,
  pay,
  textOf,
  type WalletKind,
  walletKinds,
} from "../../support/wallets.ts";
import type { World } from "../../support/world.ts";

const decrypted = ["walleta_decrypted", "walletb_decrypted"] as const;
const panKinds = ["walletb_encrypted", "walletb_decrypted"] as const;

test("a cryptogram goes straight to the bank, unless only the merchant vouches for it", async (t) => {
  const world = await joinWalletWorld(t);
  for (const through of ["plain", "secure", "secureAlways"]) {
    for (const kind of walletKinds) {
      if (through === "secureAlways" && kind.endsWith("_decrypted")) continue;
      // The directory server would refuse a request about this card.
      const text = await textOf(world, kind, { pan: "4000002000000073" });
      const status = await paid(world, kind, text, { through });
      const charge = await chargeAtHost(world, status);

      const about = `${kind} through ${through}: ${status["error-message"]}`;
      assert.equal(status["order-stage"], "sale_approved", about);
      assert.equal(status["verified-3d-status"], undefined, about);
      assert.deepEqual([charge.eci, charge.fields[22]], ["05", "810"], about);
      assert.deepEqual(bookedFor(world, status), ["sale 1015"], about);
    }
  }
});

test("a decrypted cryptogram does not replace 3-D Secure that is always required", async (t) => {
  const world = await joinWalletWorld(t);
  const through = "secureAlways";
  const begin = async (kind: WalletKind, pan: string) => {
    const text = await textOf(world, kind, { pan, eci: "07" });
    const order = await pay(world, kind, text, { through });
    await world.settle();
    return { world, merchant: world.merchant(through), order, text };
  };
  for (const kind of decrypted) {
    const pending = await begin(kind, cards.frictionless);
    const waiting = await statusOf(pending);
    assert.deepEqual([waiting["tds-status"], waiting.eci], ["MethodUrlFrame", undefined], kind);
    await uploadMethod(pending);

    for (const paidFor of [pending, await begin(kind, cards.frictionlessNoMethod)]) {
      const status = await statusOf(paidFor);
      const { eci, fields, authenticationValue = "" } = await chargeAtHost(world, status);
      const approved = ["sale_approved", undefined, "AUTHENTICATED", "05"];
      assert.deepEqual(standingOf(status), approved, `${kind}: ${status["error-message"]}`);
      assert.deepEqual([eci, fields[22]], ["05", "010"], kind);
      assert.equal(Buffer.from(authenticationValue, "base64").length, 20, kind);
      assert.ok(!paidFor.text.includes(authenticationValue), "the cryptogram was sent");
    }

    const before = chargesAt(world);
    const refused = await statusOf(await begin(kind, cards.notEnrolled));
    assert.deepEqual(standingOf(refused).slice(0, 2), ["sale_declined", "2002"], kind);
    assert.equal(chargesAt(world), before, kind);
  }
});

test("a card number alone passes the method frame, and is charged as authenticated", async (t) => {
  const world = await joinWalletWorld(t);
  for (const through of ["secure", "secureAlways"]) {
    for (const kind of panKinds) {
      const pending = await beginWithPan(world, kind, cards.frictionless, through);
      const waiting = await pending.merchant.status(pending.order);
      const before = chargesAt(world);
      const status = await uploadMethod(pending);
      const charge = await chargeAtHost(world, status);

      assert.equal(waiting["order-stage"], "sale_3d_validating", kind);
      assert.equal(waiting["tds-status"], "MethodUrlFrame", kind);
      assert.equal(chargesAt(world), before + 1, kind);
      assert.equal(status["order-stage"], "sale_approved", `${kind}: ${status["error-message"]}`);
      assert.equal(status["verified-3d-status"], "AUTHENTICATED", kind);
      assert.deepEqual([status.eci, charge.eci], ["05", "05"], kind);
      assert.equal(Buffer.from(charge.authenticationValue ?? "", "base64").length, 20, kind);
      assert.deepEqual([charge.fields[22], charge.cvv], ["010", ""], kind);
      assert.equal(status["last-four-digits"], "0016", kind);
    }
  }
});

test("a card number alone that its issuer does not authenticate is declined", async (t) => {
  const world = await joinWalletWorld(t);
  for (const kind of panKinds) {
    const before = chargesAt(world);
    const pending = await beginWithPan(world, kind, "4000002000000073", "secure");
    const status = await uploadMethod(pending);

    assert.equal(status["order-stage"], "sale_declined", kind);
    assert.match(status["error-code"] ?? "", /^2\d{3}$/, kind);
    assert.equal(status["verified-3d-status"], "NOT_AUTHENTICATED", kind);
    assert.equal(chargesAt(world), before, kind);
  }
});

test("a card number alone is not authenticated if the endpoint does not require it", async (t) => {
  const world = await joinWalletWorld(t);
  for (const kind of panKinds) {
    const text = await textOf(world, kind, { isPanOnly: true, pan: cards.frictionless });
    const status = await paid(world, kind, text);
    const charge = await chargeAtHost(world, status);

    assert.equal(status["order-stage"], "sale_approved", kind);
    assert.equal(status["verified-3d-status"], undefined, kind);
    assert.equal(charge.authenticationValue, undefined, kind);
  }
});

test("a bank that requires authentication accepts a cryptogram", async (t) => {
  const world = await joinWalletWorld(t);
  for (const kind of ["walleta_encrypted", "walletb_encrypted"] as const) {
    const text = await textOf(world, kind, { pan: cards.scaRequired });
    const status = await paid(world, kind, text, { through: "secure" });

    assert.equal(status["order-stage"], "sale_approved", `${kind}: ${status["error-message"]}`);
  }
});

test("a device number is not sent through 3-D Secure on the bank's demand", async (t) => {
  const world = await joinWalletWorld(t);
  for (const kind of decrypted) {
    // The bank does not know this cryptogram, and asks for the cardholder.
    const text = await textOf(world, kind, { pan: cards.scaRequired });
    const status = await paid(world, kind, text, { through: "secure" });

    assert.equal(status["order-stage"], "sale_declined", kind);
    assert.match(status["error-message"] ?? "", /\[1A\]/, kind);
    assert.deepEqual([status["tds-status"], status["redirect-to"]], [undefined, undefined], kind);
  }
});

test("a hold with a card number alone is authenticated too, then captured", async (t) => {
  const world = await joinWalletWorld(t);
  const merchant = world.merchant("secure");
  const text = await textOf(world, "walletb_encrypted", {
    isPanOnly: true,
    pan: cards.frictionless,
  });
  const how = { through: "secure", kind: "preauth" } as const;
  const order = await pay(world, "walletb_encrypted", text, how);
  await world.settle();
  const held = await uploadMethod({ world, merchant, order });
  await merchant.capture(order);
  await world.settle();

  assert.equal(held["order-stage"], "auth_approved");
  assert.equal((await merchant.status(order))["order-stage"], "capture_approved");
});

test("a restart between method frame and upload changes nothing", async (t) => {
  const world = await joinWalletWorld(t);
  const pending = await beginWithPan(world, "walletb_encrypted", cards.frictionless, "secure");

  await world.restart();
  const status = await uploadMethod(pending);

  assert.equal(status["order-stage"], "sale_approved");
  assert.deepEqual(bookedFor(world, status), ["sale 1015"]);
});

/** Begins a sale up to the method's frame. */
async function beginWithPan(
  world: World,
  kind: WalletKind,
  pan: string,
  through: string,
): Promise<Pending> {
  const order = await pay(world, kind, await textOf(world, kind, { isPanOnly: true, pan }), {
    through,
  });
  await world.settle();
  return { world, merchant: world.merchant(through), order };
}
