/** People see only harmless parts of a message, even if a hostile host has written it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { describeMessage, type Emv3dsMessage } from "../emv3ds/index.ts";
import { describe, dumpMasked, iso87Ascii } from "../iso8583/index.ts";
import { describeXml, writeDescribed } from "../threeds102/index.ts";

const pan = "4000001000000018";
const cavv = "AAECAwQFBgcICQoLDA0ODxAREhM=";

test("an element on no list is hidden, and so is a card number in a listed element", () => {
  const message = {
    messageType: "AReq",
    messageVersion: "2.2.0",
    acctNumber: pan,
    mcc: "5999",
    cardholderName: "JANE DOE",
    merchantName: `shop ${pan}`,
    authenticationValue: cavv,
    acctInfo: { chAccAgeInd: "05", unknown: pan },
    acsURL: `https://acs.example/page?token=${pan}`,
    purchaseDate: "20261116144500",
  } as const satisfies Emv3dsMessage;

  const shown = describeMessage(message);

  assert.deepEqual(shown, {
    messageType: "AReq",
    messageVersion: "2.2.0",
    acctNumber: "400000****0018",
    mcc: "5999",
    cardholderName: "****",
    merchantName: "****",
    authenticationValue: "****",
    "acctInfo.chAccAgeInd": "****",
    "acctInfo.unknown": "****",
    acsURL: "https://acs.example/page",
    purchaseDate: "20261116144500",
  });
});

test("no card number is shown as an element's name, nor in the path of an address", () => {
  const named = {
    [pan]: "x",
    [`x${pan}`]: "x",
    "a.b": "x",
    "4000 0010": "x",
    acctInfo: { [pan]: 1 },
  };
  const acsURL = `https://acs.example/${pan}/page`;
  const head = { messageType: "CRes", messageVersion: "2.2.0" } as const;

  const shown = describeMessage({ ...head, ...named, acsURL });

  assert.deepEqual(shown, { ...head, acsURL: "****" });
});

test("a message of 1.0.2 is encoded again from what is shown, and no text leaves its element", () => {
  const message = { pan, merchant: { acqBin: "400001", merId: "</merID>" }, ch: { acctId: pan } };

  const shown = describeXml(message);
  const text = writeDescribed("VEReq", shown);

  assert.equal(shown["ch.acctId"], "****");
  assert.match(text ?? "", /<pan>400000\*{4}0018<\/pan>/);
  assert.match(text ?? "", /<merID>&lt;\/merID><\/merID>|<merID>&lt;\/merID>/);
  assert.equal(writeDescribed("toString", shown), undefined);
});

test("bytes are encoded again with stars for hidden values", () => {
  const fields = { 2: pan, 3: "000000", 4: "000000001042", 14: "3012", 48: "T92039203123" };
  const { mti = "", ...shown } = describe({ mti: "0200", fields }, iso87Ascii);

  const dump = dumpMasked(iso87Ascii, { mti, fields: shown }) ?? "";

  const text = dump
    .split("\n")
    .map((line) => line.slice(-16).trim())
    .join("");
  assert.match(text, /^0200.*16400000\*{6}0018000000000000001042\*{4}/);
  assert.ok(!dump.includes("3012") && !text.includes("123"));
  assert.equal(dumpMasked(iso87Ascii, { mti, fields: { 4: "cut …" } }), undefined);
});
