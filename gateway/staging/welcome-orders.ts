/** The last orders as a table, and the one that the visitor has just paid for. */
import { type Html, html } from "../values/html.ts";
import type { OrderLine } from "../views/status.ts";
import type { WelcomeFacts } from "./welcome-facts.ts";

// biome-ignore format: a table
const looks: Readonly<Record<OrderLine["status"], string>> = {
  processing: "wait",
  approved:   "good",
  declined:   "bad",
  error:      "bad",
  filtered:   "",
};

export function renderOrders({ orders, bank }: WelcomeFacts, chosen: string | undefined): Html {
  return html`<section id="orders">
<h2>Last orders</h2>
<p class="hint">The demonstration merchant’s, the latest first, as the status response tells
them.</p>
${orders.length === 0 ? noOrders : renderTable(orders, bank.url, chosen)}
</section>`;
}

/** What a page that was opened right after a payment says first. */
export function renderResult(order: OrderLine, bankUrl: string): Html {
  const { clientOrderId, amount, cardMask, error, status } = order;
  return html`<section class="result ${looks[status]}" role="status">
<h2>${words[status]} ${pill(order)}</h2>
<p>${amount} on <span class="mono">${cardMask}</span>, order
<code class="value">${clientOrderId}</code>.
${error === "" ? undefined : html`Error <code>${error}</code>.`}</p>
${messagesLink(order, bankUrl, "What the bank was asked and answered")}
${status === "processing" ? watching : undefined}
</section>`;
}

const watching = html`<p class="hint">This page looks again by itself.</p>`;

// biome-ignore format: a table
const words: Readonly<Record<OrderLine["status"], string>> = {
  processing: "On its way",
  approved:   "Approved",
  declined:   "Declined",
  error:      "Ended with an error",
  filtered:   "Filtered",
};

const noOrders = html`<p>None yet. Pay with a test card, or paste the command below.</p>`;

function renderTable(
  orders: readonly OrderLine[],
  bankUrl: string,
  chosen: string | undefined,
): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Last orders"><table>
<thead><tr><th>Time</th><th>Client order id, order id</th><th class="number">Amount</th>
<th>Card</th><th>Stage</th><th>Error</th><th>At the bank</th></tr></thead>
<tbody>
${orders.map((order) => renderRow(order, bankUrl, order.orderId === chosen ? "chosen" : ""))}
</tbody></table></div>`;
}

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
  return html`<span class="pill ${looks[status]} mono">${stage}</span>`;
}

/** To the bank's own account of it; nothing was said to the bank when there is no reference. */
function messagesLink({ reference }: OrderLine, bankUrl: string, text: string): Html | undefined {
  if (reference === "") return undefined;
  const address = `${bankUrl}/messages?reference=${encodeURIComponent(reference)}`;
  return html`<a href="${address}">${text}</a>`;
}
