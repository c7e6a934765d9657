/** Both canonical forms, with examples from the two recommendations and others made by hand. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type CanonicalForm, canonicalize } from "./canonical-xml.ts";
import { ThreeDsFault } from "./messages.ts";
import { parseXml, type XmlElement } from "./xml.ts";

const inclusive: CanonicalForm = { kind: "inclusive" };
const exclusive: CanonicalForm = { kind: "exclusive", prefixes: [] };
const withPrefixes = (...prefixes: readonly string[]): CanonicalForm => ({
  kind: "exclusive",
  prefixes,
});

/** The document of the recommendation without the attributes that its document type adds. */
test("start tags, end tags and attributes have one order and one form", () => {
  const document = `<doc>
   <e1   />
   <e2   ></e2>
   <e3   name = "elem3"   id="elem3"   />
   <e4   name="elem4"   id="elem4"   ></e4>
   <e5 a:attr="out" b:attr="sorted" attr2="all" attr="I'm"
      xmlns:b="http://www.ietf.org"
      xmlns:a="http://www.w3.org"
      xmlns="http://example.org"/>
   <e6 xmlns="" xmlns:a="http://www.w3.org">
      <e7 xmlns="http://www.ietf.org">
         <e8 xmlns="" xmlns:a="http://www.w3.org">
            <e9 xmlns="" xmlns:a="http://www.ietf.org"/>
         </e8>
      </e7>
   </e6>
</doc>`;
  const canonical = `<doc>
   <e1></e1>
   <e2></e2>
   <e3 id="elem3" name="elem3"></e3>
   <e4 id="elem4" name="elem4"></e4>
   <e5 xmlns="http://example.org" xmlns:a="http://www.w3.org" xmlns:b="http://www.ietf.org" attr="I'm" attr2="all" b:attr="sorted" a:attr="out"></e5>
   <e6 xmlns:a="http://www.w3.org">
      <e7 xmlns="http://www.ietf.org">
         <e8 xmlns="">
            <e9 xmlns:a="http://www.ietf.org"></e9>
         </e8>
      </e7>
   </e6>
</doc>`;
  assert.equal(canonicalize([parse(document)], inclusive), canonical);
});

// biome-ignore format: a table
const characters: readonly (readonly [written: string, canonical: string])[] = [
  ["<a>1\r\n2\r3</a>",                      "<a>1\n2\n3</a>"],
  ["<a>&#13;&#10;&#9;</a>",                 "<a>&#xD;\n\t</a>"],
  ["<a>&lt;&gt;&amp;&quot;&apos;\"'></a>",  "<a>&lt;&gt;&amp;\"'\"'&gt;</a>"],
  ["<a b='&lt;>&amp;&quot;&apos;'/>",       `<a b="&lt;>&amp;&quot;'"></a>`],
  ["<a b='1\r\n2\t3'/>",                    '<a b="1 2 3"></a>'],
  ["<a b='&#13;&#10;&#9;&#32;'/>",          '<a b="&#xD;&#xA;&#x9; "></a>'],
  ["<a>ü&#x1F600;</a>",                     "<a>ü😀</a>"],
];

test("characters are written as canonical XML demands", () => {
  for (const [written, canonical] of characters) {
    assert.equal(canonicalize([parse(written)], inclusive), canonical);
    assert.equal(canonicalize([parse(written)], exclusive), canonical);
  }
});

/** The first rows are from section 2 of the recommendation of the exclusive form. */
// biome-ignore format: a table
const parts: readonly (readonly [document: string, form: CanonicalForm, canonical: string])[] = [
  ['<n0:local xmlns:n0="foo:bar" xmlns:n3="ftp://example.org"><n1:elem2 xmlns:n1="http://example.net" xml:lang="en"><n3:stuff/></n1:elem2></n0:local>', inclusive,
    '<n1:elem2 xmlns:n0="foo:bar" xmlns:n1="http://example.net" xmlns:n3="ftp://example.org" xml:lang="en"><n3:stuff></n3:stuff></n1:elem2>'],
  ['<n0:local xmlns:n0="foo:bar" xmlns:n3="ftp://example.org"><n1:elem2 xmlns:n1="http://example.net" xml:lang="en"><n3:stuff/></n1:elem2></n0:local>', exclusive,
    '<n1:elem2 xmlns:n1="http://example.net" xml:lang="en"><n3:stuff xmlns:n3="ftp://example.org"></n3:stuff></n1:elem2>'],
  ['<n2:pdu xmlns:n1="http://example.com" xmlns:n2="http://foo.example" xml:lang="fr" xml:space="retain"><n1:elem2 xmlns:n1="http://example.net" xml:lang="en"/></n2:pdu>', inclusive,
    '<n1:elem2 xmlns:n1="http://example.net" xmlns:n2="http://foo.example" xml:lang="en" xml:space="retain"></n1:elem2>'],
  ['<n2:pdu xmlns:n1="http://example.com" xmlns:n2="http://foo.example" xml:lang="fr" xml:space="retain"><n1:elem2 xmlns:n1="http://example.net" xml:lang="en"/></n2:pdu>', exclusive,
    '<n1:elem2 xmlns:n1="http://example.net" xml:lang="en"></n1:elem2>'],
  ['<r xmlns="d" xmlns:a="1" xmlns:b="2"><e><f xmlns=""/></e></r>', inclusive,           '<e xmlns="d" xmlns:a="1" xmlns:b="2"><f xmlns=""></f></e>'],
  ['<r xmlns="d" xmlns:a="1" xmlns:b="2"><e><f xmlns=""/></e></r>', exclusive,           '<e xmlns="d"><f xmlns=""></f></e>'],
  ['<r xmlns="d" xmlns:a="1" xmlns:b="2"><e><f/></e></r>',          withPrefixes("a"),   '<e xmlns="d" xmlns:a="1"><f></f></e>'],
  ['<r xmlns="d" xmlns:a="1"><a:e><a:f><g xmlns="h"/></a:f></a:e></r>', withPrefixes(""), '<a:e xmlns="d" xmlns:a="1"><a:f><g xmlns="h"></g></a:f></a:e>'],
  ['<r xmlns="d" xmlns:a="1"><a:e><a:f><g/></a:f></a:e></r>',       exclusive,           '<a:e xmlns:a="1"><a:f><g xmlns="d"></g></a:f></a:e>'],
  ['<r><e xmlns:a="1"><f xmlns:a="2"><a:g xmlns:a="2"/></f></e></r>', withPrefixes("a", "none"), '<e xmlns:a="1"><f xmlns:a="2"><a:g></a:g></f></e>'],
  ['<r xmlns:a="1"><e a:b="1" c="2"><f a:b="1"/></e></r>',          exclusive,           '<e xmlns:a="1" c="2" a:b="1"><f a:b="1"></f></e>'],
];

test("a part of a document declares the namespaces that its form demands", () => {
  for (const [document, form, canonical] of parts) {
    const root = parse(document);
    const [element] = root.children;
    assert.ok(element);
    assert.equal(canonicalize([root, element], form), canonical);
  }
});

function parse(xml: string): XmlElement {
  const root = parseXml(xml);
  if (root instanceof ThreeDsFault) assert.fail(root.reason);
  return root;
}
