/**
 * The style sheet of all pages: a light and a dark palette, the operator's accent colour, and the
 * rules. Printed pages are always black on white.
 */
import {
  lightenUntilReadable,
  pageGrounds,
  parseColour,
  printColour,
} from "../values/appearance.ts";

/** The settings check that `accent` is readable on the light background. */
export function makeStyleSheet(accent = ""): string {
  return [palette, accentRules(accent), rules, paper].join("\n");
}

/** No colour is readable on both backgrounds, so the accent is lightened for the dark one. */
function accentRules(accent: string): string {
  const colour = parseColour(accent);
  if (colour === undefined) return "";
  const onDark = printColour(lightenUntilReadable(colour));
  return `:root { --accent: ${printColour(colour)}; --on-accent: #fff }
@media (prefers-color-scheme: dark) { :root { --accent: ${onDark}; --on-accent: #0f1413 } }`;
}

const palette = `
:root {
  color-scheme: light dark;
  --ground: ${pageGrounds.light}; --surface: #fff; --sunken: #f1f3f2; --ink: #17201e;
  --muted: #5a6663; --line: #dfe4e2; --accent: #0f766e; --on-accent: #fff; --glow: #e6f4f1;
  --good: #13663b; --good-ground: #dff3e6; --bad: #a12626; --bad-ground: #fce7e5;
  --wait: #7a4d00; --wait-ground: #fcefd2; --plain: #44505c; --plain-ground: #e8ecef;
  --mono: ui-monospace, "SF Mono", SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0f1413; --surface: ${pageGrounds.dark}; --sunken: #111716; --ink: #e7edeb;
    --muted: #9aa8a4; --line: #2a3431; --accent: #4fd1c0; --on-accent: #06201c; --glow: #14302b;
    --good: #7fdca4; --good-ground: #12321f; --bad: #ff9c94; --bad-ground: #3d1a19;
    --wait: #f2c46b; --wait-ground: #362809; --plain: #b5c1cc; --plain-ground: #26303a;
  }
}
`;

const rules = `
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
h1 { font-size: 1.75rem; line-height: 1.2; letter-spacing: -.02em; margin: 0; text-wrap: balance }
h1 + p { margin-top: .75rem }
h2 { font-size: 1.2rem; line-height: 1.3; letter-spacing: -.01em; margin: 0 0 .25rem }
p { margin: 0 0 1rem; max-width: 65ch; text-wrap: pretty }
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
.warning {
  position: sticky; top: 0; z-index: 1; max-width: none; margin: 0; padding: .5rem 1rem;
  text-align: center; font-weight: 600; color: var(--bad); background: var(--bad-ground);
}
header.banner { max-width: 76rem; margin: 0 auto; padding: 1rem 1rem 0; font-weight: 600 }
header.banner img { display: block; max-height: 2.5rem; max-width: min(12rem, 60vw) }
header.banner + main { padding-top: 2rem }
header.banner:has(+ main.narrow) { max-width: 30rem }
header.banner:has(+ main.receipt) { max-width: 38rem }
header.banner:has(+ main.framing) { max-width: 35.5rem }
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
main.narrow dd { margin-bottom: .25rem; overflow-wrap: anywhere }
main.receipt { max-width: 38rem }
main.receipt dl { grid-template-columns: fit-content(45%) minmax(0, 1fr); column-gap: 1.25rem }
main.receipt h2 { margin-top: 1.5rem }
main.receipt button { margin-top: 1.5rem }
dl + p { margin: .75rem 0 0 }
.scroll { overflow-x: auto; margin: .75rem -1rem 0; padding: 0 1rem }
table { border-collapse: collapse; width: 100%; font-size: .9rem }
th, td { text-align: start; vertical-align: top; padding-block: .5rem; padding-inline: 0 1.25rem }
th:last-child, td:last-child { padding-inline-end: 0 }
td { border-top: 1px solid var(--line) }
th { color: var(--muted); font-weight: 500; font-size: .85rem; white-space: nowrap }
th[scope=rowgroup] { color: var(--ink); font-weight: 600; font-size: .95rem; padding-top: 1.5rem }
td.firm { white-space: nowrap }
td.number { text-align: end; white-space: nowrap; font-variant-numeric: tabular-nums }
th.number { text-align: end }
td.prose { min-width: 15rem }
.pill {
  display: inline-block; padding: .1rem .6rem; border-radius: 1rem; font-size: .8rem;
  font-weight: 500; white-space: nowrap; vertical-align: middle;
  color: var(--plain); background: var(--plain-ground);
}
.pill.good { color: var(--good); background: var(--good-ground) }
.pill.bad { color: var(--bad); background: var(--bad-ground) }
.result { border-inline-start: .375rem solid var(--plain) }
.result.good { border-inline-start-color: var(--good) }
.result.bad { border-inline-start-color: var(--bad) }
.result.wait { border-inline-start-color: var(--wait) }
.result p { margin-bottom: .5rem; max-width: none; overflow-wrap: anywhere }
.result > :last-child { margin-bottom: 0 }
label { display: block; font-weight: 500; font-size: .9rem; margin-bottom: 1rem }
input, select, button, a.button {
  font: inherit; border-radius: .5rem; min-height: 2.75rem; width: 100%;
}
input, select {
  display: block; margin-top: .25rem; padding: .5rem .75rem; color: var(--ink);
  background: var(--sunken); border: 1px solid var(--line); text-overflow: ellipsis;
}
select { padding-inline-start: .5rem }
button, a.button {
  padding: .5rem 1.5rem; border: 0; font-weight: 600; cursor: pointer;
  color: var(--on-accent); background: var(--accent);
}
a.button { display: block; text-align: center; text-decoration: none; line-height: 1.75rem }
button:hover, a.button:hover { filter: brightness(.93) }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px }
@media (min-width: 40rem) {
  main { padding: 2.5rem 2rem 5rem }
  header.banner { padding-inline: 2rem }
  section { padding: 1.75rem 2rem }
  dl { grid-template-columns: max-content minmax(0, 1fr) }
  dd { margin-bottom: .25rem }
  .scroll { margin-inline: -2rem; padding: 0 2rem }
}
@media (min-width: 64rem) {
  .columns { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 0 1.25rem }
}
@media (prefers-color-scheme: dark) { button:hover, a.button:hover { filter: brightness(1.08) } }
`;

const paper = `
@page { margin: 1.5cm }
@media print {
  :root {
    color-scheme: light;
    --ground: #fff; --surface: #fff; --sunken: #fff; --ink: #000; --muted: #000; --line: #999;
    --accent: #000; --good: #000; --bad: #000; --wait: #000; --plain: #000;
  }
  * { box-shadow: none !important }
  button, a.button, nav { display: none !important }
  body { font-size: 11pt; line-height: 1.35 }
  main, main.narrow, main.receipt { max-width: none; padding: 0 }
  header.banner { max-width: none !important; padding: 0 0 .75rem }
  main.receipt dl { grid-template-columns: max-content 1fr; column-gap: 2rem }
  section { border: 0; border-radius: 0; padding: 0 0 0 .75rem; break-inside: avoid }
  dl, table { break-inside: avoid }
}
`;
