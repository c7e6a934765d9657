/** The control page: plain HTML without scripts; its form posts to the same path as programs. */
import { escapeHtml } from "./http.ts";
import type { LedgerEntry } from "./ledger.ts";
import { amountOutcomes, cvvOutcomes, type Outcome, scenarios } from "./scenarios.ts";
import { type Switches, switchTable } from "./switches.ts";

const entriesShown = 50;

export function makeControlPage(
  switches: Switches,
  entries: readonly LedgerEntry[],
  directoryPort: number,
): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Sandbox bank</title>
<style>${style}</style>
</head>
<body>
<h1>Sandbox bank</h1>
<p>As JSON: <a href="/switches">switches</a>, <a href="/scenarios">scenarios</a>,
<a href="/ledger">ledger</a>, <a href="/messages">messages</a>,
<a href="/threeds-messages">3-D Secure messages</a>.</p>
<p>The directory server listens on port ${directoryPort}, by HTTPS with certificates on both sides:
<code>/emv3ds</code> for 2.1.0, 2.2.0 and 2.3.1, <code>/threeds102</code> for 1.0.2. The ACS is
on this port: <code>/acs/method</code>, <code>/acs/challenge</code> and <code>/acs/pareq</code>. Its
test code is <code>1234</code>.</p>
<p>Payment tokens of wallets are minted here: <code>POST /wallets/walleta</code> and
<code>POST /wallets/walletb</code>, for the last recipients of <code>POST
/wallets/walleta/certificate</code> and <code>POST /wallets/walletb/recipient</code>.
<a href="/wallets">What can be minted</a>, and with which defects.</p>
<h2>Switches</h2>
${makeSwitchForm(switches)}
<h2>Ledger</h2>
${makeLedgerTable(entries)}
<h2>Cards</h2>
${makeScenarioTable()}
<p>CVV, where the card's row does not decide: ${listOutcomes(cvvOutcomes)}; others: N7.</p>
<p>Last two digits of the amount, on the amount-driven card: ${listOutcomes(amountOutcomes)}.</p>
</body>
</html>
`;
}

const style = `
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 64rem; padding: 0 1rem }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid #8884 }
code { font-size: 14px }
`;

function makeSwitchForm(switches: Switches): string {
  const rows = Object.entries(switchTable).map(([name, { what }]) => {
    const value = Object.entries(switches).find(([other]) => other === name)?.[1];
    const label = `<label for="${name}"><code>${name}</code></label>`;
    return [label, makeControl(name, value), escapeHtml(what)];
  });
  return `<form method="post" action="/switches">
${makeTable(["Switch", "Value", "What it does"], rows)}
<p><button type="submit">Set the switches</button></p>
</form>`;
}

/** A list, not a checkbox: a form does not submit a checkbox that is not checked. */
function makeControl(name: string, value: unknown): string {
  if (value === null || typeof value === "string") {
    return `<input id="${name}" name="${name}" value="${escapeHtml(value ?? "")}">`;
  }
  if (typeof value !== "boolean") {
    return `<input type="number" step="any" min="0" id="${name}" name="${name}" value="${value}">`;
  }
  const options = [false, true].map((choice) => {
    const selected = choice === value ? " selected" : "";
    return `<option value="${choice}"${selected}>${choice ? "on" : "off"}</option>`;
  });
  return `<select id="${name}" name="${name}">${options.join("")}</select>`;
}

function makeLedgerTable(entries: readonly LedgerEntry[]): string {
  if (entries.length === 0) return "<p>Nothing is booked yet.</p>";
  const rows = entries
    .slice(-entriesShown)
    .reverse()
    .map(({ at, reference, kind, amount, currency }) => [
      escapeHtml(at),
      `<a href="/messages?reference=${encodeURIComponent(reference)}">${escapeHtml(reference)}</a>`,
      kind,
      `${amount} ${escapeHtml(currency)}`,
    ]);
  return makeTable(["At", "Reference (its messages)", "Kind", "Amount in minor units"], rows);
}

function makeScenarioTable(): string {
  const rows = scenarios.map(({ group, name, card, what }) => [
    escapeHtml(group),
    `<code>${escapeHtml(name)}</code>`,
    `<code>${card}</code>`,
    escapeHtml(what),
  ]);
  return makeTable(["Group", "Name", "Card", "What happens"], rows);
}

function makeTable(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const head = heads.map((text) => `<th>${text}</th>`).join("");
  const body = rows.map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join("")}</tr>`);
  return `<table>\n<tr>${head}</tr>\n${body.join("\n")}\n</table>`;
}

function listOutcomes(outcomes: ReadonlyMap<string, Outcome>): string {
  const listed = [...outcomes].map(([key, outcome]) => {
    const booked = outcome.kind === "book-without-answer" ? "booked, no answer" : "approved";
    return `${key || "none"}: ${outcome.kind === "decline" ? outcome.code : booked}`;
  });
  return listed.join("; ");
}
