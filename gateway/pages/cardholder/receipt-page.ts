/** The receipt of an approved payment, for the screen and for paper. */
import { type Html, html } from "../../values/html.ts";
import type { Movement, Receipt, ReceiptRow, ReceiptState, RowName } from "../../views/receipt.ts";
import type { CardholderPage } from "./cardholder-page.ts";
import { printWhenAsked } from "./scripts.ts";
import type { Texts } from "./texts.ts";

// biome-ignore format: a table
const tones: Readonly<Record<ReceiptState, string>> = {
  charged:          "good",
  held:             "wait",
  verified:         "good",
  returned:         "plain",
  returned_in_part: "plain",
  cancelled:        "plain",
};

/** Numbers that people read to each other, digit by digit. */
const numbers: ReadonlySet<RowName> = new Set([
  "terminal",
  "card",
  "approvalCode",
  "reference",
  "networkId",
  "orderId",
  "receiptId",
]);

export function receiptPage(receipt: Receipt, texts: Texts): CardholderPage {
  const { state, merchantName: merchant, kind, rows, since } = receipt;
  return {
    title: `${texts.receiptTitle} – ${merchant}`,
    script: printWhenAsked,
    content: html`<main class="narrow receipt">
<section class="result ${tones[state]}">
<h1>${texts.receiptTitle}</h1>
<p>${texts.receiptStates[state]({ ...receipt, merchant })}</p>
</section>
<dl>
<dt>${texts.receiptType}</dt><dd>${texts.receiptKinds[kind]}</dd>
${rows.map((row) => renderRow(row, texts))}</dl>
${since.length === 0 ? undefined : renderSince(since, texts)}<button id="print" type="button"
 hidden>${texts.receiptPrint}</button>
</main>`,
  };
}

/** Whatever is wrong with an address, it is this page: nobody learns what there is. */
export function noReceiptPage(texts: Texts): CardholderPage {
  return {
    status: 404,
    title: texts.noReceiptTitle,
    content: html`<main class="narrow">
<h1>${texts.noReceiptTitle}</h1>
<p class="lead">${texts.noReceiptSentence}</p>
</main>`,
  };
}

function renderRow([name, value]: ReceiptRow, texts: Texts): Html {
  const shown = numbers.has(name) ? html`<dd class="mono">${value}</dd>` : html`<dd>${value}</dd>`;
  return html`<dt>${texts.receiptRows[name]}</dt>${shown}\n`;
}

function renderSince(since: readonly Movement[], texts: Texts): Html {
  const lines = since.map(({ kind, amount, at }) => {
    const what = html`<td>${at}</td><td>${texts.receiptKinds[kind]}</td>`;
    return html`<tr>${what}<td class="number">${amount}</td></tr>\n`;
  });
  return html`<h2 id="since">${texts.receiptSince}</h2>
<table aria-labelledby="since">
<thead><tr><th scope="col">${texts.receiptSinceDate}</th>
<th scope="col">${texts.receiptSinceKind}</th>
<th scope="col" class="number">${texts.receiptSinceAmount}</th></tr></thead>
<tbody>
${lines}</tbody>
</table>
`;
}
