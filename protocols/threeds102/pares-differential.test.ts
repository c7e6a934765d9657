/**
 * Our canonical XML and signature check against xml-crypto, an independent implementation, on
 * mutations of signed PARes in several shapes. Ours must never accept what xml-crypto refuses.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { openEnvelope, readPaResElement } from "./codec.ts";
import { type PaRes, paResShapes, signPaRes, ThreeDsFault, verifyPaRes } from "./index.ts";
import { keys, paRes, signer, trust, writeUnsignedPaRes } from "./samples.ts";
import { signByXmlCrypto, verifyByXmlCrypto } from "./testing/xml-crypto.ts";
import { parseXml } from "./xml.ts";
import { signatureNamespace } from "./xml-signature.ts";

const { messageId: _, ...covered } = paRes;
const spacious = writeUnsignedPaRes(paRes)
  .replace("<ThreeDSecure>", '<ThreeDSecure xmlns:b="urn:b" xmlns:a="urn:a">')
  .replace("<TX>", "\n  <TX>\n")
  .replace(
    "</PARes>",
    '<Extension critical="false" ><b:c z="1" a:y="&#9;&lt;" xmlns=""/><c/></Extension></PARes>',
  );

const samples: readonly string[] = [
  ...paResShapes.map((shape) => signPaRes(paRes, { ...signer, shape })),
  signByXmlCrypto(spacious),
  signByXmlCrypto(spacious, { form: "exclusive", prefix: "ds" }),
  signByXmlCrypto(spacious, { form: "exclusive", referenceForm: "exclusive", prefixes: ["a"] }),
];

test("both accept the samples and read the same", () => {
  for (const [index, xml] of samples.entries()) {
    assert.deepEqual(verifyPaRes(xml, trust), covered, `${index}`);
    assert.deepEqual(readByXmlCrypto(xml), covered, `${index}`);
  }
});

/**
 * The inserted texts: parts of XML and its namespaces, and values that matter. `xml:lang` is not
 * among them, because xml-crypto does not take it over from outer elements, as the inclusive form
 * demands.
 */
// biome-ignore format: a table
const insertions = [
  "", " ", "\n", "\r\n", "&#10;", "&#xD;", "&amp;", "&lt;", "<", ">", '"', "'", "Y", "N", "1", "=",
  "<a/>", "<a></a>", "<a:a/>", "<a>1</a>", ' a="1"', ' xmlns=""', ' xmlns="urn:a"', ' xmlns:a="urn:a"', ' xmlns:c="urn:c"',
  ' a:b="1"', ' b:b="2"', ` xmlns="${signatureNamespace}"`, ` xmlns:ds="${signatureNamespace}"`,
  ' id="PARes-1"', ' Id="PARes-1"', "<!-- -->", "<?a?>", "<![CDATA[Y]]>", "&a;", "ds:", "<Transforms></Transforms>",
];

/**
 * Matches an attribute that xml-crypto mistakes for a namespace declaration and leaves unsigned.
 */
const likeDeclaration = /\sxmlns[\w.-]/;

type Mutation = {
  readonly sample: number;
  readonly at: number;
  readonly edge: "before tag" | "in tag" | "after tag" | "anywhere";
  readonly removed: number;
  readonly inserted: string;
};

const anyMutation: fc.Arbitrary<Mutation> = fc.record({
  sample: fc.nat({ max: samples.length - 1 }),
  // Most of a message is certificates. The changes go to the edges of tags, where the values are.
  at: fc.nat(),
  edge: fc.constantFrom("before tag", "in tag", "after tag", "anywhere"),
  removed: fc.constantFrom(0, 0, 0, 0, 0, 0, 1),
  inserted: fc.constantFrom(...insertions),
});

test("for any mutation, ours accepts nothing that xml-crypto refuses, and both read alike", () => {
  let [accepted, refused] = [0, 0];
  const property = fc.property(
    fc.array(anyMutation, { minLength: 1, maxLength: 2 }),
    (mutations) => {
      const [{ sample } = { sample: 0 }] = mutations;
      const xml = mutations.reduce(mutate, samples[sample] ?? "");
      const ours = verifyPaRes(xml, trust);
      const theirs = readByXmlCrypto(xml);
      if (!(ours instanceof ThreeDsFault)) {
        accepted += 1;
        assert.deepEqual(ours, covered, xml);
        assert.deepEqual(theirs, ours, xml);
      } else {
        refused += 1;
        // In other cases, ours is stricter about the form. A signature is valid for both or for
        // neither.
        const isComparable = !likeDeclaration.test(xml);
        if (ours.reason === "wrong_signature" && isComparable) assert.equal(theirs, undefined, xml);
      }
    },
  );
  fc.assert(property, { numRuns: 1_000 });
  assert.ok(accepted > 10 && refused > 500, `${accepted} accepted, ${refused} refused`);
});

function mutate(xml: string, { at, edge, removed, inserted }: Mutation): string {
  const end = Math.max(1, xml.search(/<(ds:)?SignatureValue/));
  const tags = [...xml.slice(0, end).matchAll(/<[^>]*>/g)];
  const tag = tags[at % tags.length];
  const start = tag?.index ?? 0;
  const length = tag?.[0].length ?? 0;
  const places = {
    "before tag": start,
    "in tag": start + length - (tag?.[0].endsWith("/>") ? 2 : 1),
    "after tag": start + length,
    anywhere: at % end,
  };
  const place = places[edge];
  return xml.slice(0, place) + inserted + xml.slice(place + removed);
}

function readByXmlCrypto(xml: string): PaRes | undefined {
  // The parser of xml-crypto repairs texts that are not XML, and prints the result.
  if (openEnvelope(xml) instanceof ThreeDsFault) return undefined;
  const signed = verifyByXmlCrypto(xml, keys.signer);
  if (signed === undefined) return undefined;
  const element = parseXml(signed);
  if (element instanceof ThreeDsFault) return undefined;
  const read = readPaResElement(element);
  return read instanceof ThreeDsFault ? undefined : read;
}
