/** Where the cardholder proves himself: what is paid, to whom, by which card, and a code. */
import { testCode } from "../challenge-end.ts";
import { escapeHtml, type Page } from "./page.ts";

/** As the cardholder sees it. */
export type Purchase = {
  readonly merchant: string;
  /** With its currency; nothing when nothing is paid. */
  readonly amount: string | undefined;
  /** Masked. */
  readonly card: string;
};

export type Asked = {
  readonly purchase: Purchase;
  readonly answerPath: string;
  /** What the answer must bring back with it. */
  readonly hidden: Readonly<Record<string, string>>;
  /** Nothing will come of any answer, and the page says so. */
  readonly staysSilent: boolean;
};

export function makeChallengePage({ purchase, answerPath, hidden, staysSilent }: Asked): Page {
  const body = `<h1>Confirm this payment</h1>
${describe(purchase)}
<p class="note">This is a sandbox: no message is sent to a phone. The test code is
<strong>${testCode}</strong>.</p>
${staysSilent ? silenceNote : ""}<form method="post" action="${escapeHtml(answerPath)}">
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

export function makeSilentPage(purchase: Purchase): Page {
  const body = `<h1>The bank stays silent</h1>
${describe(purchase)}
${silenceNote}`;
  return { title: "The bank stays silent", body, postsTo: "acs" };
}

const silenceNote = `<p class="note">With this card the bank stays silent: whatever is pressed here,
neither the merchant nor the gateway ever learns of it.</p>
`;

export function writeHidden(fields: Readonly<Record<string, string>>): string {
  return Object.entries(fields)
    .map(([name, value]) => {
      return `<input type="hidden" name="${escapeHtml(name)}" value="${escapeHtml(value)}">`;
    })
    .join("\n");
}

function describe({ merchant, amount, card }: Purchase): string {
  const rows = [
    ["Merchant", merchant],
    ["Amount", amount],
    ["Card", card],
  ] as const;
  const written = rows.map(([name, value]) =>
    value === undefined ? "" : `<dt>${name}</dt><dd>${escapeHtml(value)}</dd>\n`,
  );
  return `<dl>\n${written.join("")}</dl>`;
}
