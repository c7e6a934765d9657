/**
 * Tokens of walleta open under the sandbox's root, and the code that opens them finds each defect.
 */
import assert from "node:assert/strict";
import { createHash, X509Certificate } from "node:crypto";
import { after, test } from "node:test";
import {
  openToken,
  type Payload,
  WalletFault,
  type WalletReason,
} from "@tollgate/protocols/walleta";
import type { WalletAOptions } from "../bank.ts";
import { startTestBank } from "../testing/bank-for-tests.ts";
import { charge, TestGateway } from "../testing/gateway.ts";
import { enrolWalletA, trustWalletA } from "../testing/wallet-merchant.ts";
import { type WalletADefect, walletADefects } from "./walleta.ts";

const bank = await startTestBank({ after });
const merchant = await enrolWalletA(bank);
const trust = await trustWalletA(bank, merchant);
const card = { pan: "4000004000000111", expirationYear: 2031, expirationMonth: 2 };
const payment = { ...card, amount: 1050, currency: "USD", certificate: merchant.certificate };

async function open(options: Partial<WalletAOptions> = {}, trusted = trust) {
  const token = await bank.mintWalletA({ ...payment, ...options });
  return openToken(token, { ...trusted, now: Date.now() });
}

async function openPayload(options: Partial<WalletAOptions> = {}): Promise<Payload> {
  const opened = await open(options);
  return opened instanceof WalletFault ? assert.fail(opened.reason) : opened.payload;
}

test("a token carries card, amount and currency, signed in the sandbox just now", async () => {
  const before = Date.now();
  const opened = await open({ cardholderName: "ANNA EXAMPLE" });

  assert.ok(!(opened instanceof WalletFault), "it opens");
  const { payload, signingTime, isSandboxSigner, version } = opened;
  assert.ok(payload.paymentDataType === "3DSecure");
  const { onlinePaymentCryptogram, ...others } = payload;
  assert.deepEqual(others, {
    applicationPrimaryAccountNumber: card.pan,
    applicationExpirationDate: "310228",
    currencyCode: "840",
    transactionAmount: 1050,
    cardholderName: "ANNA EXAMPLE",
    deviceManufacturerIdentifier: "050110030273",
    paymentDataType: "3DSecure",
    eciIndicator: "05",
  });
  assert.equal(Buffer.from(onlinePaymentCryptogram, "base64").length, 20);
  assert.deepEqual([isSandboxSigner, version], [true, "EC_v1"]);
  // The time is in whole seconds.
  assert.ok(signingTime > before - 1_000 && signingTime <= Date.now());
});

test("the host accepts its cryptogram as proof", async (t) => {
  const gateway = await TestGateway.signOn(bank.hostPort);
  t.after(() => gateway.close());
  const payload = await openPayload();
  assert.ok(payload.paymentDataType === "3DSecure");

  const cavv = Buffer.from(payload.onlinePaymentCryptogram, "base64").toString("hex");
  const proved = await gateway.ask(
    charge({ card: card.pan, eci: payload.eciIndicator ?? "", cavv }),
  );

  assert.equal(proved.fields[39], "00");
});

test("the ECI is omitted if the network omits it", async () => {
  const payload = await openPayload({ pan: "5200000000000015" });
  assert.ok(payload.paymentDataType === "3DSecure");
  assert.equal(payload.eciIndicator, undefined);
});

test("currencies are named by letters or by number", async () => {
  for (const currency of ["JPY", "392"]) {
    assert.equal((await openPayload({ currency })).currencyCode, "392");
  }
});

test("the signing time and the transaction id are as requested", async () => {
  const signingTime = Math.floor(Date.now() / 1000) * 1000 - 120_000;
  const transactionId = "0a".repeat(32);
  const opened = await open({ signingTime, transactionId });

  assert.ok(!(opened instanceof WalletFault));
  assert.deepEqual([opened.signingTime, opened.transactionId], [signingTime, transactionId]);
});

test("production does not accept a signature of the sandbox", async () => {
  const refused = await open({}, { ...trust, allowSandboxSigner: false });
  assert.ok(refused instanceof WalletFault && refused.reason === "sandbox_signer");
});

test("a merchant's certificate contains the hash of its identifier and lasts as long as requested", async () => {
  const certificate = new X509Certificate(merchant.certificate);
  const days = (Date.parse(certificate.validTo) - Date.now()) / 86_400_000;
  assert.ok(days > 759 && days < 761);
  assert.ok(certificate.checkPrivateKey(merchant.privateKey) && !certificate.ca);

  const other = await enrolWalletA(bank, "?merchantIdentifier=merchant.other&days=20");
  const { raw, validTo } = new X509Certificate(other.certificate);
  const hash = createHash("sha256").update("merchant.other").digest("hex").toUpperCase();
  assert.ok(raw.includes(hash) && Date.parse(validTo) - Date.now() < 20 * 86_400_000);

  const opened = openToken(
    await bank.mintWalletA({ ...card, amount: 1, currency: "EUR" }),
    await trustWalletA(bank, merchant, other),
  );
  assert.ok(!(opened instanceof WalletFault), "the newest certificate is the recipient");
});

test("the certificate of an unknown merchant needs the identifier", async () => {
  const first = await enrolWalletA(bank, "?merchantIdentifier=merchant.first");
  await enrolWalletA(bank);
  const { certificate } = first;

  await assert.rejects(bank.mintWalletA({ ...payment, certificate }), /"merchantIdentifier"/);
  const trusted = await trustWalletA(bank, first);
  const opened = await open({ certificate, merchantIdentifier: "merchant.first" }, trusted);
  assert.ok(!(opened instanceof WalletFault));
});

test("an RSA key gets tokens of its own version", async () => {
  const merchantKey = await enrolWalletA(bank, "", "rsa");
  const trusted = await trustWalletA(bank, merchantKey);
  const { certificate } = merchantKey;

  const opened = await open({ certificate, version: "RSA_v1" }, trusted);
  assert.ok(!(opened instanceof WalletFault) && opened.version === "RSA_v1");
  await assert.rejects(open({ certificate, version: "EC_v1" }), /is for RSA_v1/);
  await assert.rejects(open({ certificate, defect: "other-merchant" }), /RSA_v1/);
  const foreign = await open({ certificate, defect: "wrong-root" }, trusted);
  assert.ok(foreign instanceof WalletFault && foreign.reason === "untrusted_root");
});

type Opening = "wrong-amount" | "wrong-currency";

// biome-ignore format: a table
const reasons: Readonly<Record<Exclude<WalletADefect, Opening>, WalletReason>> = {
  "expired":         "outside_signing_window",
  "wrong-recipient": "no_key",
  "tampered":        "bad_signature",
  "wrong-root":      "untrusted_root",
  "other-merchant":  "bad_ciphertext",
  "no-marker":       "wrong_certificates",
};

test("each defect is refused for its own reason", async () => {
  for (const defect of Object.keys(walletADefects) as WalletADefect[]) {
    if (defect === "wrong-amount" || defect === "wrong-currency") {
      const { transactionAmount, currencyCode } = await openPayload({ defect });
      const expected = defect === "wrong-amount" ? [1051, "840"] : [1050, "978"];
      assert.deepEqual([transactionAmount, currencyCode], expected);
    } else {
      const opened = await open({ defect });
      assert.ok(opened instanceof WalletFault, defect);
      assert.equal(opened.reason, reasons[defect], defect);
    }
  }
});
