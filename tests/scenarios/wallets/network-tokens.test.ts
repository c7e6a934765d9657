/** Network tokens with cryptograms that the merchant has from the networks, without a wallet. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { testOnAllDialects } from "../../support/bank/dialects.ts";
import { assertRefused, readEverything } from "../../support/expect.ts";
import { cards, proofAtHost } from "../../support/threeds.ts";
import { walletFields } from "../../support/wallets.ts";
import { startWorld, type World } from "../../support/world.ts";

const number = "4111111111111111";

function tokenWith(changes: object = {}) {
  const cryptogram = randomBytes(20).toString("base64");
  return { number, expirationMonth: 12, expirationYear: 2031, cryptogram, eci: "05", ...changes };
}

function fieldsOf(token: object) {
  return walletFields("network_token", JSON.stringify(token));
}

async function startTokenWorld(t: Parameters<typeof startWorld>[0]): Promise<World> {
  const world = await startWorld(t);
  await world.changeMerchant({ decryptedWallets: true });
  return world;
}

testOnAllDialects("a network token is charged as a device's number", async (t, dialect) => {
  const world = await startTokenWorld(t);
  const { through, entry, mti } = dialect;
  const merchant = world.merchant(through);

  const order = await merchant.sale(fieldsOf(tokenWith()));
  await world.settle();

  const status = await merchant.status(order);
  assert.deepEqual([status.status, status.eci], ["approved", "05"]);
  assert.deepEqual([status["last-four-digits"], status.bin], [undefined, "411111"]);
  const charge = await world.bank.waitForMessage({ mti: mti("0200") });
  assert.equal(charge.fields[22], entry.wallet);
});

test("the cryptogram travels in the charge, is stored nowhere, and pays once", async (t) => {
  const world = await startTokenWorld(t);
  const merchant = world.merchant();
  const token = tokenWith({ eci: "07" });

  const order = await merchant.sale(fieldsOf(token));
  await world.settle();
  const again = await merchant.sale(fieldsOf(token));
  await world.settle();

  const proof = await proofAtHost(world, await merchant.status(order));
  assert.deepEqual(proof, { eci: "07", value: token.cryptogram });
  assert.equal((await merchant.status(again))["error-code"], "3005");
  assert.ok(!(await readEverything(world)).text.includes(token.cryptogram));
});

test("an endpoint that always authenticates authenticates a network token too", async (t) => {
  const world = await startTokenWorld(t);
  const merchant = world.merchant("secureAlways");
  const pan = { number: cards.frictionlessNoMethod };

  const known = await merchant.sale(fieldsOf(tokenWith(pan)));
  const unknown = await merchant.sale(fieldsOf(tokenWith({ number: cards.notEnrolled })));
  await world.settle();

  assert.equal((await merchant.status(known))["verified-3d-status"], "AUTHENTICATED");
  assert.equal((await merchant.status(unknown))["error-code"], "2002");
});

// biome-ignore format: a table
const faults: readonly (readonly [change: object, code: string, message: RegExp])[] = [
  [{ number: "4111" },             "3000", /number: missing, or not of its form/],
  [{ number: "4111111111111112" }, "3010", /check digit/],
  [{ expirationMonth: 13 },        "3000", /expirationMonth/],
  [{ expirationYear: 2020 },       "3010", /expired/],
  [{ cryptogram: undefined },      "3000", /cryptogram/],
  [{ cryptogram: "not base64" },   "3000", /cryptogram/],
  [{ eci: "999" },                 "3000", /eci/],
];

test("a token with a fault is declined, and names the field", async (t) => {
  const world = await startTokenWorld(t);
  const merchant = world.merchant();
  for (const [change, code, message] of faults) {
    const order = await merchant.sale(fieldsOf(tokenWith(change)));
    await world.settle();
    const status = await merchant.status(order);

    assert.deepEqual([status.status, status["error-code"]], ["declined", code]);
    assert.match(status["error-message"] ?? "", message);
  }
});

test("a merchant without the right cannot send network tokens", async (t) => {
  const world = await startWorld(t);
  await world.changeMerchant({ decryptedWallets: false });
  await assertRefused(world.merchant().sale(fieldsOf(tokenWith())), 13);
});
