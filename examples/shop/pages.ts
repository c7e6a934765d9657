/**
 * The shop's two pages: the checkout, and the order, which shows only what is known. The template
 * escapes text. No page ever contains a card number or a security code.
 */
import { isNotReceived, monthToCharge, type Order } from "./orders.ts";
import { demonstrationContact } from "./payments.ts";

/** The price in the currency of the shop's endpoint: `SHOP_PRICE="3600 JPY" npm run shop`. */
const [amount = "", currency = "USD"] = (process.env["SHOP_PRICE"] ?? "24.00 USD").split(" ");
export const product = { title: "A crate of winter apples", amount, currency };
const price = new Intl.NumberFormat("en", { style: "currency", currency }).format(Number(amount));

class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Part = string | Html | readonly Html[] | undefined;

function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const rendered = parts.map((part = "") => {
    if (typeof part !== "string") return [part].flat().reduce((all, { text }) => all + text, "");
    return part.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
  });
  return new Html(String.raw({ raw: strings }, ...rendered));
}

/**
 * Renders a page. With `againAfterS` it reloads itself after that time, because something may have
 * changed.
 */
function renderPage(title: string, content: Html, againAfterS?: number): string {
  const seconds = againAfterS === undefined ? undefined : String(againAfterS);
  const refresh =
    seconds && html`<noscript><meta http-equiv="refresh" content="${seconds}"></noscript>`;
  const again = seconds && html` data-again-after-s="${seconds}"`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="/apples.svg">
<link rel="stylesheet" href="/shop.css">
${refresh || undefined}
<script src="/browser.js" defer></script>
</head>
<body${again || undefined}>
<header><a href="/">Hill Orchard</a> <span>Demonstration: no money moves</span></header>
<main>
${content}
</main>
</body>
</html>
`.text;
}

/** Renders the checkout. `mine` are the customer's orders, the latest first. */
export function renderCheckout(id: string, mine: readonly Order[]): string {
  const saved = Map.groupBy(
    mine.filter(({ cardReference }) => cardReference !== null),
    ({ cardName }) => cardName,
  );
  const cards = [...saved.values()].flatMap(([latest]) => (latest ? [latest] : []));
  const content = html`<div class="columns">
<section class="product">
<img src="/apples.svg" alt="" width="320" height="240">
<h1>${product.title}</h1>
<p>Four kilos, picked in October, kept cool on straw. They travel well and last until spring.</p>
<p class="price">${price} <small>delivery included</small></p>
</section>
<section class="checkout" aria-label="Checkout">
${renderWallets(id)}
${cards.map((order) => renderSavedCard(id, order))}
${renderCardForm(id)}
</section>
${renderTestCards()}
</div>`;
  return renderPage(`${product.title} · Hill Orchard`, content);
}

/**
 * Renders the checkout with hosted fields: three frames of the gateway in the shop's own form. The
 * page gets a token for the card, and neither page nor shop ever see the card.
 */
export function renderFields(
  id: string,
  { ticket, script, endpoint }: { ticket: string; script: string; endpoint: string },
): string {
  const field = (name: string, type: string, label: string, hint: string, wide = "") =>
    html`<div class="${wide}"><label for="${name}">${label}</label>
<div id="${name}" class="field" data-type="${type}" data-hint="${hint}"></div></div>`;
  const content = html`<section class="checkout" aria-label="Checkout">
<h1>${product.title}</h1>
<p class="price">${price} <small>delivery included</small></p>
<form method="post" action="/buy" id="pay" data-ticket="${ticket}" data-endpoint="${endpoint}">
<input type="hidden" name="order" value="${id}"><input type="hidden" name="way" value="card">
<input type="hidden" name="hosted_fields_token">
<fieldset class="card"><legend>Card</legend>
${field("card-number", "pan", "Card number", "4000 0020 0000 0016", "wide")}
${field("card-expiry", "exp", "Expiry date", "12 / 31")}
${field("card-code", "cvv", "Security code", "123")}
<label class="wide">Name on the card
<input name="card_printed_name" required autocomplete="cc-name" maxlength="128"
 placeholder="JANE DOE"></label>
</fieldset>
<p class="problem" role="alert"></p>
<button>Pay ${price}</button>
</form>
<script src="${script}" async></script>
</section>`;
  return renderPage(`${product.title} · Hill Orchard`, content);
}

function renderWallets(id: string): Html {
  return html`<form method="post" action="/buy" class="wallets" id="wallets" hidden>
<input type="hidden" name="order" value="${id}"><input type="hidden" name="way" value="card">
<input type="hidden" name="wallet"><input type="hidden" name="payment_data">
<button type="button" data-wallet="walleta" aria-label="Pay with Wallet A">Wallet A</button>
<button type="button" data-wallet="walletb" aria-label="Pay with Wallet B">Wallet B</button>
<p class="problem" role="alert"></p>
</form>`;
}

function renderSavedCard(id: string, { id: card, cardName }: Order): Html {
  const code = `code-${card}`;
  return html`<form method="post" action="/buy" class="saved">
<input type="hidden" name="order" value="${id}"><input type="hidden" name="way" value="saved">
<input type="hidden" name="card" value="${card}">
<label for="${code}"><b>${cardName ?? ""}</b> Security code</label>
<input id="${code}" name="cvv2" required inputmode="numeric" pattern="[0-9]{3,4}" maxlength="4"
 autocomplete="cc-csc">
<button>Pay ${price}</button>
</form>`;
}

function renderCardForm(id: string): Html {
  const { address1, city } = demonstrationContact;
  return html`<form method="post" action="/buy" id="pay">
<input type="hidden" name="order" value="${id}">
<fieldset class="often"><legend>How often?</legend>
<label><input type="radio" name="often" value="once" checked> Once</label>
<label><input type="radio" name="often" value="monthly"> Every month</label>
</fieldset>
<fieldset class="card"><legend>Card</legend>
<label class="wide">Card number
<input name="credit_card_number" required inputmode="numeric" autocomplete="cc-number"
 pattern="[0-9 ]{12,23}" maxlength="23" placeholder="4000 0020 0000 0016"></label>
<label>Month <input name="expire_month" required inputmode="numeric" autocomplete="cc-exp-month"
 pattern="0?[1-9]|1[0-2]" maxlength="2" placeholder="12"></label>
<label>Year <input name="expire_year" required inputmode="numeric" autocomplete="cc-exp-year"
 pattern="(20)?[0-9]{2}" maxlength="4" placeholder="2031"></label>
<label>Security code <input name="cvv2" required inputmode="numeric" autocomplete="cc-csc"
 pattern="[0-9]{3,4}" maxlength="4" placeholder="123"></label>
<label class="wide">Name on the card
<input name="card_printed_name" required autocomplete="cc-name" maxlength="128"
 placeholder="JANE DOE"></label>
</fieldset>
<details><summary>Deliver to ${address1}, ${city}</summary>
<div class="contact">${contactFields.map(renderContact)}</div>
</details>
<label><input type="checkbox" name="keep" value="yes"> Save this card for next time</label>
<button name="way" value="card">Pay ${price}</button>
<button name="way" value="page" formnovalidate class="second">Use the payment page</button>
<a class="button second" href="/fields?order=${id}">Use hosted fields</a>
</form>`;
}

const contactFields: readonly (readonly [
  keyof typeof demonstrationContact,
  label: string,
  autocomplete: string,
])[] = [
  ["email", "Email", "email"],
  ["phone", "Phone", "tel"],
  ["address1", "Street", "street-address"],
  ["city", "City", "address-level2"],
  ["zip_code", "Postal code", "postal-code"],
  ["state", "State", "address-level1"],
  ["country", "Country", "country"],
];

function renderContact([name, label, autocomplete]: (typeof contactFields)[number]): Html {
  return html`<label>${label}
<input name="${name}" value="${demonstrationContact[name]}" autocomplete="${autocomplete}">
</label>`;
}

const testCards = [
  ["4000002000000016", "approved at once"],
  ["4000002000000024", "challenge, the code is 1234"],
  ["4000003000000014", "3-D Secure 1.0.2"],
  ["4000004000000020", "declined"],
  ["4000004000000194", "slow bank"],
  ["4000004000000129", "bank never answers"],
] as const;

function renderTestCards(): Html {
  const rows = testCards.map(
    ([card, what]) =>
      html`<li><button type="button" data-card="${card}"><code>${card}</code>
${what}</button></li>`,
  );
  return html`<aside><h2>Test cards</h2><ul>${rows}</ul></aside>`;
}

type Said = {
  readonly title: string;
  readonly text: string;
  readonly againAfterS?: number;
  readonly link?: readonly [address: string, text: string];
};

export function renderOrder(
  order: Order,
  history: readonly Readonly<Record<string, unknown>>[],
  following: readonly Order[],
): string {
  const { title, text, againAfterS, link } = sentencesOf(order);
  const lines = history.map(({ at, what }) => {
    const shown = `${String(at).slice(0, 16).replace("T", " ")} UTC`;
    return html`<li><b>${String(what)}</b> <time datetime="${String(at)}">${shown}</time></li>`;
  });
  const facts = [
    ["Order", order.title],
    ["Price", `${order.amount} ${order.currency}`],
    ["Refunded", order.refunded === "0.00" ? null : `${order.refunded} ${order.currency}`],
    ["Saved card", order.cardName],
    ["Number", order.id],
    ["Payment", order.gatewayOrder],
  ].flatMap(([name, value]) => (value ? [html`<dt>${name ?? ""}</dt><dd>${value}</dd>`] : []));
  const content = html`<section class="order ${order.state}">
<p class="state">${order.state}</p>
<h1>${title}</h1>
<p role="status">${text}</p>
${link && html`<p><a class="button" href="${link[0]}">${link[1]}</a></p>`}
<dl>${facts}</dl>
<ol class="history">${lines}</ol>
${renderMonths(order, following)}
${
  order.state === "paid"
    ? html`<form method="post" action="/orders/${order.id}/refund">
<button class="second">Send it back</button> ${forStaff}</form>`
    : undefined
}
</section>`;
  return renderPage(`${title} · Hill Orchard`, content, againAfterS);
}

function renderMonths(order: Order, following: readonly Order[]): Html | undefined {
  if (order.isMonthly !== 1 || order.state !== "paid" || order.profile === null) return undefined;
  const months = following.map(
    ({ id, state }, at) =>
      html`<li><a href="/orders/${id}">Month ${String(at + 2)}</a>: ${state}</li>`,
  );
  return html`<h2>Your subscription</h2>${months.length > 0 ? html`<ul>${months}</ul>` : undefined}
<form method="post" action="/orders/${order.id}/next-month">
<input type="hidden" name="month" value="${String(monthToCharge(following))}">
<button>Charge the next month</button> ${forStaff}</form>`;
}

const forStaff = html`<small>IN A REAL SHOP ONLY SIGNED-IN STAFF MAY DO THIS.</small>`;

/** Returns the text about an order's state. It never asks for another payment of an open order. */
function sentencesOf({ id, state, detail, paymentPage, follows }: Order): Said {
  if (state === "paid") {
    return { title: "Thank you", text: "You have paid. Your apples are on their way." };
  }
  if (state === "refunded") return { title: "Refunded", text: "Your money is on its way back." };
  if (state === "failed") {
    const [word = ""] = /^[A-Z_0-9]+/.exec(detail) ?? [];
    const reason = reasons[word] ?? "The payment was declined.";
    const text = `${reason} You owe nothing for this order.`;
    return { title: "Not paid", text, link: ["/", "Try again"] };
  }
  if (detail === "bank_step") {
    const link = [`/orders/${id}/step`, "Continue to your bank"] as const;
    return { ...waits["bank_step"], link };
  }
  if (isNotReceived({ state, detail })) {
    if (follows !== null) return { ...waits["month"], link: [`/orders/${follows}`, "All months"] };
    return { ...waits["not_received"], link: [`/?order=${id}`, "Pay again"] };
  }
  const said = waits[detail] ?? waits["processing"];
  if (detail !== "processing" || paymentPage === null) return said;
  return { ...waits["page"], link: [paymentPage, "Go to the payment page"] };
}

// biome-ignore format: a table
const waits: Readonly<Record<string, Said>> & Readonly<Record<"processing" | "bank_step" | "not_received" | "month" | "page", Said>> = {
  processing:   { againAfterS: 3,  title: "One moment",               text: "Your bank is deciding. This page will tell." },
  sending:      { againAfterS: 3,  title: "One moment",               text: "We are sending your payment. This page will tell." },
  bank_step:    { againAfterS: 15, title: "Your bank has a question", text: "Your bank wants to know that it is you. Nothing is charged before." },
  page:         { againAfterS: 5,  title: "Not paid yet",             text: "The payment page is waiting for your card." },
  in_doubt:     { againAfterS: 5,  title: "We do not know yet",       text: "Your bank’s answer was lost. You may have been charged. Please do not pay again: we are finding out, and this order is paid once or not at all." },
  unreachable:  { againAfterS: 5,  title: "We do not know yet",       text: "We cannot reach the payment service. You may have been charged. Please do not pay again: we keep asking." },
  not_received: { againAfterS: 15, title: "Your payment did not arrive", text: "The payment service has not received it. You may pay again here: this order can be charged only once." },
  month:        { againAfterS: 15, title: "Your payment did not arrive", text: "The payment service has not received it. This month can be charged again, and only once." },
  wrong_amount: {                  title: "We are checking",          text: "The amount that was charged is not the price. We are looking at it, and will write to you." },
};

/** The texts of reasons. They contain no detail that helps to test stolen cards. */
const reasons: Readonly<Record<string, string>> = {
  INSUFFICIENT_FUNDS: "There is not enough money on the card.",
  EXPIRED_CARD: "The card has expired.",
  CVV_MISMATCH: "The security code is wrong.",
  INVALID_PARAMETER: "A field of the form was not filled in correctly.",
  MISSING_PARAMETER: "A field of the form was left empty.",
};
