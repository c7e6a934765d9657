/** Messages are written and read again, and a PAReq shows everything that a reader refuses. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import { deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import {
  errorCodeFor,
  findMessageKind,
  packPa,
  readXml,
  ThreeDsFault,
  unpackPa,
  writeXml,
} from "./index.ts";
import {
  crRes,
  paReq,
  paRes,
  readUnverifiedPaRes,
  veReq,
  veRes,
  writeUnsignedPaRes,
} from "./samples.ts";

const iReq = { iReqCode: "55", iReqDetail: "Merchant.merID", vendorCode: "7" };
const merchant = { acqBin: "400001", merId: "GW0000000000042" };

test("every written message is read back", () => {
  const crReq = { messageId: "CRReq-1", merchant, serialNumber: "16" };
  const error = { messageId: "E", errorCode: "5", errorMessage: "Wrong", errorDetail: "CH/expiry" };

  assert.deepEqual(readXml("CRReq", writeXml("CRReq", crReq)), crReq);
  assert.deepEqual(readXml("CRRes", writeXml("CRRes", crRes)), crRes);
  assert.deepEqual(readXml("VEReq", writeXml("VEReq", veReq)), veReq);
  assert.deepEqual(readXml("VERes", writeXml("VERes", veRes)), veRes);
  assert.deepEqual(readXml("PAReq", writeXml("PAReq", paReq)), paReq);
  assert.deepEqual(readUnverifiedPaRes(writeUnsignedPaRes(paRes)), paRes);
  assert.deepEqual(readXml("Error", writeXml("Error", error)), error);
});

test("optional elements may be absent", () => {
  const bare = { messageId: "1", ch: { enrolled: "N" as const }, protocols: [] };
  const refused = { ...bare, ch: { enrolled: "U" as const }, iReq };
  const empty = { messageId: "1", cardRanges: [], iReq: { iReqCode: "57" } };
  const { purchase, ...rest } = paReq;
  const { desc: _, recur: __, install: ___, ...required } = purchase;
  const plain = { ...rest, purchase: required };

  assert.deepEqual(readXml("VERes", writeXml("VERes", bare)), bare);
  assert.deepEqual(readXml("VERes", writeXml("VERes", refused)), refused);
  assert.deepEqual(readXml("CRRes", writeXml("CRRes", empty)), empty);
  assert.deepEqual(readXml("PAReq", writeXml("PAReq", plain)), plain);
  assert.deepEqual(
    readXml("VEReq", writeXml("VEReq", { messageId: "1", pan: veReq.pan, merchant })),
    {
      messageId: "1",
      pan: veReq.pan,
      merchant,
    },
  );
});

test("a PAReq has the elements in the order of the document type, and its texts escaped", () => {
  const xml = writeXml("PAReq", paReq);

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

test("any merchant name that fits is read back", () => {
  const character = fc.string({ unit: "binary", minLength: 1, maxLength: 1 });
  const fitting = character.filter((one) => !/[\p{Cc}\p{Cs}\ufffe\uffff]/u.test(one));
  const names = fc.array(fitting, { minLength: 1, maxLength: 25 }).map((all) => all.join(""));
  fc.assert(
    fc.property(names, (name) => {
      const message = { ...paReq, merchant: { ...paReq.merchant, name } };
      assert.deepEqual(readXml("PAReq", writeXml("PAReq", message)), message);
    }),
  );
});

test("the kind of a message can be determined first", () => {
  assert.equal(findMessageKind(writeXml("VEReq", veReq)), "VEReq");
  assert.equal(reasonOf(findMessageKind("<a/>")), "other_root");
  assert.equal(reasonOf(readXml("VERes", writeXml("VEReq", veReq))), "other_message");
});

test("an enrolled card has an account id and the ACS a URL", () => {
  const xml = writeXml("VERes", veRes);

  assert.deepEqual(
    readXml("VERes", xml.replace(/<acctID>.*<.acctID>/, "")),
    new ThreeDsFault("missing_element", "VERes/CH/acctID"),
  );
  assert.deepEqual(
    readXml("VERes", xml.replace(/<url>.*<.url>/, "")),
    new ThreeDsFault("missing_element", "VERes/url"),
  );
  assert.throws(() => writeXml("VERes", { ...veRes, ch: { enrolled: "Y" } }), /acctID is missing/);
});

test("card ranges are added or deleted, nothing else", () => {
  const xml = writeXml("CRRes", crRes);

  assert.match(xml, /<CR><begin>4000010000000000<\/begin><end>4000019999999999<\/end>/);
  const fault = readXml("CRRes", xml.replace("<action>D", "<action>X"));
  assert.deepEqual(fault, new ThreeDsFault("malformed_element", "CRRes/CR/action"));
});

test("a card number is in no fault and in no error", () => {
  const xml = writeXml("VEReq", veReq);
  const faults = [
    readXml("VEReq", xml.replace("</pan>", "x</pan>")),
    readXml("VEReq", xml.replace("</pan>", `</pan><pan>${veReq.pan}</pan>`)),
    readXml("VEReq", xml.replace("<version>", `<n${veReq.pan}/><version>`)),
    readXml("VEReq", xml.replace("</pan>", "&a;</pan>")),
  ];

  for (const fault of faults) {
    assert.ok(fault instanceof ThreeDsFault);
    assert.doesNotMatch(JSON.stringify(fault), /4000010/);
  }
  const tooLong = { ...veReq, pan: `${veReq.pan}0000` };
  assert.throws(
    () => writeXml("VEReq", tooLong),
    (error) => error instanceof Error && !`${error.message}${error.stack}`.includes(veReq.pan),
  );
});

test("a PARes never shows more than the last four digits", () => {
  const xml = writeUnsignedPaRes(paRes).replace(paRes.pan, veReq.pan);

  assert.deepEqual(readUnverifiedPaRes(xml), new ThreeDsFault("malformed_element", "PARes/pan"));
});

test("a value that does not fit its table is not written", () => {
  const named = (name: string) => ({ ...paReq, merchant: { ...paReq.merchant, name } });

  assert.throws(
    () => writeXml("PAReq", named("n".repeat(26))),
    /PAReq\/Merchant\/name does not fit/,
  );
  assert.throws(() => writeXml("PAReq", named("\ud800")), /does not fit/);
  assert.throws(() => writeXml("PAReq", { ...paReq, messageId: '"' }), /Message\/id does not fit/);
  assert.throws(() => writeUnsignedPaRes({ ...paRes, id: paRes.messageId }), /id of Message too/);
});

test("a fault has the code of the error that answers it", () => {
  assert.equal(errorCodeFor(new ThreeDsFault("other_root")), "1");
  assert.equal(errorCodeFor(new ThreeDsFault("other_message")), "2");
  assert.equal(errorCodeFor(new ThreeDsFault("missing_element")), "3");
  assert.equal(errorCodeFor(new ThreeDsFault("unknown_critical_extension")), "4");
  assert.equal(errorCodeFor(new ThreeDsFault("malformed_element")), "5");
  assert.equal(errorCodeFor(new ThreeDsFault("other_version")), "6");
});

// biome-ignore format: a table
const changes: readonly (readonly [from: string | RegExp, to: string, reason: string, element?: string])[] = [
  ["?><ThreeDSecure>",           '?><!DOCTYPE ThreeDSecure><ThreeDSecure>', "forbidden_xml"],
  ["?><ThreeDSecure>",           '?><!DOCTYPE a SYSTEM "file:///a"><ThreeDSecure>', "forbidden_xml"],
  ["?><ThreeDSecure>",           "?><?page a?><ThreeDSecure>",         "forbidden_xml"],
  ["<CH>",                       "<?page a?><CH>",                     "forbidden_xml"],
  ["<CH>",                       "<!-- a --><CH>",                     "forbidden_xml"],
  ["account 1",                  "account<!-- --> 1",                  "forbidden_xml"],
  ["account 1",                  "<![CDATA[account 1]]>",              "forbidden_xml"],
  ["account 1",                  "&account;",                          "forbidden_xml"],
  ["account 1",                  "a & b",                              "forbidden_xml"],
  ["account 1",                  "a&#0;b",                             "forbidden_xml"],
  ["account 1",                  "a&#xD800;b",                         "forbidden_xml"],
  ["account 1",                  "a&#x110000;b",                       "forbidden_xml"],
  ["account 1",                  "a\u0000b",                           "malformed_xml"],
  ["account 1",                  "a]]>b",                              "malformed_xml"],
  ["</ThreeDSecure>",            "</ThreeDSecure><ThreeDSecure/>",     "malformed_xml"],
  ["</ThreeDSecure>",            "</ThreeDSecure>a",                   "malformed_xml"],
  ["</ThreeDSecure>",            "",                                   "malformed_xml"],
  ["</CH>",                      "</ch>",                              "malformed_xml"],
  ["<CH>",                       "<CH>text",                           "malformed_xml"],
  ['id="PAReq-1"',               'id="PAReq-1" id="PAReq-1"',          "malformed_xml"],
  ['id="PAReq-1"',               "id=PAReq-1",                         "malformed_xml"],
  ["<CH>",                       `${"<a>".repeat(20)}<CH>`,            "malformed_xml"],
  [/<(\/?)ThreeDSecure>/g,       "<$1threeDSecure>",                   "other_root"],
  [/<(\/?)Message/g,             "<$1Massage",                         "other_message"],
  [/<(\/?)PAReq/g,               "<$1PAReqs",                          "other_message"],
  ["</Message>",                 '</Message><Message id="2"/>',        "repeated_element", "Message"],
  ["</PAReq>",                   "</PAReq><PAReq/>",                   "repeated_element", "PAReq"],
  [' id="PAReq-1"',              "",                                   "missing_element", "Message/id"],
  ['"PAReq-1"',                  '"&apos;or 1"',                       "malformed_element", "Message/id"],
  ["<PAReq>",                    '<PAReq id="1">',                     "malformed_element", "PAReq"],
  ["1.0.2",                      "1.0.1",                              "other_version", "PAReq/version"],
  ["<version>1.0.2</version>",   "",                                   "missing_element", "PAReq/version"],
  ["<CH>",                       "<version>1.0.2</version><CH>",       "repeated_element", "PAReq/version"],
  [/<CH>.*<.CH>/,                "",                                   "missing_element", "PAReq/CH"],
  [/(<CH>.*<.CH>)/,              "$1$1",                               "repeated_element", "PAReq/CH"],
  ["<expiry>2912</expiry>",      "",                                   "missing_element", "PAReq/CH/expiry"],
  ["<expiry>",                   "<expiry>2912</expiry><expiry>",      "repeated_element", "PAReq/CH/expiry"],
  ["<expiry>",                   "<expires>2912</expires><expiry>",    "unknown_element", "PAReq/CH"],
  ["<expiry>2912</expiry>",      "<expiry><a/></expiry>",              "malformed_element", "PAReq/CH/expiry"],
  ["<expiry>",                   '<expiry a="1">',                     "malformed_element", "PAReq/CH/expiry"],
  ["2912",                       "2913",                               "malformed_element", "PAReq/CH/expiry"],
  ["2912",                       " 2912",                              "malformed_element", "PAReq/CH/expiry"],
  ["account 1",                  "a".repeat(29),                       "malformed_element", "PAReq/CH/acctID"],
  ["account 1",                  "a&#10;b",                            "malformed_element", "PAReq/CH/acctID"],
  ["<acqBIN>400001",             `<acqBIN>${"4".repeat(12)}`,          "malformed_element", "PAReq/Merchant/acqBIN"],
  ["GW0000000000042",            "G".repeat(25),                       "malformed_element", "PAReq/Merchant/merID"],
  ["https://",                   "javascript:",                        "malformed_element", "PAReq/Merchant/url"],
  [">276<",                      ">DE<",                               "malformed_element", "PAReq/Merchant/country"],
  ["QEjRWc=",                    "QEjRWd=",                            "malformed_element", "PAReq/Purchase/xid"],
  ["QEjRWc=",                    "QEj",                                "malformed_element", "PAReq/Purchase/xid"],
  ["20261114 ",                  "20261314 ",                          "malformed_element", "PAReq/Purchase/date"],
  [" 09:30:15",                  "T09:30:15",                          "malformed_element", "PAReq/Purchase/date"],
  [">1042<",                     ">10.42<",                            "malformed_element", "PAReq/Purchase/purchAmount"],
  [">1042<",                     `>${"1".repeat(13)}<`,                "malformed_element", "PAReq/Purchase/purchAmount"],
  ["</PAReq>",                   '<Extension id="a" critical="true"/></PAReq>', "unknown_critical_extension", "PAReq/Extension"],
  ["</PAReq>",                   '<Extension id="a"/></PAReq>',        "unknown_critical_extension", "PAReq/Extension"],
];

test("a faulty PAReq is refused for its fault", () => {
  for (const [from, to, reason, element] of changes) {
    const xml = writeXml("PAReq", paReq).replace(from, to);
    const expected = new ThreeDsFault(reason as ThreeDsFault["reason"], element);
    assert.deepEqual(readXml("PAReq", xml), expected, `${from} -> ${to}`);
  }
});

// biome-ignore format: a table
const harmless: readonly (readonly [from: string | RegExp, to: string])[] = [
  [/<\?xml.*\?>/,                ""],
  [/^/,                          "\uFEFF"],
  [/></g,                        ">\r\n\t <"],
  ['"PAReq-1"',                  "'PAReq-1'"],
  ["<ThreeDSecure>",             '<ThreeDSecure xmlns:a="b">'],
  ["account 1",                  "&#97;ccount&#x20;1"],
  [/(<desc>.*?<.desc>)(.*)(<.Purchase>)/, "$2$1$3"],
  ["</PAReq>",                   '<Extension id="a" critical="false"><b c="d">e</b></Extension></PAReq>'],
];

test("deviations that change nothing are tolerated", () => {
  for (const [from, to] of harmless) {
    const xml = writeXml("PAReq", paReq).replace(from, to);
    assert.notEqual(xml, writeXml("PAReq", paReq));
    assert.deepEqual(readXml("PAReq", xml), paReq, `${from} -> ${to}`);
  }
});

test("any text is read or refused", () => {
  const pieces = writeXml("PAReq", paReq).split(/(?=<)|(?<=>)/);
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.constantFrom(...pieces), fc.string())), (parts) => {
      const result = readXml("PAReq", parts.join(""));
      assert.ok(result instanceof ThreeDsFault || result.messageId === "PAReq-1");
    }),
  );
});

function reasonOf(result: unknown): string | undefined {
  return result instanceof ThreeDsFault ? result.reason : undefined;
}

/** The form fields PaReq and PaRes, with the changes that browsers and attackers make. */
const xml = writeXml("PAReq", paReq);

