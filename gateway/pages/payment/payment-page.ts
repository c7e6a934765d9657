/**
 * The page on which the cardholder enters a card, for an order or a payment link. It is a plain
 * form that works without scripts; its script finds the values that it needs in the markup.
 */
import type { ChargeKind } from "../../orders/order.ts";
import type { Network } from "../../values/card-number.ts";
import { type FailureCode, failures } from "../../values/failure.ts";
import { Html, html } from "../../values/html.ts";
import { formatAmount, type Money } from "../../values/money.ts";
import { renderFields } from "../../views/browser-step.ts";
import type { Texts } from "../cardholder/english.ts";
import {
  type FieldReader,
  type Refilled,
  renderCardFields,
  renderCustomerFields,
  type WantedFields,
} from "./form-fields.ts";
import { renderWallets, type WalletOffer } from "./wallet-buttons.ts";

export type PaymentView = {
  readonly shop: ShownShop;
  readonly kind: PagedKind;
  readonly amount: Money;
  readonly description: string;
  /** The customer fields that the endpoint asks for and the merchant has not sent. */
  readonly wanted: WantedFields;
  readonly needsCvv: boolean;
  /** The reason why the last try was refused. */
  readonly refusal?: FailureCode | undefined;
  readonly triesLeft?: number | undefined;
  /** Absent if the page does not expire. */
  readonly secondsLeft?: number | undefined;
  readonly wallets?: readonly WalletOffer[];
  /** The proof of work to solve, if one is demanded. */
  readonly challenge?: string | undefined;
  /** The id of a payment link's page, which is new each time that the page is shown. */
  readonly linkPage?: string | undefined;
  /** The origins that may embed the page. It sends them a message when the cardholder closes it. */
  readonly framedBy?: readonly string[];
  /** The values of a faulty submission, or of the previous try. */
  readonly refilled?: Refilled | undefined;
  /** Why the submission did not begin a try, for example after too many tries. */
  readonly notice?: string | undefined;
};

type ShownShop = {
  readonly name: string;
  /** A `data:` URL. */
  readonly logo?: string | undefined;
  readonly colour?: string | undefined;
};

export type PageReader = FieldReader & {
  /** Empty if the operator has set no name. */
  readonly operator: string;
};

/** Payouts have no payment page. */
type PagedKind = Exclude<ChargeKind, "payout">;
type Facts = { readonly amount: string; readonly merchant: string; readonly operator: string };

const wordsCharactersMax = 280;

export function renderPayment(view: PaymentView, reader: PageReader): Html {
  const { texts, operator } = reader;
  const { shop, amount } = view;
  const printed = texts.money(`${formatAmount(amount)} ${amount.currency.code}`);
  const facts = { amount: printed, merchant: shop.name, operator };
  const { title, note, button } = wordsFor(view.kind, texts, facts);
  const heading =
    view.kind === "account-verification"
      ? html`<strong>${title}</strong>`
      : html`<span>${title} </span><strong>${printed}</strong>`;
  const { framedBy = [] } = view;
  const hidden = [...browserFields, ...walletInputs, ["link-page", view.linkPage ?? ""] as const];
  const origins = framedBy.join(" ");
  const embedding = origins === "" ? undefined : html` data-embed="${origins}"`;
  return html`<main class="pay">
${renderMarks()}
<div class="bill">
${renderShop(shop)}
<h1>${heading}</h1>
${renderWords(view.description)}${renderWords(note)}</div>
<section class="till">
${renderNotice(view, texts)}${renderScriptsNeeded(view, texts)}
${renderWallets(view.wallets ?? [], amount, texts)}
<form id="pay" method="post" autocomplete="on"${embedding}>
${renderCardFields(view, reader)}${renderCustomerFields(view, reader)}
${renderChallenge(view)}${renderFields(hidden)}${renderButton(button, texts)}
${renderTime(view, texts)}<p class="assurance">${texts.pay.note(facts)}</p>
</form>
</section>
${operator === "" ? undefined : html`<footer>${texts.pay.by(facts)}</footer>\n`}</main>`;
}

function wordsFor(kind: PagedKind, { pay }: Texts, facts: Facts) {
  switch (kind) {
    case "sale":
      return { title: pay.amount, note: "", button: pay.button(facts) };
    case "preauth":
      return {
        title: pay.reserved,
        note: pay.reservedNote(facts),
        button: pay.buttonReserve(facts),
      };
    case "account-verification":
      return { title: pay.verify, note: pay.verifyNote(facts), button: pay.buttonVerify };
  }
}

