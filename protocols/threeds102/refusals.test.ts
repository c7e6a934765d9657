/** Everything that a reader refuses, shown on a PAReq, and what it bears. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { readPaReq, ThreeDsFault, writePaReq } from "./index.ts";
import { paReq } from "./samples.ts";

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

test("a PAReq with anything wrong is refused for that", () => {
  for (const [from, to, reason, element] of changes) {
    const xml = writePaReq(paReq).replace(from, to);
    const expected = new ThreeDsFault(reason as ThreeDsFault["reason"], element);
    assert.deepEqual(readPaReq(xml), expected, `${from} -> ${to}`);
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

test("what changes nothing is tolerated", () => {
  for (const [from, to] of harmless) {
    const xml = writePaReq(paReq).replace(from, to);
    assert.notEqual(xml, writePaReq(paReq));
    assert.deepEqual(readPaReq(xml), paReq, `${from} -> ${to}`);
  }
});

test("whatever is sent, a reader answers", () => {
  const pieces = writePaReq(paReq).split(/(?=<)|(?<=>)/);
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.constantFrom(...pieces), fc.string())), (parts) => {
      const result = readPaReq(parts.join(""));
      assert.ok(result instanceof ThreeDsFault || result.messageId === "PAReq-1");
    }),
  );
});