test("a packed message is a zlib stream in base64 and is read back", () => {
  const packed = packPa(xml);

  assert.match(packed, /^eJ[A-Za-z0-9+/]+=*$/);
  assert.equal(unpackPa(packed), xml);
});

test("any packed text is read back", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      assert.equal(unpackPa(packPa(`<a>${text}`)), `<a>${text}`);
    }),
  );
});

test("pluses that a form turned into spaces are restored", () => {
  const packed = packPa(vary(/\+/));

  assert.match(packed, /\+/);
  assert.equal(unpackPa(packed.replaceAll("+", " ")), vary(/\+/));
});

test("a plus at the end that a form turned into a space and trimmed is restored", () => {
  const text = vary(/\+$/);

  assert.equal(unpackPa(packPa(text).replaceAll("+", " ").trim()), text);
});

test("base64 in lines is read", () => {
  const packed = packPa(xml);

  assert.equal(unpackPa(packed.replace(/.{76}/g, "$&\r\n")), xml);
  assert.equal(unpackPa(`${packed.replace(/.{64}/g, "$&\n")}\n`), xml);
});

test("raw deflate is read as well", () => {
  assert.equal(unpackPa(deflateRawSync(xml).toString("base64")), xml);
  assert.equal(unpackPa(deflateRawSync(xml, { level: 0 }).toString("base64")), xml);
});

