/** Signatures over PARes: who may sign, what they cover, and the order that a PARes answers. */
import assert from "node:assert/strict";
import { createPrivateKey } from "node:crypto";
import { test } from "node:test";
import { matchPaRes, type PaResOrder, signPaRes, ThreeDsFault, verifyPaRes } from "./index.ts";
import { keys, paRes, signer, trust, writeUnsignedPaRes } from "./samples.ts";
import { signByXmlCrypto } from "./testing/xml-crypto.ts";

const signed = signPaRes(paRes, signer);
const { messageId: _, ...covered } = paRes;

test("a signed PARes is verified, with both digests and every outcome", () => {
  for (const digest of ["sha1", "sha256"] as const) {
    for (const status of ["Y", "N", "A", "U"] as const) {
      const message = { ...paRes, tx: { time: paRes.tx.time, status } };
      const xml = signPaRes(message, { ...signer, digest });
      const { messageId: _, ...expected } = message;
      assert.deepEqual(verifyPaRes(xml, trust), expected, `${digest} ${status}`);
    }
  }
});

test("a signed PARes has the form of live ones", () => {
  assert.match(signed, /<\/PARes><Signature xmlns="[^"]+"><SignedInfo>.*<\/Signature><\/Message>/);
  assert.match(signed, /<Reference URI="#PARes-1"><DigestMethod/);
  assert.doesNotMatch(signed, /Transforms/);
  assert.equal(signed.match(/<X509Certificate>/g)?.length, 2);
});

test("a key may be a key or its PEM", () => {
  const xml = signPaRes(paRes, { ...signer, privateKey: createPrivateKey(keys.signerKey) });

  assert.equal(xml, signed);
});

test("the element about a faulty request is signed as well", () => {
  const message = { ...paRes, iReq: { iReqCode: "55", iReqDetail: "Purchase.xid & more" } };
  const { messageId: _, ...expected } = message;

  assert.deepEqual(verifyPaRes(signPaRes(message, signer), trust), expected);
});

test("the certificates come in any order, with or without the root", () => {
  for (const certificates of [
    [keys.signer, keys.root, keys.intermediate],
    [keys.root, keys.intermediate, keys.signer],
    [keys.intermediate, keys.signer],
  ]) {
    assert.deepEqual(verifyPaRes(signPaRes(paRes, { ...signer, certificates }), trust), covered);
  }
});

test("an ACS directly under the root, and one with an old key, are accepted", () => {
  const direct = signPaRes(paRes, { ...signer, certificates: [keys.signerOfRoot] });
  const certificates = [keys.oldSigner, keys.intermediate];
  const old = signPaRes(paRes, { ...signer, privateKey: keys.oldSignerKey, certificates });

  assert.deepEqual(verifyPaRes(direct, trust), covered);
  assert.deepEqual(verifyPaRes(old, trust), covered);
});

// biome-ignore format: a table
const chains: readonly (readonly [certificates: readonly string[], reason: string])[] = [
  [[],                                                      "malformed_certificate"],
  [[keys.intermediate, keys.root],                          "malformed_certificate"],
  [[keys.signer],                                           "untrusted_chain"],
  [[keys.signerBySigner, keys.intermediate],                "untrusted_chain"],
  [[keys.signerBySigner, keys.signer, keys.intermediate],   "malformed_certificate"],
  [[keys.signerByPlain, keys.plainIntermediate],            "malformed_certificate"],
  [[keys.signerByPlain, keys.intermediate],                 "untrusted_chain"],
  [[keys.ellipticSigner, keys.intermediate],                "malformed_certificate"],
  [[keys.expiredSigner, keys.intermediate],                 "expired_certificate"],
  [[keys.signer, keys.expiredIntermediate],                 "expired_certificate"],
  [[keys.oldSigner, keys.intermediate],                     "wrong_signature"],
  [[keys.signer, ...Array(8).fill(keys.intermediate)],      "malformed_certificate"],
];

test("a chain that does not lead to the root is refused", () => {
  for (const [index, [certificates, reason]] of chains.entries()) {
    const xml = signPaRes(paRes, { ...signer, certificates });
    assert.equal(reasonOf(verifyPaRes(xml, trust)), reason, `${index}`);
  }
});

test("a valid certificate is found next to an expired one with the same name", () => {
  const certificates = [keys.signer, keys.expiredIntermediate, keys.intermediate];

  assert.deepEqual(verifyPaRes(signPaRes(paRes, { ...signer, certificates }), trust), covered);
});

test("a certificate is valid from its first second to its last", () => {
  const first = Date.UTC(2020, 0, 1);
  const last = Date.UTC(2049, 11, 31, 23, 59, 59);

  assert.deepEqual(verifyPaRes(signed, { ...trust, now: first }), covered);
  assert.deepEqual(verifyPaRes(signed, { ...trust, now: last }), covered);
  const early = verifyPaRes(signed, { ...trust, now: first - 1 });
  assert.equal(reasonOf(early), "expired_certificate");
  const late = verifyPaRes(signed, { ...trust, now: last + 1 });
  assert.equal(reasonOf(late), "expired_certificate");
});

test("only a configured root counts, not one in the message", () => {
  const certificates = [keys.signer, keys.intermediate, keys.root];
  const xml = signPaRes(paRes, { ...signer, certificates });

  assert.equal(reasonOf(verifyPaRes(xml, { ...trust, roots: [] })), "untrusted_chain");
  // A certificate that is no authority cannot be a root, even if it is configured as one.
  const misconfigured = { ...trust, roots: [keys.signer] };
  assert.equal(reasonOf(verifyPaRes(xml, misconfigured)), "untrusted_chain");
});

test("a signed PARes that breaks the table is refused", () => {
  const xml = writeUnsignedPaRes(paRes).replace("<status>Y", "<status>YN");

  const fault = verifyPaRes(signByXmlCrypto(xml), trust);
  assert.deepEqual(fault, new ThreeDsFault("malformed_element", "PARes/TX/status"));
});

const order: PaResOrder = {
  ...paRes.purchase,
  ...paRes.merchant,
  lastFour: "0014",
};

// biome-ignore format: a table
const differences: readonly (readonly [name: keyof PaResOrder, value: string])[] = [
  ["xid",         "ESIzRFVmd4iZABEiM0RVZneImQA="],
  ["acqBin",      "400002"],
  ["merId",       "SHOP"],
  ["purchAmount", "142"],
  ["currency",    "392"],
  ["exponent",    "0"],
  ["date",        "20261114 09:30:16"],
  ["lastFour",    "0022"],
];

test("a PARes that answers the order has no differences", () => {
  assert.deepEqual(matchPaRes(paRes, order), []);
});

test("every different field is named", () => {
  for (const [name, value] of differences) {
    assert.deepEqual(matchPaRes(paRes, { ...order, [name]: value }), [name]);
  }
  const names = differences.map(([name]) => name);
  assert.deepEqual(matchPaRes(paRes, Object.fromEntries(differences) as PaResOrder), names);
});

function reasonOf(result: unknown): string | undefined {
  return result instanceof ThreeDsFault ? result.reason : undefined;
}
