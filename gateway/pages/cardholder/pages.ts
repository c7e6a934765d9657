/**
 * The pages of a 3-D Secure authentication: for each step, for waiting, for the return to the shop,
 * for the result if the shop has no page for it, and for errors.
 */
import type { PendingStep } from "../../orders/authentication.ts";
import type { Order } from "../../orders/order.ts";
import { stagesInDoubt } from "../../orders/stages.ts";
import { initialOf } from "../../orders/transactions.ts";
import { type Html, html } from "../../values/html.ts";
import { formOf, type PostForm, renderFields } from "../../views/browser-step.ts";
import type { BrowserReturn, ReceiptAddress } from "../../views/result.ts";
import { type Status, statusOf } from "../../views/status.ts";
import type { Texts } from "./english.ts";
import type { CardholderPage } from "./page-reply.ts";
import * as scripts from "./scripts.ts";

type StepOf<Kind> = Extract<PendingStep, { readonly kind: Kind }>;

export type JourneyLinks = {
  /** The URL that shows the order's present stage. */
  readonly redirect: string;
  /** Where the page's script reports the browser's properties. */
  readonly report: string;
  readonly toReceipt: (address: ReceiptAddress) => string;
};

export function stepPage(step: PendingStep, texts: Texts, links: JourneyLinks): CardholderPage {
  switch (step.kind) {
    case "method":
      return methodPage(step, texts, links.report);
    case "challenge":
      return challengePage(step, texts);
    case "pares":
      return paresPage(step, texts);
  }
}

/** Fields for the browser's properties, with the values that a browser without scripts sends. */
export const browserReport: PostForm["fields"] = [
  ["browserJavascriptEnabled", "false"],
  ["browserJavaEnabled", ""],
  ["browserLanguage", ""],
  ["browserColorDepth", ""],
  ["browserTZ", ""],
  ["browserScreenHeight", ""],
  ["browserScreenWidth", ""],
];

function methodPage(step: StepOf<"method">, texts: Texts, report: string): CardholderPage {
  const ids = [["threeDSServerTransID", step.transactionId]] as const;
  const reported = [...ids, ["threeDSCompInd", "N"] as const, ...browserReport];
  return {
    title: texts.methodTitle,
    script: scripts.runMethod,
    postsTo: step.methodUrl,
    isFraming: true,
    content: html`<main class="narrow">
<h1>${texts.methodTitle}</h1>
<p class="lead working" role="status">${texts.methodSentence}</p>
<form id="report" method="post" action="${report}">
${renderFields(reported)}<button>${texts.continue}</button>
</form>
<form id="form" method="post" action="${step.methodUrl}" target="issuer" hidden>
${renderFields([["threeDSMethodData", step.framedMethodData]])}</form>
<iframe id="frame" name="issuer" class="unseen" title="${texts.methodFrame}" aria-hidden="true"
 tabindex="-1" sandbox="allow-forms allow-scripts allow-same-origin"></iframe>
</main>`,
  };
}

/** Without scripts, the issuer's challenge opens in the whole window and not in a frame. */
function challengePage(step: StepOf<"challenge">, texts: Texts): CardholderPage {
  return {
    title: texts.challengeTitle,
    script: scripts.openChallenge,
    postsTo: step.acsUrl,
    isFraming: true,
    isPolling: true,
    content: html`<main class="framing">
<h1>${texts.challengeTitle}</h1>
<p class="lead">${texts.challengeSentence}</p>
<form id="form" method="post" action="${step.acsUrl}"
 data-creq03="${step.creqFor("03")}" data-creq04="${step.creqFor("04")}">
${renderFields([["creq", step.creqFor("05")]])}<button>${texts.challengeButton}</button>
</form>
<iframe id="frame" name="issuer" title="${texts.challengeFrame}" hidden
 sandbox="allow-forms allow-scripts allow-same-origin allow-popups"
 allow="payment *; publickey-credentials-get *; publickey-credentials-create *"></iframe>
</main>`,
  };
}

function paresPage(step: StepOf<"pares">, texts: Texts): CardholderPage {
  const form = formOf(step);
  return messagePage(texts.challengeTitle, texts.challengeSentence, {
    body: renderForm(form, texts.challengeButton),
    script: scripts.submitAtOnce,
    postsTo: form.action,
  });
}

