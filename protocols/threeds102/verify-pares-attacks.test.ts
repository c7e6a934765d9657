/** Every way to slip something past a signature: by hand, and by chance. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import fc from "fast-check";
import { packPa, signPaRes, ThreeDsFault, unpackPa, verifyPaRes } from "./index.ts";
import { paRes, signer, trust, writeUnsignedPaRes } from "./samples.ts";
import { canonicalization } from "./sign-pares.ts";

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
  ["the same id on the envelope",    changed('<Message id="PAReq-1"', '<Message id="PARes-1"'),  "wrong_signature"],
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
  ["another hash for the signature", changed("xmldsig#rsa-sha1", "xmldsig#hmac-sha1"),           "other_algorithm"],
  ["another hash for the PARes",     changed("xmldsig#sha1", "xmldsig#md5"),                     "other_algorithm"],
  ["another canonical form",         changed(canonicalization, "http://www.w3.org/2001/10/xml-exc-c14n#"), "other_algorithm"],
  ["canonical form with comments",   changed(canonicalization, `${canonicalization}#WithComments`), "other_algorithm"],
  ["a transform",                    changed("<DigestMethod", '<Transforms><Transform Algorithm="http://www.w3.org/TR/1999/REC-xslt-19991116"></Transform></Transforms><DigestMethod'), "other_algorithm"],
  ["a changed signature",            changed("<SignatureValue>", "<SignatureValue>AAAA"),        "wrong_signature"],
  ["no value of the signature",      changed(/<SignatureValue>.*<.SignatureValue>/, "<SignatureValue></SignatureValue>"), "wrong_signature"],
  ["a broken certificate",           changed("<X509Certificate>M", "<X509Certificate>N"),        "malformed_certificate"],
  ["no base64 as certificate",       changed("<X509Certificate>M", "<X509Certificate>*"),        "malformed_certificate"],
];

test("nothing can be wrapped around, moved or put into a signed message", () => {
  for (const [what, xml, reason] of attacks) {
    assert.notEqual(xml, signed, what);
    assert.equal(reasonOf(verifyPaRes(xml, trust)), reason, what);
  }
});

test("whatever is changed, values are as signed or there are none", () => {
  // Most of a message is certificates; half of the changes go where the values are.
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

test("whatever is moved or repeated, values are as signed or there are none", () => {
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

test("whatever byte of the form field is changed, values are as signed or there are none", () => {
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
