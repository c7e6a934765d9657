/**
 * The frame around every page's content, with the style sheet inside of it, allowed by its hash.
 * Nothing is loaded from anywhere; light or dark is the reader's wish.
 */
import { hash } from "node:crypto";
import { Html, html } from "../values/html.ts";
import { makeStyleSheet } from "./style-sheet.ts";

export type Page = {
  readonly title: string;
  readonly content: Html;
  /** Loads this address after so many seconds: a page that waits without scripts. */
  readonly refresh?: Refresh | undefined;
  /** English when nothing is said. */
  readonly language?: string;
  /** Runs when the content is there; the page's headers must allow it. */
  readonly script?: Script | undefined;
  /** Tollgate's own when nothing is said. */
  readonly look?: Look;
};

/** What an operator may make his own: the style sheet, and what stands above every page. */
export type Look = {
  readonly style: string;
  /** What the Content-Security-Policy allows this very style sheet by. */
  readonly styleSource: string;
  readonly banner?: Html | undefined;
};

export type Refresh = {
  readonly seconds: number;
  readonly address: string;
  /** Where scripts run, the page's own decides when to go. */
  readonly onlyWithoutScripts?: boolean;
};

/** A script inside the page, and what a Content-Security-Policy allows it by. */
export type Script = { readonly text: string; readonly source: string };

export function makeScript(text: string): Script {
  return { text, source: sourceOf(text) };
}

export function makeLook(accent?: string, banner?: Html): Look {
  const style = makeStyleSheet(accent);
  return { style, styleSource: sourceOf(style), banner };
}

export function renderPage(page: Page): Html {
  const { title, content, refresh, language = "en", script, look = plainLook } = page;
  const running = script && html`<script>${new Html(script.text)}</script>\n`;
  return html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
${refresh && renderRefresh(refresh)}<title>${title}</title>
<link rel="icon" href="${icon}">
<style>${new Html(look.style)}</style>
</head>
<body>
${look.banner}${content}
${running}</body>
</html>
`;
}

function renderRefresh({ seconds, address, onlyWithoutScripts = false }: Refresh): Html {
  const tag = html`<meta http-equiv="refresh" content="${seconds};url=${address}">`;
  return onlyWithoutScripts ? html`<noscript>${tag}</noscript>\n` : html`${tag}\n`;
}

/** A toll gate with its bar up. */
const icon = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">' +
    '<rect width="32" height="32" rx="8" fill="#0f766e"/>' +
    '<path d="M9 25V13M9 15 24 7" stroke="#fff" stroke-width="4" stroke-linecap="round"/></svg>',
)}`;

function sourceOf(text: string): string {
  return `'sha256-${hash("sha256", text, "base64")}'`;
}

export const plainLook = makeLook();
