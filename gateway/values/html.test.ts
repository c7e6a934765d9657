/** A value inserted into a page is escaped, unless the tag made it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { escapeHtml, html } from "./html.ts";

// biome-ignore format: a table
const escapes: readonly (readonly [text: string, escaped: string])[] = [
  ["plain",                      "plain"],
  ["a & b",                      "a &amp; b"],
  ["&amp;",                      "&amp;amp;"],
  ["<script>alert(1)</script>",  "&lt;script&gt;alert(1)&lt;/script&gt;"],
  ['" onload="x',                "&quot; onload=&quot;x"],
  ["it's",                       "it&#39;s"],
  ["",                           ""],
];

test("the five characters that mean something are escaped", () => {
  for (const [text, escaped] of escapes) assert.equal(escapeHtml(text), escaped);
});

test("values are escaped, numbers printed, absent ones left out", () => {
  const page = html`<p title="${'"><b>'}">${1} ${undefined}${"<i>"}</p>`;

  assert.equal(page.text, '<p title="&quot;&gt;&lt;b&gt;">1 &lt;i&gt;</p>');
});

test("HTML inside of HTML stays as it is, alone and in lists", () => {
  const items = ["a", "<b>"].map((text) => html`<li>${text}</li>`);

  assert.equal(html`<ul>${items}</ul>`.text, "<ul><li>a</li><li>&lt;b&gt;</li></ul>");
  assert.equal(html`<div>${html`<b>bold</b>`}</div>`.text, "<div><b>bold</b></div>");
});

test("no text can leave the place it was put in", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      assert.doesNotMatch(html`${text}`.text, /[<>"']/);
    }),
  );
});
