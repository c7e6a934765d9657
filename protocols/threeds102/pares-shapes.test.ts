/** PARes as different programs write and sign them, all of which are read alike. */
import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { writePaResElement } from "./codec.ts";
import { packPa, paResShapes, signPaRes, ThreeDsFault, unpackPa, verifyPaRes } from "./index.ts";
import { keys, paRes, signElement, signer, trust, writeUnsignedPaRes } from "./samples.ts";
import { signByXmlCrypto, verifyByXmlCrypto, type Wishes } from "./testing/xml-crypto.ts";
import { signatureNamespace } from "./xml-signature.ts";

const { messageId: _, ...covered } = paRes;
const signed = signPaRes(paRes, signer);

test("a PARes that an issuer signed in 2020 is verified under its root, at its time", () => {
  const xml = readFileSync(new URL("./vectors/issuer-pares.xml", import.meta.url), "utf8");
  const root = rootIn(xml);
  const now = Date.UTC(2020, 7, 12, 6, 26);

  const read = verifyPaRes(xml, { roots: [root], now });

  assert.ok(!(read instanceof ThreeDsFault));
  assert.deepEqual(
    [read.purchase.purchAmount, read.tx.status, read.tx.eci, read.tx.cavv],
    ["1550000", "Y", "05", "AAABAFRSZTUWlTNAiVJlAAAAAAA="],
  );
  assert.equal(reasonOf(verifyPaRes(xml, { ...trust, now })), "untrusted_chain");
  const changed = xml.replace("1550000", "1550001");
  assert.equal(reasonOf(verifyPaRes(changed, { roots: [root], now })), "wrong_signature");
});

test("every written form is verified, by xml-crypto too", () => {
  for (const shape of paResShapes) {
    for (const digest of ["sha1", "sha256"] as const) {
      const xml = signPaRes(paRes, { ...signer, digest, shape });
      assert.deepEqual(verifyPaRes(xml, trust), covered, `${shape} ${digest}`);
      assert.ok(verifyByXmlCrypto(xml, keys.signer), `${shape} ${digest}`);
    }
  }
});

test("the forms differ as those of live ACSs do", () => {
  const of = (shape: (typeof paResShapes)[number]) => signPaRes(paRes, { ...signer, shape });

  assert.doesNotMatch(of("inclusive"), /SignedInfo xmlns|Transform|exc-c14n/);
  assert.match(of("repeated-namespace"), /<SignedInfo xmlns="[^"]+xmldsig#">/);
  assert.match(of("exclusive"), /<ds:Transform Algorithm="[^"]+exc-c14n#"/);
});

/**
 * A PARes inside of namespaces, which the inclusive form takes over and the exclusive one does not.
 */
const spacious = writeUnsignedPaRes(paRes)
  .replace(
    "<ThreeDSecure>",
    '<ThreeDSecure xmlns:b="urn:b" xmlns:a="urn:a" b:note="1 &gt; 0" lang="en">',
  )
  .replace("<Message ", "\n  <Message ")
  .replace("<PARes ", "\r\n\t<PARes ")
  .replace("<TX>", "\n<TX>\n  ")
  .replace(
    "</PARes>",
    '<Extension id="x" critical="false"><a:c z="1" a:d="&quot;&#9;"/></Extension></PARes>',
  );

// biome-ignore format: a table
const signings: readonly Wishes[] = [
  {},
  { prefix: "ds" },
  { form: "exclusive" },
  { form: "exclusive", prefix: "ds" },
  { referenceForm: "exclusive" },
  { form: "exclusive", referenceForm: "exclusive" },
  { form: "exclusive", referenceForm: "exclusive", prefix: "dsig" },
  { form: "exclusive", referenceForm: "exclusive", prefix: "ds", prefixes: ["b", "unknown", "#default"] },
  { form: "exclusive", referenceForm: "exclusive", prefixes: ["a", "b"] },
];

test("signatures of another program are read, in every form and with every prefix", () => {
  for (const wishes of signings) {
    for (const xml of [writeUnsignedPaRes(paRes), spacious]) {
      const result = verifyPaRes(signByXmlCrypto(xml, wishes), trust);
      assert.deepEqual(result, covered, JSON.stringify(wishes));
    }
  }
});