// biome-ignore format: a table
const broken: readonly (readonly [what: string, text: string])[] = [
  ["empty",               ""],
  ["no base64",           "eJ-_"],
  ["cut base64",          packPa(xml).slice(0, -7)],
  ["padding inside",      `eJ==${packPa(xml)}`],
  ["plain XML",           Buffer.from(xml).toString("base64")],
  ["gzip",                gzipSync(xml).toString("base64")],
  ["cut stream",          deflateSync(xml).subarray(0, 100).toString("base64")],
  ["wrong checksum",      Buffer.concat([deflateSync(xml).subarray(0, -4), Buffer.alloc(4)]).toString("base64")],
  ["bytes outside UTF-8", deflateSync(Buffer.from([0x3c, 0xe4, 0x3e])).toString("base64")],
];

test("broken base64, streams and characters are refused", () => {
  for (const [what, text] of broken) {
    assert.deepEqual(unpackPa(text), new ThreeDsFault("malformed_encoding"), what);
  }
});

test("a bomb is refused without being inflated", () => {
  const bomb = deflateSync(Buffer.alloc(64 * 1024 * 1024)).toString("base64");
  const raw = deflateRawSync(Buffer.alloc(1024 * 1024)).toString("base64");
  const before = process.memoryUsage().arrayBuffers;

  assert.deepEqual(unpackPa(bomb), new ThreeDsFault("too_large"));
  assert.deepEqual(unpackPa(bomb, { maxBytes: 1024 * 1024 }), new ThreeDsFault("too_large"));
  assert.deepEqual(unpackPa(raw), new ThreeDsFault("too_large"));
  assert.ok(process.memoryUsage().arrayBuffers - before < 16 * 1024 * 1024);
});

test("the limit is the size of the XML, to the byte", () => {
  const packed = packPa("x".repeat(1000));

  assert.equal(unpackPa(packed, { maxBytes: 1000 }), "x".repeat(1000));
  assert.deepEqual(unpackPa(packed, { maxBytes: 999 }), new ThreeDsFault("too_large"));
  assert.deepEqual(unpackPa("A".repeat(1_000_000)), new ThreeDsFault("too_large"));
});

test("any form value is unpacked or refused", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.base64String()), (text) => {
      const result = unpackPa(text);
      assert.ok(typeof result === "string" || result instanceof ThreeDsFault);
    }),
  );
});

/** Returns a message whose packed form contains the character. */
function vary(wanted: RegExp): string {
  for (let count = 0; ; count += 1) {
    const text = `${xml}${count}`;
    if (wanted.test(packPa(text))) return text;
  }
}
