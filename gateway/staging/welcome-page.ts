/**
 * The page at `/` in staging: what is running, how to pay, and the last orders. Rendering only; the
 * template escapes all text of merchants.
 */
import type { EndpointSettings } from "../orders/merchant.ts";
import { type Page, renderPage } from "../pages/design.ts";
import { type Html, html } from "../values/html.ts";
import { type Instant, minutes, seconds } from "../values/time.ts";
import type { OrderLine, Status } from "../views/status.ts";
import {
  firstSale,
  makeRequests,
  makeSecureSale,
  type Shop,
  writeCommand,
} from "./example-sale.ts";

export type WelcomeFacts = Shop & {
  readonly bank: { readonly url: string; readonly host: string };
  readonly database: string;
  /** What keeps the gateway from accepting requests; empty when it is ready. */
  readonly missing: Readonly<Record<string, string>>;
  readonly endpoints: readonly EndpointFacts[];
  readonly groups: readonly (Named & {
    readonly endpoints: readonly { readonly name: string }[];
  })[];
  /** Nothing when the bank does not answer. */
  readonly cards: readonly TestCard[] | undefined;
  /** The latest first. */
  readonly orders: readonly OrderLine[];
};

type Named = { readonly id: string; readonly name: string };
type EndpointFacts = Named & { readonly currency: string; readonly settings: EndpointSettings };

/** A row of the sandbox bank's catalogue. */
export type TestCard = Readonly<Record<"name" | "card" | "group" | "what", string>>;

/** The visitor's choices in the form; `endpoint` is its number. */
export type Chosen = Readonly<Record<"card" | "amount" | "endpoint", string>>;

export type Visit = {
  readonly now: Instant;
  /** For the sale to paste: a new one each time the page is loaded. */
  readonly newOrderId: string;
  /** The client order id that the visitor has just paid for. */
  readonly wanted?: string | undefined;
  /** A form that was refused: why, and the choices in it. */
  readonly refused?: { readonly sentence: string; readonly chosen: Chosen } | undefined;
};

const title = "Tollgate (staging)";
/** Where `npm run shop` listens, beside the gateway. */
export const shopUrl = "http://127.0.0.1:8070/";

export function renderWelcome(facts: WelcomeFacts, visit: Visit): Html {
  const { wanted, refused } = visit;
  const order = facts.orders.find(({ clientOrderId }) => clientOrderId === wanted);
  const content = html`<main>
${renderHead(facts)}
${
  refused &&
  html`<section class="result bad" role="alert"><h2>Not sent</h2>
<p>${refused.sentence}</p></section>`
}
${order && renderResult(order, facts.bank.url)}
<div class="columns">
${renderTryForm(facts, refused?.chosen)}
${renderRunning(facts)}
</div>
${renderOrders(facts, order?.orderId)}
${renderCredentials(facts)}
${renderCommands(facts, visit.newOrderId)}
${renderCards(facts)}
<footer>To read on, in the repository: <code>README.md</code>,
<code>docs/merchant-api/</code> for every operation, <code>docs/orders.md</code> for the life of an
order, <code>docs/operating.md</code> for production. On the command line,
<code>npm run gw -- order show</code> with an order id shows its whole history.</footer>
</main>`;
  return renderPage({ title, content, refresh: order && refreshOf(order, visit.now) });
}

/** Before `npm start` has made the demonstration merchant, or where it never ran. */
export function renderUnprepared(): Html {
  const content = html`<main class="narrow">
<section>
<h1>Tollgate</h1>
<p class="lead">The gateway runs in staging, and has no demonstration merchant.</p>
<p>Start it with <code class="value">npm start</code>: that brings the sandbox bank, a merchant
with endpoints, and test cards to pay with. This page then shows them.</p>
</section>
</main>`;
  return renderPage({ title, content });
}

/** Rarely after ten seconds: it empties a form being filled in. Never after five minutes. */
function refreshOf(order: OrderLine, now: Instant): Page["refresh"] {
  const ageMs = now - order.acceptedAt;
  if (order.status !== "processing" || ageMs > minutes(5)) return undefined;
  const address = `/?order=${encodeURIComponent(order.clientOrderId)}`;
  return { seconds: ageMs < seconds(10) ? 2 : 15, address };
}

function renderHead({ missing }: WelcomeFacts): Html {
  const ready = Object.keys(missing).length === 0;
  const state = ready
    ? html`<span class="pill good">ready</span>`
    : html`<span class="pill bad">not ready</span>`;
  return html`<header><h1>Tollgate</h1> <span class="pill">staging</span> ${state}</header>
<p class="lead">A card payment gateway of your own. No money moves here: the bank behind it is a
sandbox that runs on this machine.</p>
<nav aria-label="Go to"><a href="/portal/">Portal</a>
<a href="/docs/">Documentation</a> <a href="${shopUrl}">Shop</a> <a href="#pay">Pay</a>
<a href="#orders">Last orders</a>
<a href="#credentials">Credentials</a> <a href="#commands">Commands</a>
<a href="#cards">Test cards</a></nav>`;
}

