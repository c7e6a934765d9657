/**
 * Authentication values and cryptograms of every form: each reaches the host in the field of its
 * network through a gate that can send it, or ends the order before anything is sent.
 */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { dialects, testOnEachDialect } from "../../support/bank/dialects.ts";
import { answerPareq, passChallenge } from "../../support/cardholder.ts";
import { bookedFor } from "../../support/expect.ts";
import { joinWorld } from "../../support/shared-world.ts";
import {
  beginChallenge,
  beginPares,
  beginWith,
  chargesAt,
  transactionIdOf,
  uploadMethod,
} from "../../support/threeds.ts";
import {
  chargeAtHost,
  joinWalletWorld,
  paid,
  payloadOf,
  startWalletWorld,
  textOf,
  type WalletKind,
} from "../../support/wallets.ts";
import { startWorld, type World } from "../../support/world.ts";

const mastercard = "5200000000000015";
/** Published vectors: a 3-D Secure value of 21 bytes, and a wallet's cryptogram of 19. */
const aav = "kJMZRiDunhPsBwAU0hu9rrx0eWN6";
const cryptogram = "AMwBRjPWDnAgAA7Rls7mAoABFA==";
const decrypted = ["walleta_decrypted", "walletb_decrypted"] as const;

const secureThrough = new Map(
  dialects.map(({ gate }) => [gate, (world: World) => world.placeGates("secure", [[gate, 1, 1]])]),
);

testOnEachDialect(
  "published Mastercard values reach the host as issued",
  async (t, { through }) => {
    const world = await startWalletWorld(t);
    for (const value of [aav, cryptogram, "AAABBJg0VhI0VniQEjRWAAAAAAA="]) {
      for (const kind of decrypted) {
        // The replay protection of walleta takes the same cryptogram once.
        if (kind === "walleta_decrypted" && value !== cryptogram) continue;
        const text = withCryptogram(payloadOf(world, kind, { pan: mastercard, eci: "2" }), value);
        const status = await paid(world, kind, text, { through });
        const charge = await chargeAtHost(world, status);

        assert.equal(status["order-stage"], "sale_approved", `${kind}: ${status["error-message"]}`);
        assert.deepEqual([charge.authenticationValue, charge.eci], [value, "02"], kind);
        assert.deepEqual(bookedFor(world, status), ["sale 1015"]);
      }
    }
  },
);

testOnEachDialect(
  "wallets mint each network's shape, and the host takes it",
  async (t, dialect) => {
    const world = await joinWalletWorld(t);
    // biome-ignore format: a table
    const rows = [
    [mastercard,         "walleta_encrypted", 19, "02"],
    [mastercard,         "walletb_encrypted", 19, "06"],
    ["4000002000000016", "walleta_encrypted", 20, "05"],
    ["340000000000017",  "walletb_encrypted", 20, "05"],
    ["2200000000000012", "walletb_encrypted", 20, "02"],
    ["6767000000000018", "walleta_encrypted", 19, "02"],
  ] as const;
    for (const [pan, kind, bytes, eci] of rows) {
      const { through } = dialect;
      const status = await paid(world, kind, await textOf(world, kind, { pan }), { through });
      const charge = await chargeAtHost(world, status);

      assert.equal(status["order-stage"], "sale_approved", `${pan}: ${status["error-message"]}`);
      assert.equal(Buffer.from(charge.authenticationValue ?? "", "base64").length, bytes, pan);
      assert.equal(charge.eci, eci, pan);
    }
  },
);

testOnEachDialect("a challenged Mastercard is charged with its 21 bytes", async (t, { gate }) => {
  const world = await joinWorld(t, {}, secureThrough.get(gate));
  const pending = await beginChallenge(world, "5200002000000029");
  const { cres } = await passChallenge(pending.status);
  await pending.merchant.uploadCres(pending.order, cres);
  const transactionId = transactionIdOf(pending.status);
  await world.bank.waitForThreeDsMessage({ type: "RRes", transactionId });
  await world.settle();

  const status = await pending.merchant.status(pending.order);
  const charge = await chargeAtHost(world, status);
  const told = await world.bank.waitForThreeDsMessage({ type: "RReq", transactionId });
  assert.equal(status["order-stage"], "sale_approved", String(status["error-message"]));
  assert.deepEqual([status.eci, charge.eci], ["02", "02"]);
  assert.match(charge.authenticationValue ?? "", /^kJ[A-Za-z0-9+/]{26}$/);
  assert.equal(charge.authenticationValue, told["authenticationValue"]);
});

