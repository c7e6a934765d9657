/** Messages out and in. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  errorCodeFor,
  findMessageKind,
  readCrReq,
  readCrRes,
  readError,
  readPaReq,
  readUnverifiedPaRes,
  readVeReq,
  readVeRes,
  ThreeDsFault,
  writeCrReq,
  writeCrRes,
  writeError,
  writePaReq,
  writeUnsignedPaRes,
  writeVeReq,
  writeVeRes,
} from "./index.ts";
import { crRes, paReq, paRes, veReq, veRes } from "./samples.ts";

const iReq = { iReqCode: "55", iReqDetail: "Merchant.merID", vendorCode: "7" };
const merchant = { acqBin: "400001", merId: "GW0000000000042" };

test("every message comes back as it was written", () => {
  const crReq = { messageId: "CRReq-1", merchant, serialNumber: "16" };
  const error = { messageId: "E", errorCode: "5", errorMessage: "Wrong", errorDetail: "CH/expiry" };

  assert.deepEqual(readCrReq(writeCrReq(crReq)), crReq);
  assert.deepEqual(readCrRes(writeCrRes(crRes)), crRes);
  assert.deepEqual(readVeReq(writeVeReq(veReq)), veReq);
  assert.deepEqual(readVeRes(writeVeRes(veRes)), veRes);
  assert.deepEqual(readPaReq(writePaReq(paReq)), paReq);
  assert.deepEqual(readUnverifiedPaRes(writeUnsignedPaRes(paRes)), paRes);
  assert.deepEqual(readError(writeError(error)), error);
});

test("what may be absent may be absent", () => {
  const bare = { messageId: "1", ch: { enrolled: "N" as const }, protocols: [] };
  const refused = { ...bare, ch: { enrolled: "U" as const }, iReq };
  const empty = { messageId: "1", cardRanges: [], iReq: { iReqCode: "57" } };
  const { purchase, ...rest } = paReq;
  const { desc: _, recur: __, install: ___, ...required } = purchase;
  const plain = { ...rest, purchase: required };

  assert.deepEqual(readVeRes(writeVeRes(bare)), bare);
  assert.deepEqual(readVeRes(writeVeRes(refused)), refused);
  assert.deepEqual(readCrRes(writeCrRes(empty)), empty);
  assert.deepEqual(readPaReq(writePaReq(plain)), plain);
  assert.deepEqual(readVeReq(writeVeReq({ messageId: "1", pan: veReq.pan, merchant })), {
    messageId: "1",
    pan: veReq.pan,
    merchant,
  });
});

test("a PAReq has the elements in the order of the document type, and its texts escaped", () => {
  const xml = writePaReq(paReq);

  const names = [...xml.matchAll(/<(\w+)/g)].map(([, name]) => name).join(" ");
  assert.equal(
    names,
    "ThreeDSecure Message PAReq version Merchant acqBIN merID name country url Purchase xid date " +
      "amount purchAmount currency exponent desc Recur frequency endRecur install CH acctID expiry",
  );
  assert.match(xml, /<name>Müller &amp; Söhne &lt;Berlin&gt;<\/name>/);
  assert.match(
    xml,
    /^<\?xml version="1\.0" encoding="UTF-8"\?><ThreeDSecure><Message id="PAReq-1">/,
  );
});

test("any merchant name that fits comes back", () => {
  const character = fc.string({ unit: "binary", minLength: 1, maxLength: 1 });
  const fitting = character.filter((one) => !/[\p{Cc}\p{Cs}\ufffe\uffff]/u.test(one));
  const names = fc.array(fitting, { minLength: 1, maxLength: 25 }).map((all) => all.join(""));
  fc.assert(
    fc.property(names, (name) => {
      const message = { ...paReq, merchant: { ...paReq.merchant, name } };
      assert.deepEqual(readPaReq(writePaReq(message)), message);
    }),
  );
});

test("the kind of a message can be asked first", () => {
  assert.equal(findMessageKind(writeVeReq(veReq)), "VEReq");
  assert.equal(reasonOf(findMessageKind("<a/>")), "other_root");
  assert.equal(reasonOf(readVeRes(writeVeReq(veReq))), "other_message");
});

test("an enrolled cardholder can be reached", () => {
  const xml = writeVeRes(veRes);

  assert.deepEqual(
    readVeRes(xml.replace(/<acctID>.*<.acctID>/, "")),
    new ThreeDsFault("missing_element", "VERes/CH/acctID"),
  );
  assert.deepEqual(
    readVeRes(xml.replace(/<url>.*<.url>/, "")),
    new ThreeDsFault("missing_element", "VERes/url"),
  );
  assert.throws(() => writeVeRes({ ...veRes, ch: { enrolled: "Y" } }), /acctID is missing/);
});

test("card ranges are added or deleted, nothing else", () => {
  const xml = writeCrRes(crRes);

  assert.match(xml, /<CR><begin>4000010000000000<\/begin><end>4000019999999999<\/end>/);
  const fault = readCrRes(xml.replace("<action>D", "<action>X"));
  assert.deepEqual(fault, new ThreeDsFault("malformed_element", "CRRes/CR/action"));
});

test("a card number is in no fault and in no error", () => {
  const xml = writeVeReq(veReq);
  const faults = [
    readVeReq(xml.replace("</pan>", "x</pan>")),
    readVeReq(xml.replace("</pan>", `</pan><pan>${veReq.pan}</pan>`)),
    readVeReq(xml.replace("<version>", `<n${veReq.pan}/><version>`)),
    readVeReq(xml.replace("</pan>", "&a;</pan>")),
  ];

  for (const fault of faults) {
    assert.ok(fault instanceof ThreeDsFault);
    assert.doesNotMatch(JSON.stringify(fault), /4000010/);
  }
  const tooLong = { ...veReq, pan: `${veReq.pan}0000` };
  assert.throws(
    () => writeVeReq(tooLong),
    (error) => error instanceof Error && !`${error.message}${error.stack}`.includes(veReq.pan),
  );
});

test("a PARes never shows more than the last four digits", () => {
  const xml = writeUnsignedPaRes(paRes).replace(paRes.pan, veReq.pan);

  assert.deepEqual(readUnverifiedPaRes(xml), new ThreeDsFault("malformed_element", "PARes/pan"));
});

test("a value that does not fit its table is not written", () => {
  const named = (name: string) => ({ ...paReq, merchant: { ...paReq.merchant, name } });

  assert.throws(() => writePaReq(named("n".repeat(26))), /PAReq\/Merchant\/name does not fit/);
  assert.throws(() => writePaReq(named("\ud800")), /does not fit/);
  assert.throws(() => writePaReq({ ...paReq, messageId: '"' }), /Message\/id does not fit/);
  assert.throws(() => writeUnsignedPaRes({ ...paRes, id: paRes.messageId }), /id of Message too/);
});

test("a fault says which error to answer", () => {
  assert.equal(errorCodeFor(new ThreeDsFault("other_root")), "1");
  assert.equal(errorCodeFor(new ThreeDsFault("other_message")), "2");
  assert.equal(errorCodeFor(new ThreeDsFault("missing_element")), "3");
  assert.equal(errorCodeFor(new ThreeDsFault("unknown_critical_extension")), "4");
  assert.equal(errorCodeFor(new ThreeDsFault("malformed_element")), "5");
  assert.equal(errorCodeFor(new ThreeDsFault("other_version")), "6");
});

function reasonOf(result: unknown): string | undefined {
  return result instanceof ThreeDsFault ? result.reason : undefined;
}
