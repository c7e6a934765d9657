/**
 * The one design of all pages: a style sheet inside the page, allowed by its hash, and the frame
 * around every page's content. Nothing is loaded from anywhere; light or dark is the reader's wish.
 */
import { hash } from "node:crypto";
import { Html, html } from "../values/html.ts";

export type Page = {
  readonly title: string;
  readonly content: Html;
  /** Loads this address after so many seconds: a page that waits without scripts. */
  readonly refresh?: Refresh | undefined;
  /** English when nothing is said. */
  readonly language?: string;
  /** Runs when the content is there; the page's headers must allow it. */
  readonly script?: Script | undefined;
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

export function renderPage({ title, content, refresh, language = "en", script }: Page): Html {
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
<style>${new Html(style)}</style>
</head>
<body>
${content}
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

const style = `
:root {
  color-scheme: light dark;
  --ground: #f6f7f6; --surface: #fff; --sunken: #f1f3f2; --ink: #17201e; --muted: #5a6663;
  --line: #dfe4e2; --accent: #0f766e; --on-accent: #fff; --glow: #e6f4f1;
  --good: #13663b; --good-ground: #dff3e6; --bad: #a12626; --bad-ground: #fce7e5;
  --wait: #7a4d00; --wait-ground: #fcefd2; --plain: #44505c; --plain-ground: #e8ecef;
  --mono: ui-monospace, "SF Mono", SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0f1413; --surface: #171e1c; --sunken: #111716; --ink: #e7edeb; --muted: #9aa8a4;
    --line: #2a3431; --accent: #4fd1c0; --on-accent: #06201c; --glow: #14302b;
    --good: #7fdca4; --good-ground: #12321f; --bad: #ff9c94; --bad-ground: #3d1a19;
    --wait: #f2c46b; --wait-ground: #362809; --plain: #b5c1cc; --plain-ground: #26303a;
  }
}
* { box-sizing: border-box }
[hidden] { display: none !important }
html { -webkit-text-size-adjust: 100%; scroll-padding-top: 1rem }
body {
  margin: 0; background: var(--ground); color: var(--ink);
  font: 16px/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Open Sans", sans-serif;
}
main { max-width: 76rem; margin: 0 auto; padding: 1.5rem 1rem 4rem }
main.narrow { max-width: 30rem; padding-top: 4rem }
main.framing { width: fit-content; min-width: min(30rem, 100%) }
iframe {
  display: block; max-width: 100%; margin: 1rem auto 0; background: #fff;
  border: 1px solid var(--line); border-radius: .5rem;
}
iframe.unseen { position: absolute; left: -10px; width: 1px; height: 1px; border: 0; opacity: 0 }
h1 { font-size: 1.75rem; line-height: 1.2; letter-spacing: -.02em; margin: 0 }
h1 + p { margin-top: .75rem }
h2 { font-size: 1.2rem; line-height: 1.3; letter-spacing: -.01em; margin: 0 0 .25rem }
h3 { font-size: .95rem; margin: 1.75rem 0 .5rem }
p { margin: 0 0 1rem; max-width: 65ch }
a { color: var(--accent); text-underline-offset: .2em }
.lead, .hint { color: var(--muted) }
.hint { font-size: .9rem }
@media (scripting: enabled) {
  .working::after {
    content: ""; display: block; height: .25rem; margin-top: 1.25rem; border-radius: 1rem;
    background: linear-gradient(90deg, var(--line), var(--accent), var(--line)) 0 0 / 200% 100%;
    animation: flow 1s linear infinite;
  }
}
@media (prefers-reduced-motion: reduce) { .working::after { animation: none } }
@keyframes flow { to { background-position: -200% 0 } }
header { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; margin: .5rem 0 }
header + .lead { margin-bottom: 1.25rem }
nav { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; margin-bottom: 1.75rem }
nav a { font-size: .95rem }
section {
  background: var(--surface); border: 1px solid var(--line); border-radius: .875rem;
  padding: 1.25rem 1rem; margin-bottom: 1.25rem; min-width: 0;
}
code, pre, .mono { font-family: var(--mono); font-size: .875em }
.value { user-select: all; overflow-wrap: anywhere }
pre {
  background: var(--sunken); border: 1px solid var(--line); border-radius: .5rem; margin: 0;
  padding: 1rem; overflow-x: auto; line-height: 1.55; font-size: .8125rem; user-select: all;
}
dl { display: grid; gap: .125rem 1.5rem; margin: .75rem 0 0; align-items: baseline }
dt { color: var(--muted); font-size: .9rem }
dd { margin: 0 0 .625rem; min-width: 0; font-size: .95rem }
main.narrow dl { grid-template-columns: max-content minmax(0, 1fr) }
main.narrow dd { margin-bottom: .25rem }
dl + p { margin: .75rem 0 0 }
.scroll { overflow-x: auto; margin: .75rem -1rem 0; padding: 0 1rem }
table { border-collapse: collapse; width: 100%; font-size: .9rem }
th, td { text-align: left; vertical-align: top; padding: .5rem 1.25rem .5rem 0 }
th:last-child, td:last-child { padding-right: 0 }
td { border-top: 1px solid var(--line) }
th { color: var(--muted); font-weight: 500; font-size: .85rem; white-space: nowrap }
th[scope=rowgroup] { color: var(--ink); font-weight: 600; font-size: .95rem; padding-top: 1.5rem }
td.firm { white-space: nowrap }
td.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums }
th.number { text-align: right }
td.prose { min-width: 15rem }
td small { display: block; color: var(--muted); font-size: .8rem }
td small.mono { font-size: .75rem }
tr.chosen td { background: var(--glow) }
tr.chosen td:first-child { box-shadow: inset 3px 0 var(--accent); padding-left: .75rem }
.pill {
  display: inline-block; padding: .1rem .6rem; border-radius: 1rem; font-size: .8rem;
  font-weight: 500; white-space: nowrap; vertical-align: middle;
  color: var(--plain); background: var(--plain-ground);
}
.pill.good { color: var(--good); background: var(--good-ground) }
.pill.bad { color: var(--bad); background: var(--bad-ground) }
.pill.wait { color: var(--wait); background: var(--wait-ground) }
.result { border-left: .375rem solid var(--plain) }
.result.good { border-color: var(--good) }
.result.bad { border-color: var(--bad) }
.result.wait { border-color: var(--wait) }
.result p { margin-bottom: .5rem; max-width: none }
.result > :last-child { margin-bottom: 0 }
label { display: block; font-weight: 500; font-size: .9rem; margin-bottom: 1rem }
input, select, button { font: inherit; border-radius: .5rem; min-height: 2.75rem; width: 100% }
input, select {
  display: block; margin-top: .25rem; padding: .5rem .75rem; color: var(--ink);
  background: var(--sunken); border: 1px solid var(--line); text-overflow: ellipsis;
}
select { padding-left: .5rem }
button {
  padding: .5rem 1.5rem; border: 0; font-weight: 600; cursor: pointer;
  color: var(--on-accent); background: var(--accent);
}
button:hover { filter: brightness(1.08) }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px }
footer { color: var(--muted); font-size: .9rem; padding: .5rem 0 }
@media (min-width: 40rem) {
  main { padding: 2.5rem 2rem 5rem }
  section { padding: 1.75rem 2rem }
  dl { grid-template-columns: max-content minmax(0, 1fr) }
  dd { margin-bottom: .25rem }
  .scroll { margin-inline: -2rem; padding: 0 2rem }
  .pair { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 0 1rem }
}
@media (min-width: 64rem) {
  .columns { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 0 1.25rem }
}
`;

/** What the Content-Security-Policy allows this very style sheet by. */
export const styleSource = sourceOf(style);

function sourceOf(text: string): string {
  return `'sha256-${hash("sha256", text, "base64")}'`;
}