function renderRunning({ baseUrl, bank, database, missing }: WelcomeFacts): Html {
  const faults = Object.entries(missing);
  const state =
    faults.length === 0
      ? html`Ready: the database is reached and the acquirer’s link is signed on.`
      : html`Not ready. ${faults.map(([name, fault]) => html`<br><code>${name}</code>: ${fault}`)}`;
  return html`<section id="running">
<h2>What is running</h2>
<dl>
<dt>Gateway</dt><dd><code class="value">${baseUrl}</code></dd>
<dt>Portal</dt><dd><a href="/portal/"><code>${baseUrl}/portal/</code></a>
<br><span class="hint">its two logins are in <code>demo.json</code></span></dd>
<dt>Documentation</dt><dd><a href="/docs/"><code>${baseUrl}/docs/</code></a></dd>
<dt>Shop</dt><dd><a href="${shopUrl}"><code>${shopUrl}</code></a>
<br><span class="hint">a demonstration shop: <code>npm run shop</code> starts it</span></dd>
<dt>Sandbox bank</dt><dd><a href="${bank.url}/"><code>${bank.url}</code></a>
<br><span class="hint">its books, messages and failure switches</span></dd>
<dt>ISO 8583 host</dt><dd><code class="value">${bank.host}</code></dd>
<dt>Database</dt><dd>${database}</dd>
<dt>State</dt><dd>${state}</dd>
</dl>
<p class="hint">For programs: <a href="/health/ready">/health/ready</a> and
<a href="/metrics">/metrics</a>.</p>
</section>`;
}

function renderCredentials({ merchant, endpoints, groups }: WelcomeFacts): Html {
  return html`<section id="credentials">
<h2>Credentials</h2>
<p class="hint">The demonstration merchant, also in <code>demo.json</code> in the data folder. A
click selects a whole value.</p>
<dl>
<dt>Login</dt><dd><code class="value">${merchant.login}</code></dd>
<dt>Control key</dt><dd><code class="value">${merchant.controlKey}</code></dd>
</dl>
<div class="scroll" tabindex="0" role="region" aria-label="Endpoints"><table>
<thead><tr><th>Endpoint</th><th>Number</th><th>Currency</th><th>3-D Secure</th></tr></thead>
<tbody>
${endpoints.map(
  ({ name, id, currency, settings }) => html`<tr><td>${name}</td>
<td><code class="value">${id}</code></td><td>${currency}</td>
<td class="prose">${policies[settings.threeDSecure]}</td></tr>\n`,
)}
${groups.map(
  ({ id, name, endpoints: members }) => html`<tr><td class="firm">group “${name}”</td>
<td><code class="value">${id}</code></td><td class="firm">by the order</td>
<td class="prose">as its endpoints: ${members.map((member) => member.name).join(", ")}</td></tr>\n`,
)}
</tbody></table></div>
</section>`;
}

// biome-ignore format: a table
const policies: Readonly<Record<EndpointSettings["threeDSecure"], string>> = {
  off:           "never",
  when_possible: "when the card is enrolled",
  always:        "always",
};

function renderCommands(facts: WelcomeFacts, clientOrderId: string): Html {
  const find = (policy: EndpointSettings["threeDSecure"]) =>
    facts.endpoints.find(
      ({ currency, settings }) =>
        currency === firstSale.currency && settings.threeDSecure === policy,
    );
  const endpoint = find("off");
  if (endpoint === undefined) return html``;
  const secure = find("when_possible");
  const sale = { ...firstSale, endpoint: endpoint.id, clientOrderId };
  const requests = makeRequests(facts, sale);
  return html`<section id="commands">
<h2>From the command line</h2>
<p class="hint">Paste both as they are. Load this page again for another order.</p>
<h3>Pay ${sale.amount} ${sale.currency}</h3>
<pre tabindex="0">${writeCommand(requests.sale)}</pre>
<h3>Ask for its status</h3>
<pre tabindex="0">${writeCommand(requests.status)}</pre>
${secure === undefined ? html`` : renderSecure(facts, secure.id, `secure-${clientOrderId}`)}
</section>`;
}

