/**
 * The page at `/` in staging: what is running, how to pay, and what became of it. Rendering only;
 * whatever comes from merchants is escaped by the template.
 */

import { type Page, renderPage } from "../pages/design.ts";
import { type Html, html } from "../values/html.ts";
import { type Instant, minutes, seconds } from "../values/time.ts";
import type { OrderLine } from "../views/status.ts";
import {
  type ExampleSale,
  firstSale,
  writeSaleCommand,
  writeStatusCommand,
} from "./example-sale.ts";
import { renderCards, renderTryForm } from "./welcome-cards.ts";
import type { Chosen, EndpointLine, WelcomeFacts } from "./welcome-facts.ts";
import { renderOrders, renderResult } from "./welcome-orders.ts";

export type Visit = {
  readonly now: Instant;
  /** For the sale to paste: a new one each time the page is loaded. */
  readonly newOrderId: string;
  /** The client order id that the visitor has just paid for. */
  readonly wanted?: string | undefined;
  /** A form that could not be sent on: why, and what was chosen in it. */
  readonly refused?: { readonly sentence: string; readonly chosen: Chosen } | undefined;
};

const title = "Tollgate (staging)";

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
${renderReading()}
</main>`;
  return renderPage({ title, content, refresh: order && whenToLookAgain(order, visit.now) });
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

/**
 * Soon at first, then seldom, because it empties a form that is being filled in; and not for ever,
 * because a tab may be forgotten.
 */
function whenToLookAgain(order: OrderLine, now: Instant): Page["refresh"] {
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
<nav aria-label="On this page"><a href="#pay">Pay</a> <a href="#orders">Last orders</a>
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
  ({ name, id, currency, threeDSecure }) => html`<tr><td>${name}</td>
<td><code class="value">${id}</code></td><td>${currency}</td>
<td class="prose">${policies[threeDSecure]}</td></tr>\n`,
)}
${groups.map(
  ({ id, name, endpoints: members }) => html`<tr><td class="firm">group “${name}”</td>
<td><code class="value">${id}</code></td><td class="firm">by the order</td>
<td class="prose">as its endpoints: ${members.join(", ")}</td></tr>\n`,
)}
</tbody></table></div>
</section>`;
}

// biome-ignore format: a table
const policies: Readonly<Record<EndpointLine["threeDSecure"], string>> = {
  off:           "never",
  when_possible: "when the card takes part",
  always:        "always",
};

function renderCommands(facts: WelcomeFacts, clientOrderId: string): Html {
  const endpoint = facts.endpoints.find(({ currency, threeDSecure }) => {
    return currency === firstSale.currency && threeDSecure === "off";
  });
  if (endpoint === undefined) return html``;
  const sale: ExampleSale = { ...firstSale, endpoint: endpoint.id, clientOrderId };
  return html`<section id="commands">
<h2>From the command line</h2>
<p class="hint">Paste both as they are. Load this page again for another order.</p>
<h3>Pay ${sale.amount} ${sale.currency}</h3>
<pre tabindex="0">${writeSaleCommand(facts, sale)}</pre>
<h3>Ask how it went</h3>
<pre tabindex="0">${writeStatusCommand(facts, sale)}</pre>
</section>`;
}

function renderReading(): Html {
  return html`<footer>To read on, in the repository: <code>README.md</code>,
<code>docs/merchant-api/</code> for every operation, <code>docs/orders.md</code> for the life of an
order, <code>docs/operating.md</code> for production. On the command line,
<code>npm run gw -- order show</code> with an order id tells all that happened to it.</footer>`;
}