testOnEachDialect("a Mastercard of 1.0.2 is charged with its PARes' value", async (t, { gate }) => {
  const world = await joinWorld(t, {}, secureThrough.get(gate));
  for (const [forced, bytes] of [
    [null, 20],
    ["mastercard", 21],
  ] as const) {
    await world.bank.setSwitches({ authenticationValue: forced });
    const pending = await beginPares(world, "5200003000000019");
    const pares = await answerPareq(pending.status, "https://shop.example/term");
    await pending.merchant.uploadPares(pending.order, pares);
    await world.settle();

    const status = await pending.merchant.status(pending.order);
    const charge = await chargeAtHost(world, status);
    assert.equal(status["order-stage"], "sale_approved", String(status["error-message"]));
    assert.equal(charge.eci, "02");
    assert.equal(Buffer.from(charge.authenticationValue ?? "", "base64").length, bytes);
  }
});

testOnEachDialect("a Mastercard is verified with the ECI N2", async (t, { gate, inquires }) => {
  const world = await joinWorld(t, {}, secureThrough.get(gate));
  const pending = await beginWith(world, mastercard, { kind: "verify" });
  const status = await uploadMethod(pending);
  const charge = await chargeAtHost(world, status);

  assert.equal(status["order-stage"], "av_approved", String(status["error-message"]));
  // The binary dialect has one digit for it.
  assert.deepEqual([status.eci, charge.eci], ["N2", inquires ? "02" : "N2"]);
  assert.match(charge.authenticationValue ?? "", /^kJ/);
});

test("a value that the chosen gate cannot send goes through a gate that can", async (t) => {
  const world = await startWorld(t);
  await world.installation.database.query(
    `insert into gates (id, name, kind, settings)
     select id + 1000, 'second', kind, settings from gates where name = 'sandbox-binary'`,
  );
  await world.placeGates("secureBinary", [
    ["sandbox-binary", 1, 1],
    ["second", 2, 1],
    ["sandbox", 3, 1],
  ]);
  await world.bank.setSwitches({ authenticationValue: "mastercard" });

  const pending = await beginWith(world, "4000004000000111", { through: "secureBinary" });
  const status = await uploadMethod(pending);
  const charge = await chargeAtHost(world, status);

  assert.equal(status["order-stage"], "sale_approved", String(status["error-message"]));
  assert.match(charge.authenticationValue ?? "", /^kJ/);
  assert.notEqual(charge.fields[48], undefined, "the dialect of the other gate");
  assert.equal(chargesAt(world), 1);
  assert.deepEqual(bookedFor(world, status), ["sale 1015"]);
});

test("a value that no gate can send ends the order, and nothing is sent", async (t) => {
  const world = await joinWalletWorld(t);
  // biome-ignore format: a table
  const rows: readonly (readonly [through: string, pan: string, bytes: number])[] = [
    ["binary", "4111111111111111", 19],
    ["binary", "4111111111111111", 21],
    ["binary", "340000000000017",   1],
    ["binary", mastercard,         25],
    ["plain",  "4111111111111111", 25],
    ["plain",  mastercard,         75],
    ["iso93",  "4111111111111111", 25],
  ];
  for (const [through, pan, bytes] of rows) {
    for (const kind of decrypted) {
      const value = randomBytes(bytes).toString("base64");
      const text = withCryptogram(payloadOf(world, kind, { pan }), value);
      const status = await paid(world, kind, text, { through });

      const ended = [status["order-stage"], status["error-code"], status["error-message"]];
      const message = "AUTHENTICATION_VALUE_NOT_SUPPORTED";
      assert.deepEqual(ended, ["sale_error", "5008", message], `${through} ${pan} ${bytes}`);
    }
  }
  assert.equal(chargesAt(world), 0);
  assert.ok(!world.logged.some((line) => line.includes("message_unsendable")));
});

test("a gate that could send the value, but has no link, ends the order", async (t) => {
  const world = await startWalletWorld(t);
  await world.placeGates("binary", [
    ["sandbox-binary", 1, 1],
    ["sandbox", 2, 1],
  ]);
  await world.changeGate("sandbox", { host: "127.0.0.1", port: 1 }, "sandbox");

  const status = await payWith(world, "walletb_decrypted", "4111111111111111", randomBytes(19));

  assert.deepEqual([status["order-stage"], status["error-code"]], ["sale_error", "5002"]);
  assert.equal(chargesAt(world), 0);
});

function payWith(world: World, kind: WalletKind, pan: string, value: Buffer) {
  const text = withCryptogram(payloadOf(world, kind, { pan }), value.toString("base64"));
  return paid(world, kind, text, { through: "binary" });
}

function withCryptogram(payload: object, value: string): string {
  return JSON.stringify(payload).replace(/(ryptogram":")[^"]+/, (_, name) => name + value);
}
