/**
 * Renders a document as HTML. In addition to Markdown, code blocks of several languages in a row
 * become one example with tabs, `mermaid` blocks become drawings, and a comment `<!-- name values
 * -->` becomes the part of the page with that name, such as the calculator.
 */
import { Marked, type Token, type Tokens } from "marked";
import { drawDiagram } from "./diagrams.ts";
import { canHighlight, escapeHtml, highlight } from "./highlight.ts";

/** The languages of examples with their names for readers. */
const languages: Readonly<Record<string, string>> = {
  sh: "curl",
  ts: "TypeScript",
  php: "PHP",
  python: "Python",
};

export type Heading = { readonly id: string; readonly title: string; readonly depth: number };
/** A heading with the text below it, for the search. */
export type Passage = { readonly id: string; readonly heading: string; readonly text: string };
export type Rendered = {
  readonly html: string;
  readonly headings: readonly Heading[];
  readonly passages: readonly Passage[];
};

/**
 * Renders a document. `resolve` returns the address of a link's target; a link without an address
 * is shown as text.
 */
export function renderMarkdown(
  text: string,
  resolve: (href: string) => string | undefined,
): Rendered {
  const headings: Heading[] = [];
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth }) {
        const title = plainText(tokens);
        const id = freeId(slugOf(title), headings);
        headings.push({ id, title, depth });
        const content = this.parser.parseInline(tokens);
        if (depth === 1) return `<h1 id="${id}">${content}</h1>\n`;
        const label = `Link to ${escapeHtml(title)}`;
        const anchor = `<a class="anchor" href="#${id}" aria-label="${label}">#</a>`;
        return `<h${depth} id="${id}">${content} ${anchor}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const content = this.parser.parseInline(tokens);
        const address = resolve(href);
        return address === undefined ? content : `<a href="${escapeHtml(address)}">${content}</a>`;
      },
      code: (token) => renderCode(token),
      // A long name breaks between its words, so that a table of names fits.
      codespan: ({ text: name }) => `<code>${escapeHtml(name).replaceAll("_", "_<wbr>")}</code>`,
      checkbox: () => '<span class="check">☐</span> ',
      table({ header, rows }) {
        const cell = (tag: string) => (each: Tokens.TableCell) =>
          `<${tag}>${this.parser.parseInline(each.tokens)}</${tag}>`;
        const head = header.map(cell("th")).join("");
        const body = rows.map((row) => `<tr>${row.map(cell("td")).join("")}</tr>`).join("\n");
        return `<div class="scroll" tabindex="0" role="region" aria-label="${escapeHtml(
          plainText(header.flatMap(({ tokens }) => [...tokens, space])),
        )}"><table><thead><tr>${head}</tr></thead><tbody>\n${body}\n</tbody></table></div>\n`;
      },
      html: ({ text: comment }) => renderPart(comment),
    },
  });
  const tokens = marked.lexer(text);
  const html = groupFences(tokens)
    .map((each) => (Array.isArray(each) ? renderTabs(each) : marked.parser([each])))
    .join("");
  return { html, headings, passages: passagesOf(tokens, headings) };
}

const space: Token = { type: "text", raw: " ", text: " " };

/** Groups code blocks of different languages that directly follow each other. */
function groupFences(tokens: readonly Token[]): readonly (Token | Tokens.Code[])[] {
  const grouped: (Token | Tokens.Code[])[] = [];
  for (const token of tokens) {
    const last = grouped.at(-1);
    if (token.type === "space" && Array.isArray(last)) continue;
    const isFence = token.type === "code" && (token["lang"] ?? "") in languages;
    const fence = token as Tokens.Code;
    const joins = Array.isArray(last) && !last.some(({ lang }) => lang === fence.lang);
    if (isFence && joins) last.push(fence);
    else grouped.push(isFence ? [fence] : token);
  }
  return grouped;
}

function renderTabs(fences: readonly Tokens.Code[]): string {
  const [first, ...others] = fences;
  if (first === undefined) return "";
  if (others.length === 0) return renderCode(first);
  return `<div class="tabs">${fences.map(renderCode).join("")}</div>\n`;
}

function renderCode({ lang = "", text }: Tokens.Code): string {
  const [word = "", mark = ""] = lang.split(" ");
  if (word === "mermaid") return drawDiagram(text);
  // The gateway fills in the values of a `setup`, which it finds as plain text.
  const isPlain = mark === "setup" || !canHighlight(word);
  const content = isPlain ? escapeHtml(text) : highlight(text, word);
  const title = lang in languages ? `<p class="language">${languages[lang]}</p>` : "";
  return (
    `<div class="code" data-language="${escapeHtml(word)}">${title}` +
    `<pre tabindex="0"><code>${content}</code></pre></div>\n`
  );
}

/**
 * Parts of a page by the first word of the comment. The other words are values for the script that
 * shows the part.
 */
const parts: Readonly<Record<string, (values: string) => string>> = {
  calculator: (of) => `<div class="calculator" data-formula="${escapeHtml(of)}" hidden></div>\n`,
  explorer: () => '<div id="api-explorer" hidden></div>\n',
};

function renderPart(comment: string): string {
  const [, name = "", values = ""] = /^<!-- (\w+)(?: (.*?))? -->\s*$/s.exec(comment) ?? [];
  return parts[name]?.(values) ?? "";
}

/** Returns an anchor as GitHub makes it, so that links work in both places. */
function slugOf(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
}

function freeId(slug: string, headings: readonly Heading[]): string {
  const count = headings.filter(({ id }) => id.replace(/-\d+$/, "") === slug || id === slug).length;
  return count === 0 ? slug : `${slug}-${count}`;
}

function passagesOf(tokens: readonly Token[], headings: readonly Heading[]): readonly Passage[] {
  const passages: { id: string; heading: string; text: string }[] = [];
  let at = 0;
  for (const token of tokens) {
    if (token.type === "heading") {
      const { id = "", title = "" } = headings[at] ?? {};
      at += 1;
      passages.push({ id, heading: title, text: "" });
    } else if (token.type !== "html") {
      const passage = passages.at(-1);
      if (passage) passage.text += ` ${plainText([token])}`;
    }
  }
  return passages.map((each) => ({ ...each, text: each.text.replace(/\s+/g, " ").trim() }));
}

function plainText(tokens: readonly Token[]): string {
  return tokens.map(plainTextOf).join("");
}

/** The library's type of a token does not say which members each kind of token has. */
function plainTextOf(token: Token): string {
  const { type, tokens, items, header, rows, lang, text } = token as Tokens.Generic;
  if (type === "table") {
    const cells: readonly Tokens.TableCell[] = [header, ...rows].flat();
    return cells.map((cell) => `${plainText(cell.tokens)} `).join("");
  }
  if (type === "list") return plainText(items);
  if (type === "list_item") return `${plainText(tokens ?? [])} `;
  if (type === "code" && lang === "mermaid") return "";
  if (type === "code" && lang in languages) return `${languages[lang]} ${text}`;
  return tokens === undefined ? (text ?? "") : plainText(tokens);
}
