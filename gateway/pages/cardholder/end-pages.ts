/**
 * The pages where a step or the whole way ends: back from the bank, back to the shop, the result
 * where the shop has no page for it, and what is said when something does not work.
 */
import { html } from "../../values/html.ts";
import { renderFields } from "../../views/browser-step.ts";
import type { BrowserReturn } from "../../views/result.ts";
import type { Status } from "../../views/status.ts";
import type { CardholderPage } from "./cardholder-page.ts";
import { goOn, goOnSoon, goOnWhenAsked, submitAtOnce, tellMethodDone } from "./scripts.ts";
import type { Links } from "./step-pages.ts";
import type { Texts } from "./texts.ts";

type LastLinks = Pick<Links, "toReceipt">;

/** To the shop, which may have given no address: then the result is told here. */
export function lastPage(result: BrowserReturn, texts: Texts, links: LastLinks): CardholderPage {
  const { url, fields } = result;
  if (url === undefined) return resultPage(result, texts, links);
  return {
    title: texts.returnTitle,
    script: submitAtOnce,
    postsTo: url,
    content: html`<main class="narrow">
<h1>${texts.returnTitle}</h1>
<p class="lead" role="status">${texts.returnSentence}</p>
<form id="form" method="post" action="${url}">
${renderFields(fields)}<button>${texts.returnButton}</button>
</form>
</main>`,
  };
}

// biome-ignore format: a table
const endings = {
  approved: { tone: "good", title: "approvedTitle", sentence: "approvedSentence", next: "approvedNext" },
  declined: { tone: "bad",  title: "declinedTitle", sentence: "declinedSentence", next: "declinedNext" },
  filtered: { tone: "bad",  title: "declinedTitle", sentence: "declinedSentence", next: "declinedNext" },
  error:    { tone: "bad",  title: "errorTitle",    sentence: "errorSentence",    next: "errorNext" },
} as const;

/** A card that is only looked at is not paid with, and whoever reads of a payment would worry. */
// biome-ignore format: a table
const verifications = {
  approved: { tone: "good", title: "verifiedTitle",   sentence: "verifiedSentence",   next: "approvedNext" },
  declined: { tone: "bad",  title: "unverifiedTitle", sentence: "unverifiedSentence", next: "unverifiedNext" },
  filtered: { tone: "bad",  title: "unverifiedTitle", sentence: "unverifiedSentence", next: "unverifiedNext" },
  error:    { tone: "bad",  title: "uncheckedTitle",  sentence: "uncheckedSentence",  next: "uncheckedNext" },
} as const;

function resultPage(result: BrowserReturn, texts: Texts, { toReceipt }: LastLinks): CardholderPage {
  const { merchantName: merchant, cardMask, clientOrderId, receipt } = result;
  const amount = texts.money(result.amount);
  const isVerification = result.kind === "account-verification";
  const ending = (isVerification ? verifications : endings)[finalOf(result.status)];
  const paid = isVerification ? undefined : html`<dt>${texts.amount}</dt><dd>${amount}</dd>\n`;
  // Of a wallet there are no digits to show.
  const card = cardMask && html`<dt>${texts.card}</dt><dd class="mono">${cardMask}</dd>\n`;
  const address = receipt && toReceipt(receipt);
  const link =
    address && html`<p><a class="button" href="${address}">${texts.receiptLink}</a></p>\n`;
  return {
    title: texts[ending.title],
    content: html`<main class="narrow">
<section class="result ${ending.tone}">
<h1>${texts[ending.title]}</h1>
<p>${texts[ending.sentence]({ amount, merchant })}</p>
<p class="lead">${texts[ending.next]}</p>
</section>
<dl>
<dt>${texts.merchant}</dt><dd>${merchant}</dd>
${paid}${card}<dt>${texts.order}</dt><dd class="value">${clientOrderId}</dd>
</dl>
${link}</main>`,
  };
}

function finalOf(status: Status): keyof typeof endings {
  if (status === "processing") throw new Error("a result is shown of what is over");
  return status;
}

/** Back from the bank, perhaps in a frame of ours or of the shop. */
export function donePage(texts: Texts, onward: string): CardholderPage {
  return {
    title: texts.doneTitle,
    script: goOn,
    refresh: { seconds: 0, address: onward, onlyWithoutScripts: true },
    content: html`<main class="narrow">
<h1>${texts.doneTitle}</h1>
<p class="lead" role="status">${texts.doneSentence}</p>
<p><a id="on" class="button" href="${onward}" target="_top">${texts.continue}</a></p>
</main>`,
  };
}

/** In the frame of our own page the issuer's method has run; nobody sees this. */
export function methodDonePage(texts: Texts): CardholderPage {
  return {
    title: texts.doneTitle,
    script: tellMethodDone,
    framedBy: "us",
    content: html`<main class="narrow"><p>${texts.doneSentence}</p></main>`,
  };
}

export function refusedPage(texts: Texts, onward: string): CardholderPage {
  return {
    status: 400,
    title: texts.refusedTitle,
    script: goOnWhenAsked,
    content: html`<main class="narrow">
<h1>${texts.refusedTitle}</h1>
<p class="lead" role="alert">${texts.refusedSentence}</p>
<p><a id="on" class="button" href="${onward}" target="_top">${texts.refusedLink}</a></p>
</main>`,
  };
}

export function unknownPage(texts: Texts): CardholderPage {
  return {
    status: 404,
    title: texts.unknownTitle,
    content: html`<main class="narrow">
<h1>${texts.unknownTitle}</h1>
<p class="lead">${texts.unknownSentence}</p>
</main>`,
  };
}

/** What was posted cannot be posted again; the order tells what it still needs. */
export function unavailablePage(texts: Texts, onward: string): CardholderPage {
  return {
    status: 503,
    title: texts.unavailableTitle,
    script: goOnSoon,
    refresh: { seconds: 5, address: onward, onlyWithoutScripts: true },
    content: html`<main class="narrow">
<h1>${texts.unavailableTitle}</h1>
<p class="lead" role="status">${texts.unavailableSentence}</p>
<p><a id="on" class="button" href="${onward}" target="_top">${texts.continue}</a></p>
</main>`,
  };
}
