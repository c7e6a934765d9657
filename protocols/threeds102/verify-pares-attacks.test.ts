/** Attempts to get unsigned content past the signature check, made by hand and at random. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { X509Certificate } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { packPa, signPaRes, ThreeDsFault, unpackPa, verifyPaRes } from "./index.ts";
import { keys, paRes, signElement, signer, trust, writeUnsignedPaRes } from "./samples.ts";
import { canonicalForms, signatureNamespace } from "./xml-signature.ts";

const canonicalization = canonicalForms.inclusive;

const signed = signPaRes(paRes, signer);
const { messageId: _, ...covered } = paRes;
const forged = part(writeUnsignedPaRes({ ...paRes, id: "PARes-2" }), "PARes");
const genuine = part(signed, "PARes");
const signature = part(signed, "Signature");

// biome-ignore format: a table
const attacks: readonly (readonly [what: string, xml: string, reason: string])[] = [
  ["no signature",                   without(signature),                                         "unsigned"],
  ["another message",                signed.replaceAll("PARes", "PAReq"),                        "repeated_element"],
  ["changed outcome",                changed("<status>Y", "<status>A"),                          "wrong_signature"],
  ["changed cavv",                   changed("AAEESY", "BAEESY"),                                "wrong_signature"],
  ["forged before",                  changed(genuine, forged + genuine),                         "repeated_element"],
  ["forged after",                   changed(genuine, genuine + forged),                         "repeated_element"],
  ["forged last",                    changed(signature, signature + forged),                     "repeated_element"],
  ["forged with a prefix",           changed(genuine, genuine + forged.replace(/<(\/?)PARes/g, "<$1a:PARes")), "repeated_element"],
  ["genuine inside the forged",      changed(genuine, inside(forged, genuine)),                  "repeated_element"],
  ["genuine in a second message",    changed("</Message>", `</Message><Message id="2">${genuine}</Message>`), "repeated_element"],
  ["genuine renamed inside forged",  changed(genuine, inside(forged, genuine.replace(/<(\/?)PARes/g, "<$1Hidden"))), "misplaced_signature"],
  ["genuine in the signature",       changed(genuine, forged).replace("</Signature>", `<Object>${genuine}</Object></Signature>`), "repeated_element"],
  ["object in the signature",        changed("</Signature>", "<Object>a</Object></Signature>"),  "misplaced_signature"],
  ["signature first",                changed(genuine + signature, signature + genuine),          "other_message"],
  ["signature inside",               without(signature).replace("</PARes>", `${signature}</PARes>`), "misplaced_signature"],
  ["signature in an extension",      without(signature).replace("</PARes>", `<Extension critical="false">${signature}</Extension></PARes>`), "misplaced_signature"],
  ["signature outside",              without(signature).replace("</Message>", `</Message>${signature}`), "repeated_element"],
  ["two signatures",                 changed(signature, signature + signature),                  "misplaced_signature"],
  ["a second signature in the PARes", changed("</PARes>", `<Extension critical="false">${signature}</Extension></PARes>`), "misplaced_signature"],
  ["something behind the signature", changed("</Signature>", "</Signature><a/>"),                "misplaced_signature"],
  ["two lists of what is signed",    changed("</SignedInfo>", "</SignedInfo><SignedInfo/>"),     "misplaced_signature"],
  ["two references",                 changed(/(<Reference.*<.Reference>)/, "$1$1"),              "misplaced_signature"],
  ["reference to the envelope",      changed("#PARes-1", "#PAReq-1"),                            "misplaced_signature"],
  ["reference to everything",        changed("#PARes-1", ""),                                    "misplaced_signature"],
  ["reference by path",              changed("#PARes-1", "#xpointer(id('PARes-1'))"),            "misplaced_signature"],
  ["another id on the PARes",        changed('<PARes id="PARes-1"', '<PARes id="PARes-2"'),      "misplaced_signature"],
  ["the same id on the envelope",    changed('<Message id="PAReq-1"', '<Message id="PARes-1"'),  "misplaced_signature"],
  ["the same id in other letters",   changed("<KeyInfo>", '<KeyInfo ID="PARes-1">'),             "misplaced_signature"],
  ["the same id with a prefix",      changed("<KeyInfo>", '<KeyInfo xmlns:a="b" a:Id=" PARes-1">'), "misplaced_signature"],
  ["the same id on the signature",   changed("<Signature ", '<Signature Id="PARes-1" '),         "misplaced_signature"],
  ["an id in other letters",         changed('<PARes id="PARes-1"', '<PARes Id="PARes-1"'),      "missing_element"],
  ["two ids on the PARes",           changed('<PARes id="PARes-1"', '<PARes id="PARes-1" Id="a"'), "malformed_element"],
  ["quotes in the id",               changed(/PARes-1"/g, "a'b\""),                              "malformed_element"],
  ["comment in a value",             changed("<status>Y", "<status>Y<!-- -->"),                  "forbidden_xml"],
  ["comment between values",         changed("<TX>", "<!-- a --><TX>"),                          "forbidden_xml"],
  ["comment beside the signature",   changed("<Signature ", "<!-- a --><Signature "),            "forbidden_xml"],
  ["instruction in a value",         changed("<status>Y", "<status>Y<?a?>"),                     "forbidden_xml"],
  ["section in a value",             changed("<status>Y", "<status><![CDATA[Y]]>"),              "forbidden_xml"],
  ["document type",                  changed("<ThreeDSecure>", "<!DOCTYPE a><ThreeDSecure>"),    "forbidden_xml"],
  ["namespace of the PARes",         changed("<PARes ", '<PARes xmlns="a" '),                    "wrong_signature"],
  ["namespace of the envelope",      changed("<ThreeDSecure>", '<ThreeDSecure xmlns:a="b">'),    "wrong_signature"],
  ["namespace of the signature",     changed("<Signature xmlns=", "<Signature xmlns:a="),        "misplaced_signature"],
  ["namespace inside the signature", changed("<SignedInfo>", '<SignedInfo xmlns="a">'),          "misplaced_signature"],
  ["no namespace inside",            changed("<SignedInfo>", '<SignedInfo xmlns="">'),           "misplaced_signature"],
  ["namespace of a part",            changed("<DigestMethod ", '<DigestMethod xmlns="a" '),      "misplaced_signature"],
  ["namespace of the key",           changed("<KeyInfo>", '<KeyInfo xmlns="a">'),                "misplaced_signature"],
  ["namespace of a certificate",     signed.replaceAll("<X509Certificate>", '<X509Certificate xmlns="a">'), "malformed_certificate"],
  ["an unknown prefix",              changed("<KeyInfo>", "<KeyInfo><a:b/>"),                    "malformed_xml"],
  ["a prefix without a namespace",   changed("<KeyInfo>", '<KeyInfo xmlns:a="">'),               "malformed_xml"],
  ["another meaning of xml",         changed("<KeyInfo>", '<KeyInfo xmlns:xml="a">'),            "malformed_xml"],
  ["another meaning of xmlns",       changed("<KeyInfo>", '<KeyInfo xmlns:xmlns="a">'),          "malformed_xml"],
  ["an attribute under two prefixes", changed("<KeyInfo>", '<KeyInfo xmlns:a="c" xmlns:b="c" a:d="1" b:d="2">'), "malformed_xml"],
  ["a language around the PARes",    changed("<ThreeDSecure>", '<ThreeDSecure xml:lang="en">'),  "wrong_signature"],
  ["a signature of no namespace",    changed(`<Signature xmlns="${signatureNamespace}"`, "<Signature"), "misplaced_signature"],
  ["another hash for the signature", changed("xmldsig#rsa-sha1", "xmldsig#hmac-sha1"),           "other_algorithm"],
  ["another hash for the PARes",     changed("xmldsig#sha1", "xmldsig#md5"),                     "other_algorithm"],
  ["another canonical form",         changed(canonicalization, "http://www.w3.org/2006/12/xml-c14n11"), "other_algorithm"],
  ["the other canonical form",       changed(canonicalization, canonicalForms.exclusive),        "wrong_signature"],
  ["exclusive form with comments",   changed(canonicalization, `${canonicalForms.exclusive}WithComments`), "other_algorithm"],
  ["prefixes of the inclusive form", changed("></CanonicalizationMethod>", `>${prefixList("a")}</CanonicalizationMethod>`), "other_algorithm"],
  ["too many prefixes",              changedForm(prefixList("a ".repeat(33))),                   "other_algorithm"],
  ["two lists of prefixes",          changedForm(prefixList("a") + prefixList("b")),             "other_algorithm"],
  ["prefixes of no namespace",       changedForm(prefixList("a").replace(/xmlns="[^"]+"/, 'xmlns="a"')), "other_algorithm"],
  ["canonical form with comments",   changed(canonicalization, `${canonicalization}#WithComments`), "other_algorithm"],
  ["a style sheet",                  transformed("http://www.w3.org/TR/1999/REC-xslt-19991116"),  "other_algorithm"],
  ["a path",                         transformed("http://www.w3.org/TR/1999/REC-xpath-19991116"), "other_algorithm"],
  ["a filter",                       transformed("http://www.w3.org/2002/06/xmldsig-filter2"),    "other_algorithm"],
  ["the enveloped transform",        transformed(`${signatureNamespace}enveloped-signature`),     "other_algorithm"],
  ["base64 as transform",            transformed(`${signatureNamespace}base64`),                  "other_algorithm"],
  ["a path after canonical XML",     transformed(canonicalization, "http://www.w3.org/TR/1999/REC-xpath-19991116"), "other_algorithm"],
  ["two canonical forms",            transformed(canonicalization, canonicalForms.exclusive),     "other_algorithm"],
  ["a transform in no namespace",    transformed(canonicalization).replace("<Transform ", '<Transform xmlns="" '), "other_algorithm"],
  ["a transform that was not signed", transformed(canonicalization),                              "wrong_signature"],
  ["another length of the HMAC",     changed("></SignatureMethod>", "><HMACOutputLength>0</HMACOutputLength></SignatureMethod>"), "other_algorithm"],
  ["a changed signature",            changed("<SignatureValue>", "<SignatureValue>AAAA"),        "wrong_signature"],
  ["no value of the signature",      changed(/<SignatureValue>.*<.SignatureValue>/, "<SignatureValue></SignatureValue>"), "wrong_signature"],
  ["another key beside",             changed("<SignatureValue>", "<SignatureValue>AAAA").replace("<KeyInfo>", "<KeyInfo><KeyValue><RSAKeyValue><Modulus>AQAB</Modulus><Exponent>AQAB</Exponent></RSAKeyValue></KeyValue>"), "wrong_signature"],
  ["another signer's certificate",   changed(certificateOf(keys.signer), certificateOf(keys.oldSigner)), "wrong_signature"],
  ["an element in base64",           changed("</SignatureValue>", "<a/></SignatureValue>"),      "malformed_xml"],
  ["an entity as value",             changed("<status>Y", "<status>&yes;"),                      "forbidden_xml"],
  ["an entity in the signature",     changed("<X509Certificate>M", "<X509Certificate>&m;"),      "forbidden_xml"],
  ["an entity as namespace",         changed(`<Signature xmlns="${signatureNamespace}"`, '<Signature xmlns="&n;"'), "forbidden_xml"],
  ["comment in the signature",       changed("<DigestValue>", "<DigestValue><!-- a -->"),        "forbidden_xml"],
  ["comment in the id",              changed("#PARes-1", "#<!-- -->PARes-1"),                    "malformed_xml"],
  ["10,000 elements in each other",  changed("<TX>", `${"<a>".repeat(10_000)}${"</a>".repeat(10_000)}<TX>`), "malformed_xml"],
  ["too many namespaces",            changed("<KeyInfo>", `<KeyInfo ${Array.from({ length: 33 }, (_, at) => `xmlns:a${at}="b"`).join(" ")}>`), "forbidden_xml"],
  ["a broken certificate",           changed("<X509Certificate>M", "<X509Certificate>N"),        "malformed_certificate"],
  ["no base64 as certificate",       changed("<X509Certificate>M", "<X509Certificate>*"),        "malformed_certificate"],
];

test("nothing can be wrapped around, moved in or inserted into a signed message", () => {
  for (const [what, xml, reason] of attacks) {
    assert.notEqual(xml, signed, what);
    assert.equal(reasonOf(verifyPaRes(xml, trust)), reason, what);
  }
});

// biome-ignore format: a table
const signedAttacks: readonly (readonly [what: string, element: string, reason: string])[] = [
  ["another element",           `<PAReq id="PARes-1"></PAReq>`,                                     "repeated_element"],
  ["a second outcome",          genuine.replace("<status>", "<status>A</status><status>"),          "repeated_element"],
  ["an unknown element",        genuine.replace("<TX>", "<a></a><TX>"),                             "unknown_element"],
  ["14,500 unknown elements",   genuine.replace("<TX>", `${"<a></a>".repeat(7_000)}<TX>`),          "unknown_element"],
  ["an outcome with a prefix",  genuine.replace('id="PARes-1"', 'xmlns:a="b" id="PARes-1"').replace(/<(.?)status>/g, "<$1a:status>"), "unknown_element"],
  ["an outcome in a namespace", genuine.replace("<status>", '<status xmlns="a">'),                  "malformed_element"],
  ["an attribute of a value",   genuine.replace("<status>", '<status a="b">'),                      "malformed_element"],
  ["a second id of the PARes",  genuine.replace('id="PARes-1"', 'Id="PARes-1" id="PARes-1"'),       "malformed_element"],
  ["a PARes with a prefix",     genuine.replace(/<(.?)PARes/g, "<$1a:PARes").replace("<a:PARes", '<a:PARes xmlns:a="b"'), "other_message"],
  ["a critical extension",      genuine.replace("</PARes>", '<Extension critical="true"></Extension></PARes>'), "unknown_critical_extension"],
];

test("a message that an issuer has signed must follow the table too", () => {
  assert.deepEqual(verifyPaRes(signElement(genuine), trust), covered);
  for (const [what, element, reason] of signedAttacks) {
    assert.equal(reasonOf(verifyPaRes(signElement(element), trust)), reason, what);
  }
});

test("after any change, the values are the signed ones or there are none", () => {
  // Most of a message is certificates, so half of the changes go where the values are.
  const positions = fc.oneof(
    fc.nat({ max: signed.indexOf("<SignatureValue>") }),
    fc.nat({ max: signed.length - 1 }),
  );
  const insertion = fc.oneof(fc.string({ maxLength: 2 }), fc.constantFrom(..."<>&\"'/=YN A\n"));
  fc.assert(
    fc.property(positions, fc.nat({ max: 3 }), insertion, (at, removed, inserted) => {
      const xml = signed.slice(0, at) + inserted + signed.slice(at + removed);
      expectNothingNew(verifyPaRes(xml, trust));
    }),
    { numRuns: 400 },
  );
});

test("after any move or repetition, the values are the signed ones or there are none", () => {
  const pieces = signed.split(/(?=<)/);
  const places = fc.nat({ max: pieces.length });
  fc.assert(
    fc.property(places, places, places, fc.boolean(), (from, to, target, moves) => {
      const taken = pieces.slice(Math.min(from, to), Math.max(from, to));
      const rest = moves ? pieces.toSpliced(Math.min(from, to), taken.length) : pieces;
      expectNothingNew(verifyPaRes(rest.toSpliced(target, 0, ...taken).join(""), trust));
    }),
    { numRuns: 300 },
  );
});

test("after a change of any byte of the form field, the values are the signed ones or there are none", () => {
  const packed = Buffer.from(packPa(signed), "base64");
  fc.assert(
    fc.property(fc.nat({ max: packed.length - 1 }), fc.nat({ max: 255 }), (at, byte) => {
      const bytes = Buffer.from(packed);
      bytes[at] = byte;
      const xml = unpackPa(bytes.toString("base64"));
      expectNothingNew(xml instanceof ThreeDsFault ? xml : verifyPaRes(xml, trust));
    }),
  );
});

function expectNothingNew(result: unknown): void {
  if (!(result instanceof ThreeDsFault)) assert.deepEqual(result, covered);
}

function changed(from: string | RegExp, to: string): string {
  return signed.replace(from, to);
}

function changedForm(parameters: string): string {
  const method = `<CanonicalizationMethod Algorithm="${canonicalForms.exclusive}">${parameters}`;
  return changed(/<CanonicalizationMethod[^>]*>/, method);
}

function prefixList(list: string): string {
  return `<InclusiveNamespaces xmlns="${canonicalForms.exclusive}" PrefixList="${list}"/>`;
}

function transformed(...algorithms: readonly string[]): string {
  const list = algorithms.map((algorithm) => `<Transform Algorithm="${algorithm}"></Transform>`);
  return changed("<DigestMethod", `<Transforms>${list.join("")}</Transforms><DigestMethod`);
}

function certificateOf(pem: string): string {
  return new X509Certificate(pem).raw.toString("base64");
}

function without(text: string): string {
  return signed.replace(text, "");
}

function inside(outer: string, inner: string): string {
  return outer.replace("</PARes>", `<Extension critical="false">${inner}</Extension></PARes>`);
}

function part(xml: string, name: string): string {
  return new RegExp(`<${name}[ >].*</${name}>`, "s").exec(xml)?.[0] ?? assert.fail(name);
}

function reasonOf(result: unknown): string | undefined {
  return result instanceof ThreeDsFault ? result.reason : undefined;
}
