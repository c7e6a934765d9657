/**
 * Receipts of approved payments, for screen and paper. Merchants make the URLs from `receipt-id`.
 * Everyone who knows a URL can open it.
 */
import type { FindReceipt } from "../../engine/find.ts";
import { makeRateLimit } from "../../http/bounds.ts";
import { networkOf } from "../../http/client-network.ts";
import type { HttpReply, HttpRequest, HttpRoute } from "../../http/router.ts";
import type { Guarded } from "../../http/server.ts";
import { Failure } from "../../values/failure.ts";
import { type Html, html } from "../../values/html.ts";
import { formatAmount, type Money } from "../../values/money.ts";
import type { Clock, Instant } from "../../values/time.ts";
import {
  type Movement,
  type Receipt,
  type ReceiptRow,
  type ReceiptState,
  type RowName,
  receiptOf,
} from "../../views/receipt.ts";
import type { Theme } from "../design.ts";
import type { Texts } from "./english.ts";
import { type CardholderPage, linkFrom, makePageReply } from "./page-reply.ts";
import { messagePage, unavailablePage } from "./pages.ts";
import { printWhenClicked } from "./scripts.ts";

export type Receipts = Guarded<{ find: FindReceipt }>;

export type ReceiptRouteOptions = {
  readonly pathWord: string;
  readonly receipts: Receipts;
  readonly theme: Theme;
  readonly printDate: (instant: Instant) => string;
  readonly clock: Pick<Clock, "now">;
  /** Returns the address that a trusted proxy names, or else that of the connection. */
  readonly addressOf: (request: HttpRequest) => string;
};

/** Limits a client's requests for missing receipts, each of which costs a database query. */
const misses = { burst: 60, perSecond: 2 };

/** Returns a path below the gateway's public address. */
export function receiptPathOf(pathWord: string, endpointId: string, receiptId: string): string {
  return `${pathWord}/view-receipt/${endpointId}/${receiptId}/`;
}

export function receiptRoute(options: ReceiptRouteOptions): HttpRoute {
  const { pathWord, receipts, theme, printDate, clock, addressOf } = options;
  const missLimit = makeRateLimit<string>(misses, clock);
  return { method: "GET", path: `/${pathWord}/view-receipt/:endpointId/:receiptId`, answer };

  async function answer(request: HttpRequest): Promise<HttpReply> {
    const { texts, show } = makePageReply(request, theme);
    const [endpointId = "", receiptId = ""] = request.params;
    const client = networkOf(addressOf(request)) ?? "";
    const self = linkFrom(request, 0, `${encodeURIComponent(receiptId)}/`);
    const tryLater = unavailablePage(texts, { address: self });
    if (missLimit.take(client) > 0) return show({ ...tryLater, status: 429 });
    const found = await receipts.find(endpointId, receiptId);
    // Every missing receipt has the same page, which does not reveal which orders exist.
    if (found === undefined) {
      return show(messagePage(texts.noReceiptTitle, texts.noReceiptSentence, { status: 404 }));
    }
    missLimit.release(client);
    if (found instanceof Failure) return show(tryLater);
    const { order, merchantName } = found;
    const printAmount = (money: Money) =>
      texts.money(`${formatAmount(money)} ${money.currency.code}`);
    return show(receiptPage(receiptOf(order, { merchantName, printDate, printAmount }), texts));
  }
}

const tones: Readonly<Record<ReceiptState, string>> = {
  charged: "good",
  held: "wait",
  verified: "good",
  returned: "plain",
  returned_in_part: "plain",
  cancelled: "plain",
};

/** The rows with numbers and codes, which screen readers read out digit by digit. */
const numbers: ReadonlySet<RowName> = new Set([
  ...(["terminal", "card", "approvalCode", "reference", "networkId"] as const),
  ...(["orderId", "receiptId"] as const),
]);

function receiptPage(receipt: Receipt, texts: Texts): CardholderPage {
  const { state, merchantName: merchant, kind, rows, since } = receipt;
  return {
    title: `${texts.receiptTitle} – ${merchant}`,
    script: printWhenClicked,
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