/** Shown while the gateway works. An order in doubt can take long, so its page polls less often. */
export function waitingPage(
  { transaction }: Order,
  texts: Texts,
  { redirect }: Pick<JourneyLinks, "redirect">,
): CardholderPage {
  const isInDoubt = stagesInDoubt.includes(transaction.stage);
  const seconds = isInDoubt ? 5 : 1;
  return {
    title: texts.waitingTitle,
    script: scripts.reloadSoon,
    refresh: { seconds, address: redirect, onlyWithoutScripts: true },
    content: html`<main class="narrow" data-seconds="${seconds}">
<h1>${texts.waitingTitle}</h1>
<p class="lead working" role="status">${isInDoubt ? texts.doubtSentence : texts.waitingSentence}</p>
</main>`,
  };
}

/**
 * The endpoint is disabled, so the order has no result that the shop's return URL could accept, and
 * the button leads to the shop's front page.
 */
export function disabledPage({ purchase: { urls } }: Order, texts: Texts): CardholderPage {
  const shop = URL.parse(urls.redirectFail ?? urls.redirect ?? urls.redirectSuccess ?? "")?.origin;
  const { title, sentence } = texts.pay.disabled;
  return messagePage(title, sentence, {
    role: "status",
    ...(shop && { body: renderLink({ address: shop }, texts.returnButton) }),
  });
}

/** Returns to the shop, or shows the result if the merchant gave no return URL. */
export function lastPage(result: BrowserReturn, texts: Texts, links: JourneyLinks): CardholderPage {
  const { url, fields } = result;
  if (url === undefined) return resultPage(result, texts, links);
  return messagePage(texts.returnTitle, texts.returnSentence, {
    role: "status",
    body: renderForm({ action: url, fields }, texts.returnButton),
    script: scripts.submitAtOnce,
    postsTo: url,
  });
}

/** In a shop's frame, the last page stays in the frame and reports the result to the shop. */
export function tellingPage(
  page: CardholderPage,
  order: Order,
  origins: readonly string[],
): CardholderPage {
  const { id, clientOrderId } = order;
  const status = statusOf(initialOf(order).stage);
  return {
    ...page,
    script: page.postsTo === undefined ? scripts.tellShop : scripts.tellShopOrReturn,
    content: html`${page.content}
<div id="told" data-origins="${origins.join(" ")}" data-status="${status}"
 data-order-id="${id}" data-client-order-id="${clientOrderId}" hidden></div>`,
  };
}

/** The texts of a result: its title, what has happened, and what the cardholder does next. */
const endings = {
  approved: ["approvedTitle", "approvedSentence", "approvedNext"],
  declined: ["declinedTitle", "declinedSentence", "declinedNext"],
  filtered: ["filteredTitle", "filteredSentence", "filteredNext"],
  error: ["errorTitle", "errorSentence", "errorNext"],
} as const;

/** The texts of an account verification name no payment, because nothing is charged. */
const verifications = {
  approved: ["verifiedTitle", "verifiedSentence", "approvedNext"],
  declined: ["unverifiedTitle", "unverifiedSentence", "unverifiedNext"],
  filtered: ["unverifiedTitle", "uncheckedSentence", "filteredNext"],
  error: ["uncheckedTitle", "uncheckedSentence", "uncheckedNext"],
} as const;

function resultPage(
  result: BrowserReturn,
  texts: Texts,
  { toReceipt }: JourneyLinks,
): CardholderPage {
  const { merchantName: merchant, cardMask, clientOrderId, receipt } = result;
  const amount = texts.money(result.amount);
  const isVerification = result.kind === "account-verification";
  const ending = finalOf(result.status);
  const [title, sentence, next] = (isVerification ? verifications : endings)[ending];
  const paid = isVerification ? undefined : html`<dt>${texts.amount}</dt><dd>${amount}</dd>\n`;
  const card = cardMask && html`<dt>${texts.card}</dt><dd class="mono">${cardMask}</dd>\n`;
  const link = receipt && renderReceiptLink(toReceipt(receipt), texts);
  return {
    title: texts[title],
    content: html`<main class="narrow">
<section class="result ${ending === "approved" ? "good" : "bad"}">
<h1>${texts[title]}</h1>
<p>${texts[sentence]({ amount, merchant })}</p>
<p class="lead">${texts[next]}</p>
</section>
<dl>
<dt>${texts.merchant}</dt><dd>${merchant}</dd>
${paid}${card}<dt>${texts.order}</dt><dd class="value">${clientOrderId}</dd>
</dl>
${link}</main>`,
  };
}