// biome-ignore format: a table
const unsignedParts: readonly (readonly [what: string, xml: string])[] = [
  ["lines in base64",          signed.replace(/(<SignatureValue>|<X509Certificate>)(.{64})/g, "$1&#13;\n$2\r\n")],
  ["space around base64",      signed.replace(/(<SignatureValue>)(.*?)(<)/, "$1\n  $2\t\n$3")],
  ["lines between elements",   signed.replace(/(<KeyInfo>|<X509Data>|<.X509Certificate>|<Signature |<.Message>)/g, "\r\n  $1")],
  ["a revocation list",        signed.replace("<X509Data>", "<X509Data><X509CRL>MAA=</X509CRL>")],
  ["the names of the signer",  signed.replace("<X509Data>", "<X509Data><X509SubjectName>CN=a</X509SubjectName><X509IssuerSerial><X509IssuerName>CN=b</X509IssuerName><X509SerialNumber>1</X509SerialNumber></X509IssuerSerial>")],
  ["data by certificate",      signed.replace("</X509Certificate><X509Certificate>", "</X509Certificate></X509Data><X509Data><X509Certificate>")],
  ["the name of the key",      signed.replace("<KeyInfo>", "<KeyInfo><KeyName>acs</KeyName>")],
  ["ids in the signature",     signed.replace("<KeyInfo>", '<KeyInfo Id="k">').replace("<Signature ", '<Signature Id="s" ')],
  ["a byte order mark",        `\uFEFF${signed}`],
  ["no declaration",           signed.replace(/^<\?.*?\?>/, "")],
  ["the namespace once more",  signed.replace("<SignedInfo>", `<SignedInfo xmlns="${signatureNamespace}">`)],
  ["and in every element",     signed.replace(/<(SignedInfo|Reference|DigestMethod|KeyInfo|X509Data)(?=[ >])/g, `<$1 xmlns="${signatureNamespace}"`)],
  ["unused ones in exclusive", signPaRes(paRes, { ...signer, shape: "exclusive" }).replace("<ThreeDSecure>", '<ThreeDSecure xmlns:a="b">')],
  ["another writing of tags",  signed.replace('<PARes id="PARes-1">', "<PARes\n  id = 'PARes-1' >").replace(/><\/DigestMethod>/, "/>")],
];

test("parts that the signature does not cover, or that canonical XML makes equal, may differ", () => {
  for (const [what, xml] of unsignedParts) {
    assert.notEqual(xml, signed, what);
    assert.deepEqual(verifyPaRes(xml, trust), covered, what);
  }
});

test("a signed PARes of twice as many elements costs about twice as much", () => {
  const [half, whole] = [7_250, 14_500].map((count) => {
    const element = (part: string) =>
      writePaResElement(paRes).replace(
        "</PARes>",
        `<Extension critical="false">${part.repeat(count)}</Extension></PARes>`,
      );
    const packed = packPa(signElement(element("<a/>"), element("<a></a>")));
    assert.ok(packed.length < 4_500, `${packed.length}`);
    const xml = unpackPa(packed);
    assert.ok(typeof xml === "string");
    return costMs(() => assert.deepEqual(verifyPaRes(xml, trust), covered));
  });

  assert.ok(half !== undefined && whole !== undefined);
  // With a quadratic algorithm, the whole would take four times as long.
  assert.ok(whole < 3 * half, `${whole} ms against ${half} ms`);
});

/**
 * Returns the processor time of a run, which other processes do not change. Some kernels count it
 * in steps of 10 ms, so many runs are measured together.
 */
function costMs(run: () => void): number {
  const before = process.cpuUsage();
  let runs = 0;
  for (;;) {
    run();
    runs += 1;
    const { user, system } = process.cpuUsage(before);
    if (user + system >= 200_000) return (user + system) / 1000 / runs;
  }
}

function rootIn(xml: string): string {
  const certificates = [...xml.matchAll(/<X509Certificate>([^<]+)</g)].map(
    ([, base64 = ""]) => new X509Certificate(Buffer.from(base64, "base64")),
  );
  const root = certificates.find(({ subject, issuer }) => subject === issuer);
  return root?.toString() ?? assert.fail("no root");
}

function reasonOf(result: unknown): string | undefined {
  return result instanceof ThreeDsFault ? result.reason : undefined;
}