function renderShop({ name, logo }: ShownShop): Html {
  const initial = [...name.trim()][0]?.toUpperCase() ?? "";
  const mark =
    logo === undefined
      ? html`<span class="initial" aria-hidden="true">${initial}</span>`
      : html`<img src="${logo}" alt="">`;
  return html`<p class="shop">${mark}<span>${name}</span></p>`;
}

function renderWords(text: string): Html | undefined {
  if (text === "") return undefined;
  const isLong = text.length > wordsCharactersMax;
  const shown = isLong ? `${text.slice(0, wordsCharactersMax).trimEnd()} …` : text;
  return html`<p class="what">${shown}</p>\n`;
}

function renderNotice(view: PaymentView, texts: Texts): Html | undefined {
  const { refilled, refusal, triesLeft } = view;
  const hasFaults = refilled !== undefined && refilled.faults.size > 0;
  const notice = view.notice ?? (hasFaults ? texts.pay.faultsFound : undefined);
  if (notice !== undefined) return html`<p ${focused}>${notice}</p>\n`;
  if (refusal === undefined) return undefined;
  const left = triesLeft === undefined ? "" : texts.pay.triesLeft(triesLeft);
  const word = refusalOf(refusal);
  const sentences = [texts.pay.refusals[word], texts.pay.refusedNext, left].join(" ").trim();
  // A refusal by the gateway's own rules has a text without a title.
  const title = word === "rules" ? undefined : html`<strong>${texts.pay.refusedTitle}</strong>\n`;
  return html`<p ${focused}>${title}${sentences}</p>\n`;
}

/** With `autofocus`, browsers focus the notice without a script, except in another site's frame. */
const focused = html`class="notice" role="alert" tabindex="-1" autofocus`;

const lock = html`<svg viewBox="0 0 16 16" aria-hidden="true" focusable="false">
<path d="M4.5 7V5a3.5 3.5 0 0 1 7 0v2" fill="none" stroke="currentColor" stroke-width="1.75"/>
<rect x="2.5" y="6.75" width="11" height="8" rx="2" fill="currentColor"/></svg>`;

function renderButton(label: string, { pay }: Texts): Html {
  return html`<button type="submit" data-busy="${pay.busy}">${lock}<span>${label}</span></button>`;
}

/** The script solves the proof of work while the cardholder types. */
function renderChallenge({ challenge }: PaymentView): Html | undefined {
  if (challenge === undefined) return undefined;
  return html`<input type="hidden" name="proof" data-challenge="${challenge}">\n`;
}

function renderScriptsNeeded({ challenge }: PaymentView, { pay }: Texts): Html | undefined {
  if (challenge === undefined) return undefined;
  return html`<noscript><p class="notice" role="alert">${pay.proofScripts}</p></noscript>\n`;
}

/** The text is hidden. The script shows it in the last minutes. */
function renderTime({ secondsLeft }: PaymentView, { pay }: Texts): Html | undefined {
  if (secondsLeft === undefined) return undefined;
  return html`<p class="time" id="time" role="timer" data-seconds="${secondsLeft}" hidden>
${pay.timeLeft} <span></span></p>
`;
}

/** The browser's properties that the script reports, for 3-D Secure. */
export const browserNames = [
  ...["color_depth", "java_enabled", "javascript_enabled", "screen_height", "screen_width"],
  "time_zone",
];
const walletInputs = [["payment_data", ""] as const, ["payment_data_type", ""] as const];
const browserFields = browserNames.map((name) => {
  return [`browser_${name}`, name === "javascript_enabled" ? "false" : ""] as const;
});

type RefusalWord = keyof Texts["pay"]["refusals"];

/**
 * The texts of refusals. A reason that would help a card tester, such as a stolen card, has no row,
 * so its text is that of any other decline.
 */
const refusals: Partial<Record<FailureCode, RefusalWord>> = {
  insufficient_funds: "funds",
  limit_exceeded: "funds",
  partial_approval_refused: "funds",
  expired_card: "expired",
  cvv_mismatch: "cvv",
  invalid_card: "number",
  no_card_record: "number",
  not_permitted: "kind",
  authentication_required: "authentication",
  authentication_missing: "rules",
  host_malfunction: "unreachable",
  issuer_unavailable: "unreachable",
  no_gate: "rules",
  value_not_supported: "rules",
};

