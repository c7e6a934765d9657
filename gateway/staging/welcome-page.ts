/**
 * Renders the page at `/` in staging: the state of the gateway, the test cards, and links to all
 * other pages. The template escapes all text of merchants.
 */
import type { EndpointSettings } from "../orders/merchant.ts";
import { renderPage } from "../pages/design.ts";
import { type Html, html } from "../values/html.ts";
import type { Shop } from "./example-sale.ts";

export type WelcomeFacts = Pick<Shop, "baseUrl" | "merchant"> & {
  readonly sandbox: { readonly url: string; readonly host: string };
  readonly database: string;
  /** The reasons why the gateway does not accept requests; empty if it is ready. */
  readonly missing: Readonly<Record<string, string>>;
  readonly endpoints: readonly EndpointFacts[];
  readonly groups: readonly (Named & {
    readonly endpoints: readonly { readonly name: string }[];
  })[];
  /** Undefined if the sandbox does not answer. */
  readonly cards: readonly TestCard[] | undefined;
};

type Named = { readonly id: string; readonly name: string };
type EndpointFacts = Named & { readonly currency: string; readonly settings: EndpointSettings };

/** A row of the sandbox's catalogue. */
export type TestCard = Readonly<Record<"name" | "card" | "group" | "what", string>>;

const title = "Tollgate (staging)";
/** The address on which `npm run shop` listens beside the gateway. */
export const shopUrl = "http://127.0.0.1:8070/";

export function renderWelcome(facts: WelcomeFacts): Html {
  const content = html`<main>
${renderHead(facts)}
<div class="columns">
${renderPay(facts)}
${renderRunning(facts)}
</div>
${renderCredentials(facts)}
${renderCards(facts)}
</main>`;
  return renderPage({ title, content });
}

/**
 * Renders the page for an installation in which `npm start` has not made the demonstration merchant
 * yet, or never ran.
 */
export function renderUnprepared(): Html {
  const content = html`<main class="narrow">
<section>
<h1>Tollgate</h1>
<p class="lead">The gateway runs in staging, and has no demonstration merchant.</p>
<p>Start it with <code class="value">npm start</code>: that brings the sandbox, a merchant
with endpoints, and test cards to pay with. This page then shows them.</p>
</section>
</main>`;
  return renderPage({ title, content });
}

function renderHead({ missing }: WelcomeFacts): Html {
  const ready = Object.keys(missing).length === 0;
  const state = ready
    ? html`<span class="pill good">ready</span>`
    : html`<span class="pill bad">not ready</span>`;
  return html`<header><h1>Tollgate</h1> <span class="pill">staging</span> ${state}</header>
<p class="lead">A card payment gateway of your own. No money moves here: the acquirer behind
it is a sandbox that runs on this machine.</p>
<nav aria-label="Go to"><a href="/portal/">Portal</a>
<a href="/docs/">Documentation</a> <a href="${shopUrl}">Shop</a>
<a href="#credentials">Credentials</a> <a href="#cards">Test cards</a></nav>`;
}

function renderPay({ endpoints }: WelcomeFacts): Html {
  const [endpoint] = endpoints;
  return html`<section id="pay">
<h2>Pay with a test card</h2>
<dl>
<dt>In the portal</dt><dd><a href="/portal/sandbox">The sandbox</a> pays with any test card by a
click, with and without 3-D Secure, sets how the sandbox fails, and compares its ledger with the
gateway’s.</dd>
${
  endpoint === undefined
    ? ""
    : html`<dt>In a terminal</dt>
<dd><code class="value">npm run gw -- pay --endpoint ${endpoint.id}</code></dd>`
}
<dt>From a program</dt><dd>The <a href="/docs/quick-start">quick start</a> has requests to paste,
with the credentials below.</dd>
</dl>
<p>The portal’s <a href="/portal/orders">list of orders</a> shows every payment and all that
happened to it.</p>
</section>`;
}

function renderRunning({ baseUrl, sandbox, database, missing }: WelcomeFacts): Html {
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
<dt>Sandbox</dt><dd><code class="value">${sandbox.url}</code></dd>
<dt>ISO 8583 host</dt><dd><code class="value">${sandbox.host}</code></dd>
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

const policies: Readonly<Record<EndpointSettings["threeDSecure"], string>> = {
  off: "never",
  when_possible: "when the card is enrolled",
  always: "always",
};

function renderCards({ cards }: WelcomeFacts): Html {
  const table = html`<div class="scroll" tabindex="0" role="region" aria-label="Test cards"><table>
<thead><tr><th>Name</th><th>Card</th><th>What happens</th></tr></thead>
${[...Map.groupBy(cards ?? [], ({ group }) => group)].map(
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
<p class="hint">Any future expiry date, CVV <code>123</code>. The
<a href="/docs/test-cards">documentation</a> says what other CVVs and amounts decide.</p>
${cards === undefined ? sandboxIsSilent : table}
</section>`;
}

const sandboxIsSilent = html`<p>The sandbox does not answer, so its cards are not known. Is it
running? <code>npm start</code> starts it together with the gateway.</p>`;

/** Explains a card. The sandbox describes a plain decline by its response code alone. */
function explain(what: string): string {
  return /^[0-9A-Z]{2}$/.test(what) ? `declined with response code ${what}` : what;
}
