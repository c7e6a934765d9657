/** Documents as pages: the additions to Markdown, and that no text of a document becomes markup. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { renderMarkdown } from "./markdown.ts";

const known = (href: string) => (href === "known.md" ? "/docs/known" : undefined);

test("code blocks of several languages in a row become tabs, and those with text between them do not", () => {
  const fence = (language: string) => `\`\`\`${language}\nx\n\`\`\`\n\n`;
  const { html } = renderMarkdown(
    `${fence("sh")}${fence("php")}${fence("python")}Then:\n\n${fence("sh")}`,
    known,
  );

  const [, inside = "", after = ""] = /<div class="tabs">(.*?)<\/div>\n<p>(.*)$/s.exec(html) ?? [];
  assert.deepEqual(inside.match(/data-language="\w+"/g)?.length, 3);
  assert.match(after, /Then:.*data-language="sh"/s);
});

test("code is shown unchanged, with colours and without", () => {
  for (const language of ["sh", "ts", "php", "python", "json", "sh setup", ""]) {
    const text = `a="<script>" && 'b' # c\n$d = 10`;
    const { html } = renderMarkdown(`\`\`\`${language}\n${text}\n\`\`\``, known);

    const [, content = ""] = /<code>(.*?)<\/code>/s.exec(html) ?? [];
    const shown = content.replaceAll(/<\/?span[^>]*>/g, "");
    assert.equal(
      shown,
      text
        .replaceAll("&", "&amp;")
        .replaceAll("<", "&lt;")
        .replaceAll(">", "&gt;")
        .replaceAll('"', "&quot;"),
    );
  }
});

test("a link to a document that is not a page becomes plain text", () => {
  const { html } = renderMarkdown("[a](known.md), [b](../gateway/main.ts)", known);

  assert.equal(html, '<p><a href="/docs/known">a</a>, b</p>\n');
});

test("headings have the unique anchors that GitHub gives them", () => {
  const { headings, passages } = renderMarkdown(
    "# A `b`, c\n\n## Try it\n\nOne.\n\n## Try it\n",
    known,
  );

  assert.deepEqual(
    headings.map(({ id }) => id),
    ["a-b-c", "try-it", "try-it-1"],
  );
  assert.deepEqual(passages[1], { id: "try-it", heading: "Try it", text: "One." });
});

test("drawings have a description in words", () => {
  const sequence = "sequenceDiagram\n  participant A as Ann\n  participant B as Bob\n  A->>B: hi";
  const states = "stateDiagram-v2\n  [*] --> open : begun\n  open --> approved : paid";
  const drawn = [sequence, states].map((text) =>
    renderMarkdown(`\`\`\`mermaid\n${text}\n\`\`\``, known),
  );

  assert.match(drawn[0]?.html ?? "", /aria-label="Ann to Bob: hi".*<svg.*>hi<\/text>/s);
  assert.match(drawn[1]?.html ?? "", /aria-label="begin to open: begun. open to approved: paid"/);
  for (const { html } of drawn) assert.doesNotMatch(html, / style=|<style|NaN|undefined/);
});