function renderSecure(facts: WelcomeFacts, endpoint: string, clientOrderId: string): Html {
  const { sale, status } = makeRequests(
    facts,
    makeSecureSale(facts.baseUrl, endpoint, clientOrderId),
  );
  return html`<h3>The same with 3-D Secure</h3>
<pre tabindex="0">${writeCommand(sale)}</pre>
<p class="hint">Open the <code>redirect-to</code> of its status in a browser. The code is 1234.</p>
<pre tabindex="0">${writeCommand(status, "application/json")}</pre>`;
}

function renderTryForm(
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

function renderCards({ cards, bank }: WelcomeFacts): Html {
  const table = html`<div class="scroll" tabindex="0" role="region" aria-label="Test cards"><table>
<thead><tr><th>Name</th><th>Card</th><th>What happens</th></tr></thead>
${groupsOf(cards ?? []).map(
  ([group, members]) => html`<tbody>
<tr><th colspan="3" scope="rowgroup">${group}</th></tr>
${members.map(
  ({ name, card, what }) => html`<tr><td class="firm">${name}</td>
<td class="firm"><code class="value">${card}</code></td>
<td class="prose">${explain(what)}</td></tr>\n`,
)}</tbody>\n`,
)}</table></div>`;
  return html`<section id="cards">
<h2>Test cards</h2>
<p class="hint">Any future expiry date, CVV <code>123</code>. The <a href="${bank.url}/">bank’s own
page</a> explains what other CVVs and amounts decide.</p>
${cards === undefined ? bankIsSilent : table}
</section>`;
}

const bankIsSilent = html`<p>The sandbox bank does not answer, so its cards are not known. Is it
running? <code>npm start</code> starts it together with the gateway.</p>`;

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

// biome-ignore format: a table
const looks: Readonly<Record<Status, { readonly look: string; readonly words: string }>> = {
  processing: { look: "wait", words: "In progress" },
  approved:   { look: "good", words: "Approved" },
  declined:   { look: "bad",  words: "Declined" },
  error:      { look: "bad",  words: "Ended with an error" },
  filtered:   { look: "",     words: "Filtered" },
};

function renderOrders({ orders, bank }: WelcomeFacts, chosen: string | undefined): Html {
  const table = html`<div class="scroll" tabindex="0" role="region" aria-label="Last orders"><table>
<thead><tr><th>Time</th><th>Client order id, order id</th><th class="number">Amount</th>
<th>Card</th><th>Stage</th><th>Error</th><th>At the bank</th></tr></thead>
<tbody>
${orders.map((order) => renderRow(order, bank.url, order.orderId === chosen ? "chosen" : ""))}
</tbody></table></div>`;
  return html`<section id="orders">
<h2>Last orders</h2>
<p class="hint">The demonstration merchant’s, the latest first, as in the status
response.</p>
${orders.length === 0 ? noOrders : table}
</section>`;
}

/** What a page that was opened right after a payment says first. */
function renderResult(order: OrderLine, bankUrl: string): Html {
  const { clientOrderId, amount, cardMask, error, status } = order;
  return html`<section class="result ${looks[status].look}" role="status">
<h2>${looks[status].words} ${pill(order)}</h2>
<p>${amount} on <span class="mono">${cardMask}</span>, order
<code class="value">${clientOrderId}</code>.
${error === "" ? undefined : html`Error <code>${error}</code>.`}</p>
${messagesLink(order, bankUrl, "What the bank was asked and answered")}
${status === "processing" ? html`<p class="hint">This page refreshes itself.</p>` : undefined}
</section>`;
}

const noOrders = html`<p>None yet. Pay with a test card, or paste the command below.</p>`;

function renderRow(order: OrderLine, bankUrl: string, look: "chosen" | ""): Html {
  const { orderId, clientOrderId, time, amount, cardMask, error } = order;
  const [day = "", moment = "", zone = ""] = time.split(" ");
  return html`<tr class="${look}"><td class="firm">${moment}<small>${day} ${zone}</small></td>
<td class="mono"><span class="value">${clientOrderId}</span>
<small class="mono"><span class="value">${orderId}</span></small></td>
<td class="number">${amount}</td><td class="mono firm">${cardMask}</td>
<td>${pill(order)}</td><td class="prose">${error}</td>
<td class="firm">${messagesLink(order, bankUrl, "messages")}</td></tr>\n`;
}

function pill({ status, stage }: OrderLine): Html {
  return html`<span class="pill ${looks[status].look} mono">${stage}</span>`;
}

/** To the bank's own account of it; nothing was said to the bank when there is no reference. */
function messagesLink({ reference }: OrderLine, bankUrl: string, text: string): Html | undefined {
  if (reference === "") return undefined;
  const address = `${bankUrl}/messages?reference=${encodeURIComponent(reference)}`;
  return html`<a href="${address}">${text}</a>`;
}
