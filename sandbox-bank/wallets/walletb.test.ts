/**
 * Tokens of walletb open under the sandbox's root, and the code that opens them finds each defect.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import {
  openToken,
  type Payload,
  WalletFault,
  type WalletReason,
} from "@tollgate/protocols/walletb";
import type { WalletBOptions } from "../bank.ts";
import { startTestBank } from "../testing/bank-for-tests.ts";
import { charge, TestGateway } from "../testing/gateway.ts";
import { enrolWalletB, makeWalletBMerchant, trustWalletB } from "../testing/wallet-merchant.ts";
import { type WalletBDefect, walletBDefects } from "./walletb.ts";

const bank = await startTestBank({ after });
const merchant = await enrolWalletB(bank);
const trust = await trustWalletB(bank, merchant);
const card = { pan: "4000004000000111", expirationYear: 2031, expirationMonth: 7 };

async function open(options: Partial<WalletBOptions> = {}, trusted = trust) {
  return openToken(await bank.mintWalletB({ ...card, ...options }), {
    ...trusted,
    now: Date.now(),
  });
}

async function openPayload(options: Partial<WalletBOptions> = {}): Promise<Payload> {
  const opened = await open(options);
  return opened instanceof WalletFault ? assert.fail(opened.reason) : opened.payload;
}

test("a token contains a card number, unless a device number is requested", async () => {
  const { messageId, messageExpiration, ...payload } = await openPayload();

  assert.deepEqual(payload, {
    ...card,
    gatewayMerchantId: "tollgate-merchant",
    authMethod: "PAN_ONLY",
    assuranceDetails: { cardHolderAuthenticated: false, accountVerified: true },
  });
  assert.ok(messageExpiration > Date.now() + 3_000_000);
  assert.notEqual((await openPayload()).messageId, messageId);
});

test("a device number has a cryptogram that the host accepts as proof", async (t) => {
  const gateway = await TestGateway.signOn(bank.hostPort);
  t.after(() => gateway.close());
  const {
    pan,
    cryptogram = "",
    eciIndicator = "",
  } = await openPayload({
    authMethod: "CRYPTOGRAM_3DS",
  });

  const cavv = Buffer.from(cryptogram, "base64").toString("hex");
  const proved = await gateway.ask(charge({ card: pan, eci: eciIndicator, cavv }));
  const bare = await gateway.ask(charge({ card: pan }));

  assert.deepEqual([proved.fields[39], bare.fields[39]], ["00", "1A"]);
});

test("the ECI is as the networks send it, or as requested", async () => {
  const authMethod = "CRYPTOGRAM_3DS";
  assert.equal((await openPayload({ authMethod })).eciIndicator, "05");
  assert.equal((await openPayload({ authMethod, eciIndicator: "7" })).eciIndicator, "07");
  assert.equal((await openPayload({ authMethod, eciIndicator: "" })).eciIndicator, undefined);
  const { eciIndicator } = await openPayload({ authMethod, pan: "5200000000000015" });
  assert.equal(eciIndicator, undefined);
});

test("both versions open, with both kinds of number", async () => {
  for (const version of ["ECv2", "ECv1"] as const) {
    for (const authMethod of ["PAN_ONLY", "CRYPTOGRAM_3DS"] as const) {
      const opened = await open({ version, authMethod });
      assert.ok(!(opened instanceof WalletFault), `${version} ${authMethod}`);
      assert.deepEqual([opened.version, opened.payload.authMethod], [version, authMethod]);
    }
  }
});

test("ids, expiry and merchant are as requested", async () => {
  const messageExpiration = Date.now() + 3_600_000;
  const asked = { messageId: "one", messageExpiration, gatewayMerchantId: "another" };
  const payload = await openPayload(asked);

  assert.deepEqual({ ...payload, ...asked }, payload);
});

test("another recipient can be named for one token", async () => {
  const { privateKey, ...other } = makeWalletBMerchant("other");
  const recipientKeys = [privateKey];
  const opened = await open(other, { ...trust, recipientId: "gateway:other", recipientKeys });

  assert.ok(!(opened instanceof WalletFault));
  assert.equal(opened.payload.gatewayMerchantId, "other-merchant");
});

// biome-ignore format: a table
const reasons: Readonly<Record<Exclude<WalletBDefect, "other-merchant">, WalletReason>> = {
  "expired":              "expired_message",
  "expired-intermediate": "expired_intermediate_key",
  "wrong-recipient":      "bad_signature",
  "tampered":             "bad_signature",
  "wrong-root":           "untrusted_root",
  "wrong-mac":            "bad_mac",
};

test("each defect is refused for its own reason", async () => {
  for (const defect of Object.keys(walletBDefects) as WalletBDefect[]) {
    const opened = await open({ defect });
    if (defect === "other-merchant") {
      assert.ok(!(opened instanceof WalletFault));
      assert.equal(opened.payload.gatewayMerchantId, "another-merchant");
    } else {
      assert.ok(opened instanceof WalletFault, defect);
      assert.equal(opened.reason, reasons[defect], defect);
    }
  }
});

test("tokens of the first version are refused for their defects too", async () => {
  for (const defect of [
    "expired",
    "wrong-recipient",
    "tampered",
    "wrong-root",
    "wrong-mac",
  ] as const) {
    assert.ok((await open({ defect, version: "ECv1" })) instanceof WalletFault, defect);
  }
  const minted = bank.mintWalletB({ ...card, defect: "expired-intermediate", version: "ECv1" });
  await assert.rejects(minted, /no intermediate key/);
});
