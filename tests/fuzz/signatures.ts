/**
 * Messages that an attacker could forge: signed PARes messages and the payment tokens of both
 * wallets. A changed one may be accepted only if it means the same as the genuine one.
 */
import assert from "node:assert/strict";
import * as threeds102 from "@tollgate/protocols/threeds102";
import * as walleta from "@tollgate/protocols/walleta";
import * as walletb from "@tollgate/protocols/walletb";
import fc from "fast-check";
import { readBer } from "../../protocols/shared/asn1.ts";
import * as pares from "../../protocols/threeds102/samples.ts";
import * as samplesA from "../../protocols/walleta/samples.ts";
import * as samplesB from "../../protocols/walletb/samples.ts";
import { changed, changedMembers, xmlWords } from "./changed.ts";
import type { Target } from "./target.ts";

const failed = { ...pares.paRes, tx: { ...pares.paRes.tx, status: "N" as const } };
const signed = threeds102.signPaRes(pares.paRes, pares.signer);
const shapes = threeds102.paResShapes.map((shape) =>
  threeds102.signPaRes(pares.paRes, { ...pares.signer, shape }),
);
const genuine = threeds102.verifyPaRes(signed, pares.trust);
assert.ok(!(genuine instanceof threeds102.ThreeDsFault));

const signedPaRes: Target = {
  name: "pares-signature",
  inputs: changed([signed, ...shapes, pares.writeUnsignedPaRes(failed)], xmlWords),
  check(input) {
    const read = threeds102.verifyPaRes(input, pares.trust);
    if (read instanceof threeds102.ThreeDsFault) return read.reason;
    assert.deepEqual(read, genuine, "a forged PARes is accepted");
    return "accepted";
  },
};

const { paReq, veReq, veRes, crRes } = pares;
const xmlMessages: Target = {
  name: "threeds102-xml",
  inputs: changed(
    [
      threeds102.writeXml("PAReq", paReq),
      threeds102.writeXml("VEReq", veReq),
      threeds102.writeXml("VERes", veRes),
      threeds102.writeXml("CRRes", crRes),
    ],
    xmlWords,
  ),
  check(input) {
    const kind = threeds102.findMessageKind(input);
    if (kind instanceof threeds102.ThreeDsFault) return kind.reason;
    if (kind === "PARes") return "other message";
    const message = threeds102.readXml(kind, input);
    if (message instanceof threeds102.ThreeDsFault) return message.reason;
    const again = threeds102.readXml(kind, threeds102.writeXml(kind, message));
    assert.deepEqual(again, message);
    threeds102.describeXml(message);
    return "accepted";
  },
};

const packed: Target = {
  name: "pares-packed",
  inputs: changed([threeds102.packPa(signed), threeds102.packPa("a".repeat(100_000))], ["==", "+"]),
  check(input) {
    const xml = threeds102.unpackPa(input);
    if (xml instanceof threeds102.ThreeDsFault) return xml.reason;
    return signedPaRes.check(xml);
  },
};

const tokensA = (["EC_v1", "RSA_v1"] as const).map((version) =>
  walleta.mintToken(walleta.writePayload(samplesA.payload), samplesA.mintingOf(version)),
);
const openedA = tokensA.map((token) => openA(token));
const jsonWords = ['"signature":', '"data":', '"header":{', '"EC_v1"', '"RSA_v1"', "}", "\\u0041"];

const tokenA: Target = {
  name: "walleta",
  inputs: fc.oneof(changedMembers(tokensA), changed(tokensA, jsonWords)),
  check: checkA,
};

/** The signature's own bytes are changed, inside base64 and JSON. */
const signatureA: Target = {
  name: "walleta-cms",
  inputs: changed(
    tokensA.map((token) => Buffer.from(JSON.parse(token).signature, "base64").toString("latin1")),
    ["0\u0080", "0\u0082\u00ff\u00ff", "\u0000\u0000", "\u0006\u0009", "\u00a0\u0080", "1\u0080"],
  ),
  check(input) {
    const bytes = Buffer.from(input, "latin1");
    readBer(bytes);
    const signature = bytes.toString("base64");
    return tokensA
      .map((token) => checkA(JSON.stringify({ ...JSON.parse(token), signature })))
      .join(", ");
  },
};

function openA(token: string) {
  return walleta.openToken(token, samplesA.trust);
}

function checkA(input: string): string {
  const opened = openA(input);
  if (opened instanceof walleta.WalletFault) return opened.reason;
  const { transactionId: id } = opened;
  const [genuineOne] = openedA.filter((each) => "payload" in each && each.transactionId === id);
  assert.deepEqual(opened, genuineOne, "a forged token is accepted");
  return "accepted";
}

const tokensB = (["ECv1", "ECv2"] as const).map((version) =>
  walletb.mintToken(walletb.writePayload(samplesB.payload, version), samplesB.mintingOf(version)),
);
const openedB = tokensB.map((token) => walletb.openToken(token, samplesB.trust));

const tokenB: Target = {
  name: "walletb",
  inputs: fc.oneof(
    changedMembers(tokensB),
    changed(tokensB, ['"ECv1"', '"ECv2"', '"signedMessage":', '\\"tag\\":', "\\u003d"]),
  ),
  check(input) {
    const opened = walletb.openToken(input, samplesB.trust);
    if (opened instanceof walletb.WalletFault) return opened.reason;
    const [genuineOne] = openedB.filter(
      (each) => "version" in each && each.version === opened.version,
    );
    assert.deepEqual(opened, genuineOne, "a forged token is accepted");
    return "accepted";
  },
};

const payloadTexts = [
  walleta.writePayload(samplesA.payload),
  walletb.writePayload(samplesB.payload),
  walletb.writePayload(samplesB.networkToken),
];

/** Payment data that a merchant has decrypted has no signature, so it is only read. */
const payloads: Target = {
  name: "wallet-payloads",
  inputs: fc.oneof(
    changedMembers(payloadTexts),
    changed(payloadTexts, ['"3DSecure"', '"EMV"', '"PAN_ONLY"', "1e3", "-0", "1.5"]),
  ),
  check(input) {
    const a = walleta.readPayload(input);
    const b = walletb.readPayload(input, { now: samplesB.now });
    if (!(a instanceof walleta.WalletFault)) {
      assert.deepEqual(walleta.readPayload(walleta.writePayload(a)), a);
    }
    return [a, b].map((read) => ("reason" in read ? read.reason : "accepted")).join(", ");
  },
};

export const signatureTargets: readonly Target[] = [
  ...[signedPaRes, xmlMessages, packed, tokenA, signatureA, tokenB, payloads],
];
