/**
 * The pages of the ACS. They are shown in other sites' frames and contain merchants' texts, so
 * every value is escaped, nothing is loaded, and only this response's own script may run.
 */
import { randomBytes } from "node:crypto";
import type { ServerResponse } from "node:http";
import { escapeHtml } from "../http.ts";
import type { Purchase } from "../threeds-context.ts";

export type Page = {
  readonly status?: number;
  readonly title: string;
  /** The HTML below the title, with escaped values. */
  readonly body: string;
  /** A script that runs when the page is shown. */
  readonly script?: string;
  /** Where the page's forms may post to: the ACS itself, or the merchant or gateway. */
  readonly postsTo: "acs" | "requestor";
};

export const testCode = "1234";

type ChallengePage = {
  readonly purchase: Purchase;
  readonly answerPath: string;
  /** Fields that come back with the answer. */
  readonly hidden: Readonly<Record<string, string>>;
  readonly hasResult: boolean;
};

export function makeChallengePage(page: ChallengePage): Page {
  const { purchase, answerPath, hidden, hasResult } = page;
  const body = `${describePurchase(purchase)}
<p class="note">This is a sandbox: no message is sent to a phone. The test code is
<strong>${testCode}</strong>.</p>
${hasResult ? "" : noResultNote}<form method="post" action="${escapeHtml(answerPath)}">
${writeHidden(hidden)}
<label for="code">Code</label>
<input id="code" name="code" type="text" inputmode="numeric" autocomplete="one-time-code"
 maxlength="12" required>
<div class="buttons">
<button class="main" name="action" value="confirm">Confirm</button>
<button name="action" value="fail" formnovalidate>Fail the authentication</button>
<button name="action" value="cancel" formnovalidate>Cancel</button>
</div>
</form>`;
  return { title: "Confirm this payment", body, postsTo: "acs" };
}

export function makeNoResultPage(purchase: Purchase): Page {
  const body = `${describePurchase(purchase)}\n${noResultNote}`;
  return { title: "The bank stays silent", body, postsTo: "acs" };
}

const noResultNote = `<p class="note">With this card the bank stays silent: no button on this page
sends a result to the merchant or the gateway.</p>
`;

/**
 * Makes a page that posts itself to the address, or offers a button to browsers without scripts.
 */
export function makeForwardPage(
  title: string,
  address: string,
  fields: Readonly<Record<string, string>>,
): Page {
  const body = `<form id="forward" method="post" action="${escapeHtml(address)}">
${writeHidden(fields)}
<noscript><div class="buttons"><button class="main">Continue</button></div></noscript>
</form>`;
  const script = 'document.getElementById("forward").submit()';
  return { title, body, script, postsTo: "requestor" };
}

export function makeErrorPage(status: number, sentence: string): Page {
  const body = `<p>${escapeHtml(sentence)}</p>`;
  return { status, title: "This cannot be shown", body, postsTo: "acs" };
}

export const unknownPayment = makeErrorPage(
  404,
  "The bank does not know this payment, or it has expired.",
);

function writeHidden(fields: Readonly<Record<string, string>>): string {
  const inputs = Object.entries(fields).map(([name, value]) => {
    return `<input type="hidden" name="${escapeHtml(name)}" value="${escapeHtml(value)}">`;
  });
  return inputs.join("\n");
}

function describePurchase({ merchant, amount, card }: Purchase): string {
  const rows = Object.entries({ Merchant: merchant, Amount: amount, Card: card });
  const written = rows.map(([name, value]) =>
    value === undefined ? "" : `<dt>${name}</dt><dd>${escapeHtml(value)}</dd>\n`,
  );
  return `<dl>\n${written.join("")}</dl>`;
}

/** Returns the merchant's own data of this name unchanged, if there is any. */
export function echo(form: URLSearchParams, name: string): Readonly<Record<string, string>> {
  const value = form.get(name);
  return value === null ? {} : { [name]: value };
}

export function sendPage(response: ServerResponse, page: Page): void {
  const nonce = randomBytes(16).toString("base64");
  // Any site may frame the page. The policy does not name one origin for forms, because browsers
  // apply it to redirects too.
  const targets = page.postsTo === "acs" ? "'self'" : "http: https:";
  const own = `style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'`;
  const policy = `default-src 'none'; ${own}; form-action ${targets}; base-uri 'none'`;
  response
    .writeHead(page.status ?? 200, {
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-store",
      "content-security-policy": policy,
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
    })
    .end(writePage(page, nonce));
}

function writePage({ title, body, script }: Page, nonce: string): string {
  const run = script === undefined ? "" : `<script nonce="${nonce}">${script}</script>\n`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style nonce="${nonce}">${style}</style>
</head>
<body>
<header>${logo}<span>Sandbox Bank</span></header>
<main>
<h1>${escapeHtml(title)}</h1>
${body}
</main>
${run}</body>
</html>
`;
}

const logo = `<svg viewBox="0 0 32 32" width="32" height="32" role="img" aria-label="Logo">
<rect width="32" height="32" rx="7" fill="#1f5fbf"/>
<path d="M5 13 16 6l11 7v2H5zM7 17h3v7H7zm7.500 0h3v7h-3zM22 17h3v7h-3zM5 25h22v2H5z" fill="#fff"/>
</svg>`;

const style = `
:root { color-scheme: light dark; --ink: #1a2230; --paper: #fff; --soft: #5b6675; --line: #ccd3dc;
  --main: #1f5fbf; --on-main: #fff; --note: #eef4fc }
@media (prefers-color-scheme: dark) { :root { --ink: #e8ecf2; --paper: #12161d; --soft: #a0abba;
  --line: #3a4452; --main: #7db0ff; --on-main: #0b1526; --note: #1b2635 } }
* { box-sizing: border-box }
body { margin: 0; font: 16px/1.45 system-ui, sans-serif; color: var(--ink);
  background: var(--paper) }
header { display: flex; align-items: center; gap: .6rem; padding: .7rem 1rem; font-weight: 600;
  border-bottom: 1px solid var(--line) }
main { max-width: 30rem; margin: 0 auto; padding: 1rem }
h1 { font-size: 1.2rem; margin: 0 0 .75rem }
p { margin: .75rem 0 }
dl { display: grid; grid-template-columns: auto 1fr; gap: .25rem 1rem; margin: 0 }
dt { color: var(--soft) }
dd { margin: 0; text-align: right; overflow-wrap: anywhere; font-variant-numeric: tabular-nums }
.note { background: var(--note); border-radius: .5rem; padding: .6rem .8rem }
label { display: block; font-weight: 600; margin-bottom: .3rem }
input { width: 100%; font: inherit; font-size: 1.2rem; letter-spacing: .2em; padding: .55rem .7rem;
  color: inherit; background: transparent; border: 1px solid var(--soft); border-radius: .5rem }
.buttons { display: grid; gap: .5rem; margin-top: 1rem }
button { font: inherit; font-weight: 600; min-height: 2.75rem; border-radius: .5rem;
  cursor: pointer; color: var(--main); background: transparent; border: 1px solid var(--main) }
button.main { color: var(--on-main); background: var(--main) }
@media (max-height: 30rem) and (min-width: 34rem) {
  header { padding: .3rem 1rem }
  main { max-width: none; padding: .5rem 1rem }
  h1 { margin-bottom: .25rem }
  dl { gap: 0 1rem }
  .note { margin: .5rem 0; padding: .3rem .8rem }
  .buttons { grid-template-columns: repeat(3, auto); margin-top: .6rem }
}
:focus-visible { outline: 3px solid var(--main); outline-offset: 2px }
`;
