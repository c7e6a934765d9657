/**
 * The HTML document of all pages, with style sheet, the operator's theme and headers. It loads
 * nothing else. The browser's settings choose the light or the dark palette.
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
  /** Makes the browser load an address after some seconds, even if it runs no scripts. */
  readonly refresh?: Refresh | undefined;
  /** English if absent. */
  readonly language?: string;
  /** `rtl` for languages that are written from right to left. */
  readonly direction?: string;
  /** The page's policy must permit the script. */
  readonly script?: Script | undefined;
  /** Tollgate's own if absent. */
  readonly theme?: Theme;
  /** Tags of files that the page loads in place of the inline style sheet. */
  readonly links?: Html;
  readonly warning?: string | undefined;
};

/** The parts of the design that operators can change: colours, and a banner with name and logo. */
export type Theme = {
  readonly style: string;
  /** The inline style sheet's source for the Content-Security-Policy. */
  readonly styleSource: string;
  readonly banner?: Html | undefined;
  /** Whether every page says that no money moves. */
  readonly isRehearsal?: boolean;
};

type Refresh = {
  readonly seconds: number;
  readonly address: string;
  /** If true, the delay applies only to browsers without scripts. In others, a script decides. */
  readonly onlyWithoutScripts?: boolean;
};

/** `source` is the script's source in the Content-Security-Policy. */
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

/** The icon is a toll gate with its bar up. */
const icon = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">' +
    '<rect width="32" height="32" rx="8" fill="#0f766e"/>' +
    '<path d="M9 25V13M9 15 24 7" stroke="#fff" stroke-width="4" stroke-linecap="round"/></svg>',
)}`;

function sourceOf(text: string): string {
  return `'sha256-${hash("sha256", text, "base64")}'`;
}

export const plainTheme = makeTheme();

/** The default policy, by which a page loads and runs nothing, and posts to the gateway only. */
const strict: Readonly<Record<string, string>> = {
  "default-src": "'none'",
  "style-src": plainTheme.styleSource,
  "img-src": "data:",
  "form-action": "'self'",
  "frame-ancestors": "'none'",
  "base-uri": "'none'",
};

type PageHeaderOptions = {
  /** Directives that differ from the default. An empty value removes one. */
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
  /** The host name of the pages, which is a logo's alternative text if the operator has no name. */
  readonly host: string;
  readonly accent: string;
  readonly logoFile: string;
  readonly isRehearsal: boolean;
  /** Called if the logo's file cannot be used. The pages then show no logo. */
  readonly onBadLogo: (cause: string) => void;
};

const logoBytesMax = 64 * 1024;

/** The logo must be small, because every page contains it. As an image, it can run no scripts. */
export function openTheme({ isRehearsal, ...options }: ThemeOptions): Theme {
  return { ...makeTheme(options.accent, renderBanner(options)), isRehearsal };
}

function renderBanner({ name, host, logoFile, onBadLogo }: Omit<ThemeOptions, "isRehearsal">) {
  const logo = logoFile === "" ? undefined : readLogo(logoFile);
  if (logo instanceof Problem) onBadLogo(logo.sentence);
  const address = typeof logo === "string" ? logo : undefined;
  if (address === undefined && name === "") return undefined;
  // Beside the operator's name, the logo is decoration. By itself, it needs an alternative text.
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
