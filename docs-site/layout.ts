/**
 * Renders the frame of every page: head, navigation, the page's headings, and the link to its
 * Markdown.
 */

import { escapeHtml } from "./highlight.ts";
import type { Heading } from "./markdown.ts";
import { addressOf, markdownAddressOf, type Source, sections } from "./pages.ts";

export type Assets = Readonly<Record<"style" | "script" | "index", string>>;

type Layout = {
  readonly source: Source;
  readonly sources: ReadonlyMap<string, Source>;
  readonly html: string;
  readonly headings: readonly Heading[];
  readonly assets: Assets;
};

export function renderPage({ source, sources, html, headings, assets }: Layout): string {
  const { title } = source;
  const name = title === "Tollgate" ? title : `${title} · Tollgate`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(name)}</title>
<link rel="icon" href="${icon}">
<link rel="stylesheet" href="/docs/assets/${assets.style}">
<link rel="alternate" type="text/markdown" href="${markdownAddressOf(source)}">
<script src="/docs/assets/${assets.script}" defer
 data-index="/docs/assets/${assets.index}"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<a class="brand" href="/docs/">${mark}<span>Tollgate</span> <small>Docs</small></a>
<form id="search" role="search" hidden>
<input type="search" placeholder="Search" aria-label="Search the documentation" autocomplete="off"
 spellcheck="false" role="combobox" aria-expanded="false" aria-controls="found">
<kbd aria-hidden="true">/</kbd>
<ul id="found" role="listbox" aria-label="Found" hidden></ul>
</form>
</header>
<div class="columns">
<details class="navigation" open><summary>All pages</summary>
<nav aria-label="Documentation">${renderNavigation(source, sources)}</nav></details>
<main id="content">
${html}
${renderNeighbours(source, sources)}
<footer><a href="${markdownAddressOf(source)}">This page as Markdown</a>
<a href="/docs/openapi.json">OpenAPI</a> <a href="/docs/llms.txt">llms.txt</a></footer>
</main>
${renderContents(headings)}
</div>
</body>
</html>
`;
}

function renderNavigation(current: Source, sources: ReadonlyMap<string, Source>): string {
  return sections
    .map(({ title, pages }) => {
      const items = pages.map((path) => {
        const page = sources.get(path);
        if (page === undefined) throw new Error(`There is no document ${path}.`);
        const here = path === current.path ? ' aria-current="page"' : "";
        return `<li><a href="${addressOf(page)}"${here}>${escapeHtml(page.name)}</a></li>`;
      });
      const list = `<ul>${items.join("")}</ul>`;
      // The longest section has the fewest readers, so it is closed.
      if (title !== "For operators") return `<p class="group">${escapeHtml(title)}</p>${list}`;
      const open = pages.includes(current.path) ? " open" : "";
      return `<details${open}><summary>${escapeHtml(title)}</summary>${list}</details>`;
    })
    .join("\n");
}

/** Renders the headings of the page, if there are several. */
function renderContents(headings: readonly Heading[]): string {
  const shown = headings.filter(({ depth }) => depth === 2 || depth === 3);
  if (shown.length < 2) return "";
  const items = shown.map(
    ({ id, title, depth }) =>
      `<li class="depth-${depth}"><a href="#${id}">${escapeHtml(title)}</a></li>`,
  );
  const list = `<p class="group">On this page</p><ul>${items.join("")}</ul>`;
  return `<aside><nav aria-label="On this page">${list}</nav></aside>`;
}

function renderNeighbours(current: Source, sources: ReadonlyMap<string, Source>): string {
  const order = sections.flatMap(({ pages }) => pages);
  const at = order.indexOf(current.path);
  if (at < 0) return "";
  const link = (path: string | undefined, word: string) => {
    const page = path === undefined ? undefined : sources.get(path);
    if (page === undefined) return "<span></span>";
    return `<a href="${addressOf(page)}"><small>${word}</small> ${escapeHtml(page.name)}</a>`;
  };
  const [before, after] = [link(order[at - 1], "Previous"), link(order[at + 1], "Next")];
  return `<nav class="neighbours" aria-label="Neighbouring pages">${before}${after}</nav>`;
}

const shape =
  '<rect width="32" height="32" rx="8" fill="#0f766e"/>' +
  '<path d="M9 25V13M9 15 24 7" stroke="#fff" stroke-width="4" stroke-linecap="round"/>';
const mark = `<svg viewBox="0 0 32 32" width="24" height="24" aria-hidden="true">${shape}</svg>`;
const icon = `data:image/svg+xml,${encodeURIComponent(
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">${shape}</svg>`,
)}`;