/** The texts of other failures, by their numbers. All refusals by the gateway's rules share one. */
const refusalRanges: readonly (readonly [from: number, to: number, word: RefusalWord])[] = [
  [1000, 1999, "rules"],
  [2000, 2899, "authentication"],
  [3000, 3999, "wallet"],
  [5000, 5999, "unreachable"],
];

function refusalOf(code: FailureCode): RefusalWord {
  const { number } = failures[code];
  const range = refusalRanges.find(([from, to]) => number >= from && number <= to);
  return refusals[code] ?? range?.[2] ?? "declined";
}

type Mark = { readonly name: string; readonly shape: string };

const plate = (fill: string) => `<rect width="36" height="24" rx="4" fill="${fill}"/>`;
const frame = '<rect x=".5" y=".5" width="35" height="23" rx="3.5" fill="#fff" stroke="#c4ccc9"/>';
const word = (text: string, fill: string, size = 9) =>
  `<text x="18" y="${12 + size * 0.36}" font-family="Arial, Helvetica, sans-serif" ` +
  `font-weight="700" font-size="${size}" text-anchor="middle" fill="${fill}">${text}</text>`;
const discs = (left: string, right: string) =>
  `<circle cx="14" cy="12" r="7" fill="${left}"/><circle cx="22" cy="12" r="7" fill="${right}"/>` +
  '<path d="M18 6.26a7 7 0 0 1 0 11.48 7 7 0 0 1 0-11.48z" fill="#fff" fill-opacity=".35"/>';

/** The card networks' marks are simple shapes, so that the page loads no pictures. */
// biome-ignore format: a table
const networkMarks: Readonly<Record<Network, Mark>> = {
  VISA:       { name: "Visa",             shape: `${frame}<g transform="skewX(-12) translate(2.6 0)">${word("VISA", "#1a3fb0", 10)}</g>` },
  MASTERCARD: { name: "Mastercard",       shape: `${frame}${discs("#e2231a", "#f5a01d")}` },
  MAESTRO:    { name: "Maestro",          shape: `${frame}${discs("#1f72c9", "#e2231a")}` },
  AMEX:       { name: "American Express", shape: `${plate("#1f6fc4")}${word("AMEX", "#fff", 9)}` },
  DISCOVER:   { name: "Discover",         shape: `${frame}${word("DISC", "#333", 8)}<circle cx="29.5" cy="18" r="3.5" fill="#f58220"/>` },
  DINERS:     { name: "Diners Club",      shape: `${frame}<circle cx="18" cy="12" r="8" fill="#1b4f9c"/><path d="M16 7a5.4 5.4 0 0 0 0 10zM20 7a5.4 5.4 0 0 1 0 10z" fill="#fff"/>` },
  JCB:        { name: "JCB",              shape: `${frame}<rect x="6" y="4" width="7.4" height="16" rx="2.4" fill="#1f5fb4"/><rect x="14.3" y="4" width="7.4" height="16" rx="2.4" fill="#d6263c"/><rect x="22.6" y="4" width="7.4" height="16" rx="2.4" fill="#2a9c4b"/>` },
  UNIONPAY:   { name: "UnionPay",         shape: `${frame}<path d="M9 4h7l-3.4 16h-7z" fill="#d6263c"/><path d="M16.5 4h7l-3.4 16h-7z" fill="#1c5a8f"/><path d="M24 4h7l-3.4 16h-7z" fill="#15807c"/>` },
  MIR:        { name: "Mir",              shape: `${frame}${word("MIR", "#1f8a4c", 10)}` },
};

/** Shown while the card's network is not known. */
const plainMark =
  '<g fill="none" stroke="#7d8a86" stroke-width="1.5" stroke-linecap="round">' +
  '<rect x="1" y="2" width="34" height="20" rx="3"/><path d="M6 16h8"/>' +
  '<path d="M1 8.5h34" stroke-width="3" stroke-linecap="butt"/></g>';

/** The shapes are rendered once, hidden. The script shows any of them with `<use>`. */
function renderMarks(): Html {
  const all = { none: { name: "", shape: plainMark }, ...networkMarks };
  const symbols = Object.entries(all).map(([key, { name, shape }]) => {
    const marked = html`<symbol id="mark-${key}" data-name="${name}" viewBox="0 0 36 24">`;
    return html`${marked}${new Html(shape)}</symbol>\n`;
  });
  return html`<svg width="0" height="0" aria-hidden="true" focusable="false">${symbols}</svg>`;
}
