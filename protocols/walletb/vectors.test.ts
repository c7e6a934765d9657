/** The published tokens open with their own clock, root keys and recipient, and with no other. */
import assert from "node:assert/strict";
import { diffieHellman } from "node:crypto";
import { test } from "node:test";
import { decryptToken, openToken, readRootKeys, type Trust, WalletFault } from "./index.ts";
import { deriveKeys, readPoint } from "./keys.ts";
import { makeKey, readPrivateKey, type Vector, vectors } from "./samples.ts";

const versions = ["ECv1", "ECv2"] as const;

test("the published tokens open, with their keys in either order", () => {
  for (const version of versions) {
    const { token, expected } = vectors[version];
    const trust = trustOf(vectors[version]);
    for (const recipientKeys of [trust.recipientKeys, trust.recipientKeys.toReversed()]) {
      const decrypted = decryptToken(token, { ...trust, recipientKeys });
      assert.deepEqual(decrypted, { version, plaintext: expected.plaintext });
    }
  }
});

test("their plaintext is a word and not a payload", () => {
  for (const version of versions) {
    const opened = openToken(vectors[version].token, trustOf(vectors[version]));
    assert.deepEqual(opened, new WalletFault("not_json"));
  }
});

test("their intermediate values equal the published ones", () => {
  for (const version of versions) {
    const { token, intermediate, recipientPrivateKeys, expected } = vectors[version];
    const { ephemeralPublicKey } = JSON.parse(JSON.parse(token).signedMessage);
    const point = Buffer.from(ephemeralPublicKey, "base64");
    const publicKey = readPoint(point);
    const privateKey = readPrivateKey(recipientPrivateKeys[expected.matchingPrivateKeyIndex] ?? "");
    assert.ok(publicKey !== undefined);

    const secret = diffieHellman({ privateKey, publicKey });
    const { cipherKey, macKey } = deriveKeys(point, { privateKey, publicKey }, version);

    assert.equal(secret.toString("hex"), intermediate.sharedSecretHex);
    assert.equal(cipherKey.toString("hex"), intermediate.cipherKeyHex);
    assert.equal(macKey.toString("hex"), intermediate.macKeyHex);
  }
});

test("they are refused with another recipient, key, root or clock", () => {
  const keyExpiry = 1_542_394_027_316;
  // biome-ignore format: a table
  const refusals = [
    ["ECv1", "bad_signature",            { recipientId: "otherRecipient" }],
    ["ECv2", "bad_signature",            { recipientId: "gateway:other" }],
    ["ECv1", "bad_mac",                  { recipientKeys: [makeKey()] }],
    ["ECv2", "bad_mac",                  { recipientKeys: [makeKey()] }],
    ["ECv2", "no_key",                   { recipientKeys: [] }],
    ["ECv1", "bad_signature",            { rootKeys: trustOf(vectors.ECv2).rootKeys }],
    ["ECv2", "untrusted_root",           { rootKeys: trustOf(vectors.ECv1).rootKeys }],
    ["ECv2", "untrusted_root",           { rootKeys: [] }],
    ["ECv2", "expired_intermediate_key", { now: keyExpiry }],
    ["ECv2", "expired_root_key",         { now: 2_154_841_200_000 }],
    ["ECv1", "unknown_version",          { versions: ["ECv2"] }],
    ["ECv2", "unknown_version",          { versions: ["ECv1"] }],
    ["ECv2", "unknown_version",          { versions: [] }],
  ] as const;
  for (const [version, reason, changes] of refusals) {
    const trust = { ...trustOf(vectors[version]), ...changes };
    assert.deepEqual(decryptToken(vectors[version].token, trust), new WalletFault(reason));
  }
  const justBefore = { ...trustOf(vectors.ECv2), now: keyExpiry - 1 };
  assert.ok("plaintext" in decryptToken(vectors.ECv2.token, justBefore));
});

function trustOf({ rootKeys, recipientId, recipientPrivateKeys, nowMs }: Vector): Trust {
  const read = readRootKeys(JSON.stringify(rootKeys));
  assert.ok(!(read instanceof WalletFault));
  return {
    now: nowMs,
    rootKeys: read,
    recipientId,
    recipientKeys: recipientPrivateKeys.map(readPrivateKey),
    versions,
  };
}
