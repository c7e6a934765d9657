/**
 * The document around every page's content, its style sheet, the operator's theme, and the headers
 * that every page is sent with. A page loads nothing; the reader's setting chooses light or dark.
 */
import { hash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { readPicture } from "../values/appearance.ts";
import { Html, html } from "../values/html.ts";
import { messageOf, Problem } from "../values/problem.ts";
import { makeStyleSheet } from "./style-sheet.ts";

export type Page = {
  readonly title: string;
  readonly content: Html;
  /** For pages that wait without scripts. */
  readonly refresh?: Refresh | undefined;
  /** English by default. */
  readonly language?: string;
  /** `rtl` for languages that are written from right to left. */
  readonly direction?: string;
  /** Runs after the content; the page's policy must allow it. */
  readonly script?: Script | undefined;
  /** Tollgate's own by default. */
  readonly theme?: Theme;
  /** Style sheet and scripts that the page loads, in place of inline ones. */
  readonly links?: Html;
  /** Stands above everything else. */
  readonly warning?: string | undefined;
};

/** The part of the design that an operator can change: the style sheet and the banner. */
export type Theme = {
  readonly style: string;
  /** The style sheet's source in the Content-Security-Policy. */
  readonly styleSource: string;
  readonly banner?: Html | undefined;
  /** Every page says that no money moves. */
  readonly isRehearsal?: boolean;
};

type Refresh = {
  readonly seconds: number;
  readonly address: string;
  /** Where scripts run, the page's script decides when to load the address. */
  readonly onlyWithoutScripts?: boolean;
};

/** An inline script and its source in the Content-Security-Policy. */
type Script = { readonly text: string; readonly source: string };

export function makeScript(text: string): Script {
  return { text, source: sourceOf(text) };
}

export function makeTheme(accent?: string, banner?: Html): Theme {
  const style = makeStyleSheet(accent);
  return { style, styleSource: sourceOf(style), banner };
}

export function renderPage(page: Page): Html {
  const { title, content, refresh, language = "en", direction = "ltr", script, warning } = page;
  const { theme = plainTheme, links = html`<style>${new Html(theme.style)}</style>` } = page;
  const running = script && html`<script>${new Html(script.text)}</script>\n`;
  return html`<!doctype html>
<html lang="${language}" dir="${direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
${refresh && renderRefresh(refresh)}<title>${title}</title>
<link rel="icon" href="${icon}">
${links}
</head>
<body>
${warning && html`<p class="warning" role="note">${warning}</p>\n`}${theme.banner}${content}
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

export const plainTheme = makeTheme();

/** Runs nothing, loads nothing, posts to the gateway only; pages override single directives. */
const strict: Readonly<Record<string, string>> = {
  "default-src": "'none'",
  "style-src": plainTheme.styleSource,
  "img-src": "data:",
  "form-action": "'self'",
  "frame-ancestors": "'none'",
  "base-uri": "'none'",
};

type PageHeaderOptions = {
  /** Directives of the Content-Security-Policy that differ from the strict ones; "" for none. */
  readonly policy?: Readonly<Record<string, string>>;
};

export function pageHeaders({ policy = {} }: PageHeaderOptions = {}) {
  const directives = Object.entries({ ...strict, ...policy }).filter(([, value]) => value !== "");
  return {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": directives.map((directive) => directive.join(" ")).join("; "),
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
  };
}

type ThemeOptions = {
  readonly name: string;
  /** The pages' host: the alternative text of a logo without a name. */
  readonly host: string;
  readonly accent: string;
  readonly logoFile: string;
  readonly isRehearsal: boolean;
  /** A logo that cannot be shown does not stop payments. */
  readonly onBadLogo: (cause: string) => void;
};

const logoBytesMax = 64 * 1024;

/**
 * The operator's name, logo and colour above the cardholder's pages. The logo is part of every
 * page, so it has to be small; as an image it can neither run scripts nor load anything.
 */
export function openTheme({ isRehearsal, ...options }: ThemeOptions): Theme {
  return { ...makeTheme(options.accent, renderBanner(options)), isRehearsal };
}

function renderBanner({ name, host, logoFile, onBadLogo }: Omit<ThemeOptions, "isRehearsal">) {
  const logo = logoFile === "" ? undefined : readLogo(logoFile);
  if (logo instanceof Problem) onBadLogo(logo.sentence);
  const address = typeof logo === "string" ? logo : undefined;
  if (address === undefined && name === "") return undefined;
  // Beside the name the image is decoration; alone, it stands for the name.
  const image = address && html`<img src="${address}" alt="${name === "" ? host : ""}">`;
  const words = name === "" ? undefined : html`<span>${name}</span>`;
  return html`<header class="banner">${image}${words}</header>\n`;
}

function readLogo(path: string): string | Problem {
  try {
    if (statSync(path).size > logoBytesMax) return new Problem("it is larger than 64 KiB");
    return readPicture(readFileSync(path), logoBytesMax);
  } catch (error) {
    return new Problem(messageOf(error));
  }
}
