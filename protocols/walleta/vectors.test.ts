/** The published token, signed in production in 2021, opens with its own clock, root and key. */
import assert from "node:assert/strict";
import { createHash, createPrivateKey, diffieHellman } from "node:crypto";
import { test } from "node:test";
import { deriveKey, findMerchantIdentifierHash, readEphemeralKey } from "./encryption.ts";
import { expiryOf, openToken, readPayload, type Trust, WalletFault } from "./index.ts";
import { minuteMs, readText, root, vector } from "./samples.ts";

const privateKey = createPrivateKey(readText("private-key.pem"));
const merchantKey = { certificate: readText("certificate.pem"), privateKey };
const text = JSON.stringify(vector.token);
const trust: Trust = {
  now: vector.nowMs,
  roots: [readText("root-ca.pem")],
  merchantKeys: [merchantKey],
  signingWindowMs: 5 * minuteMs,
  allowSandboxSigner: false,
};

test("the published token opens", () => {
  const opened = openToken(text, trust);

  assert.ok(!(opened instanceof WalletFault), (opened as WalletFault).reason);
  assert.deepEqual(opened.payload, readPayload(vector.expected.plaintextText));
  assert.equal(opened.version, "EC_v1");
  assert.equal(opened.transactionId, vector.token.header.transactionId);
  assert.equal(opened.signingTime, vector.nowMs);
  assert.equal(opened.isSandboxSigner, false);
  assert.deepEqual(expiryOf(opened.payload), { year: 2024, month: 9 });
});

test("the intermediate values equal the published ones", () => {
  const { ephemeralPublicKey } = JSON.parse(text).header;
  const publicKey = readEphemeralKey(Buffer.from(ephemeralPublicKey, "base64"));
  const hash = findMerchantIdentifierHash(merchantKey);
  assert.ok(publicKey !== undefined && hash !== undefined);

  const secret = diffieHellman({ privateKey, publicKey });
  const key = deriveKey({ privateKey, publicKey }, hash);

  assert.equal(secret.toString("base64"), vector.intermediate.sharedSecretBase64);
  assert.equal(key.toString("base64"), vector.intermediate.symmetricKeyBase64);
  assert.equal(hash.toString("hex"), vector.merchantIdentifierSha256Hex);
  const { merchantIdentifier } = vector;
  assert.deepEqual(hash, createHash("sha256").update(merchantIdentifier).digest());
});

test("it opens with the merchant identifier of the settings if the certificate does not contain it", () => {
  const { merchantIdentifier } = vector;
  const open = (changes: object) =>
    openToken(text, { ...trust, merchantKeys: [{ ...merchantKey, certificate: "", ...changes }] });

  assert.ok("payload" in open({ merchantIdentifier }));
  assert.equal((open({}) as WalletFault).reason, "no_merchant_identifier");
  assert.equal(
    (open({ merchantIdentifier: "merchant.other" }) as WalletFault).reason,
    "bad_ciphertext",
  );
});

test("it is refused with another clock, root or key", () => {
  // biome-ignore format: a table
  const refusals = [
    ["outside_signing_window", { now: vector.nowMs + 5 * minuteMs + 1 }],
    ["outside_signing_window", { now: vector.nowMs - 5 * minuteMs - 1 }],
    ["untrusted_root",         { roots: [root.pem] }],
    ["untrusted_root",         { roots: [] }],
    ["untrusted_root",         { roots: ["no certificate"] }],
    ["no_key",                 { merchantKeys: [] }],
  ] as const;
  for (const [reason, changes] of refusals) {
    const refused = openToken(text, { ...trust, ...changes });
    assert.deepEqual(refused, new WalletFault(reason));
  }
});