type PaidLink = {
  readonly shop: string;
  readonly amount: string;
  readonly date: string;
  /** Set only in the browser that has paid. */
  readonly receipt: string | undefined;
};

export function linkPaidPage(paid: PaidLink, texts: Texts): CardholderPage {
  const { title, sentence } = texts.pay.linkPaid;
  return {
    title,
    content: html`<main class="narrow">
<section class="result good">
<h1>${title}</h1>
<p class="lead" role="status">${sentence}</p>
</section>
<dl>
<dt>${texts.merchant}</dt><dd>${paid.shop}</dd>
<dt>${texts.amount}</dt><dd>${texts.money(paid.amount)}</dd>
<dt>${texts.paidAt}</dt><dd>${paid.date}</dd>
</dl>
${paid.receipt && renderReceiptLink(paid.receipt, texts)}</main>`,
  };
}

function renderReceiptLink(address: string, texts: Texts): Html {
  return html`<p><a class="button" href="${address}">${texts.receiptLink}</a></p>\n`;
}

function finalOf(status: Status): keyof typeof endings {
  if (status === "processing") throw new Error("a processing order has no result");
  return status;
}

/** Shown after the issuer's page has returned, perhaps in a frame of the gateway or the shop. */
export function donePage(texts: Texts, onward: Onward): CardholderPage {
  return messagePage(texts.doneTitle, texts.doneSentence, {
    role: "status",
    body: renderLink(onward, texts.continue),
    script: scripts.goOn,
    refresh: { seconds: 0, address: onward.address, onlyWithoutScripts: true },
  });
}

/** Shown in the hidden frame of the 3-D Secure method after the issuer's script has run. */
export function methodDonePage(texts: Texts): CardholderPage {
  return {
    title: texts.doneTitle,
    script: scripts.reportMethodDone,
    framedBy: "any",
    content: html`<main class="narrow"><p>${texts.doneSentence}</p></main>`,
  };
}

export function refusedPage(texts: Texts, onward: Onward): CardholderPage {
  return messagePage(texts.refusedTitle, texts.refusedSentence, {
    status: 400,
    role: "alert",
    body: renderLink(onward, texts.refusedLink),
    script: scripts.goOnWhenClicked,
  });
}

/** A post that failed cannot be repeated, so the button leads to the order's next step. */
export function unavailablePage(texts: Texts, onward: Onward): CardholderPage {
  return messagePage(texts.unavailableTitle, texts.unavailableSentence, {
    status: 503,
    role: "status",
    body: renderLink(onward, texts.continue),
    script: scripts.goOnSoon,
    refresh: { seconds: 5, address: onward.address, onlyWithoutScripts: true },
  });
}

type MessageOptions = Omit<CardholderPage, "title" | "content"> & {
  readonly role?: "status" | "alert";
  readonly body?: Html;
};

export function messagePage(
  title: string,
  sentence: string,
  { role, body, ...page }: MessageOptions,
): CardholderPage {
  const announced = role && html` role="${role}"`;
  const content = html`<main class="narrow">
<h1>${title}</h1>
<p class="lead"${announced}>${sentence}</p>
${body}</main>`;
  return { title, content, ...page };
}

function renderForm({ action, fields }: PostForm, button: string): Html {
  return html`<form id="form" method="post" action="${action}">
${renderFields(fields)}<button>${button}</button>
</form>
`;
}

/** If a shop embeds the payment page (`isEmbedded`), the next page opens in the same frame. */
export type Onward = { readonly address: string; readonly isEmbedded?: boolean };

function renderLink({ address, isEmbedded = false }: Onward, label: string): Html {
  const target = isEmbedded ? "_self" : "_top";
  return html`<p><a id="on" class="button" href="${address}" target="${target}">${label}</a></p>\n`;
}
