/** The test cards: as a table to read, and as a form to pay with. */
import { type Html, html } from "../values/html.ts";
import { firstSale } from "./example-sale.ts";
import type { Chosen, TestCard, WelcomeFacts } from "./welcome-facts.ts";

export function renderTryForm(
  { cards, endpoints }: WelcomeFacts,
  chosen: Chosen = { card: firstSale.card, amount: firstSale.amount, endpoint: "" },
): Html {
  if (cards === undefined) {
    return html`<section id="pay"><h2>Pay with a test card</h2>${bankIsSilent}</section>`;
  }
  return html`<section id="pay">
<h2>Pay with a test card</h2>
<p class="hint">Signs a sale as a merchant would and sends it to this gateway.</p>
<form method="post" action="/try">
<label>Card <select name="card">${groupsOf(cards).map(
    ([group, members]) => html`<optgroup label="${group}">
${members.map(({ name, card, what }) =>
  option(card, `${name}: ${explain(what)}`, chosen.card === card ? "chosen" : "other"),
)}</optgroup>\n`,
  )}</select></label>
<div class="pair">
<label>Amount <input name="amount" value="${chosen.amount}" inputmode="decimal" required
 pattern="[0-9]+([.][0-9]+)?" maxlength="10" title="digits, with a point before the fraction"
 autocomplete="off"></label>
<label>Endpoint <select name="endpoint">${endpoints.map(({ id, name, currency }) =>
    option(id, `${name} (${currency})`, chosen.endpoint === id ? "chosen" : "other"),
  )}</select></label>
</div>
<button type="submit">Pay</button>
</form>
</section>`;
}

export function renderCards({ cards, bank }: WelcomeFacts): Html {
  return html`<section id="cards">
<h2>Test cards</h2>
<p class="hint">Any expiry date to come, CVV <code>123</code>. The <a href="${bank.url}/">bank’s own
page</a> tells what other CVVs and amounts decide.</p>
${cards === undefined ? bankIsSilent : renderTable(cards)}
</section>`;
}

const bankIsSilent = html`<p>The sandbox bank does not answer, so its cards are not known. Is it
running? <code>npm start</code> starts it together with the gateway.</p>`;

function renderTable(cards: readonly TestCard[]): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Test cards"><table>
<thead><tr><th>Name</th><th>Card</th><th>What happens</th></tr></thead>
${groupsOf(cards).map(
  ([group, members]) => html`<tbody>
<tr><th colspan="3" scope="rowgroup">${group}</th></tr>
${members.map(
  ({ name, card, what }) => html`<tr><td class="firm">${name}</td>
<td class="firm"><code class="value">${card}</code></td>
<td class="prose">${explain(what)}</td></tr>\n`,
)}</tbody>\n`,
)}</table></div>`;
}

/** In the bank's order, groups and cards alike. */
function groupsOf(cards: readonly TestCard[]): readonly (readonly [string, readonly TestCard[]])[] {
  return [...Map.groupBy(cards, ({ group }) => group)];
}

/** The bank writes a plain decline as its response code alone. */
function explain(what: string): string {
  return /^[0-9A-Z]{2}$/.test(what) ? `declined with response code ${what}` : what;
}

function option(value: string, text: string, state: "chosen" | "other"): Html {
  const selected = state === "chosen" ? html` selected` : undefined;
  return html`<option value="${value}"${selected}>${text}</option>\n`;
}
