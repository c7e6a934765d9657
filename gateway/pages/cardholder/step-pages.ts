/** The pages on the cardholder's way: one for each step of 3-D Secure, and one to wait on. */
import type { PendingStep } from "../../orders/authentication.ts";
import type { Order } from "../../orders/order.ts";
import { stagesInDoubt } from "../../orders/stages.ts";
import { html } from "../../values/html.ts";
import { formOf, renderFields } from "../../views/browser-step.ts";
import type { ReceiptAddress } from "../../views/result.ts";
import type { CardholderPage } from "./cardholder-page.ts";
import { lookAgainSoon, openChallenge, runMethod, submitAtOnce } from "./scripts.ts";
import type { Texts } from "./texts.ts";

type StepOf<Kind> = Extract<PendingStep, { readonly kind: Kind }>;

/** What the report of the method tells where no script fills it in. */
// biome-ignore format: a table
const unscripted: readonly (readonly [name: string, value: string])[] = [
  ["threeDSCompInd",           "N"],
  ["browserJavascriptEnabled", "false"],
  ["browserJavaEnabled",       ""],
  ["browserLanguage",          ""],
  ["browserColorDepth",        ""],
  ["browserTZ",                ""],
  ["browserScreenHeight",      ""],
  ["browserScreenWidth",       ""],
];

export type Links = {
  /** The page itself. */
  readonly redirect: string;
  /** Takes what the page has learnt of the browser. */
  readonly report: string;
  readonly toReceipt: (address: ReceiptAddress) => string;
};

export function stepPage(step: PendingStep, texts: Texts, links: Links): CardholderPage {
  switch (step.kind) {
    case "method":
      return methodPage(step, texts, links.report);
    case "challenge":
      return challengePage(step, texts);
    case "pares":
      return paresPage(step, texts);
  }
}

function methodPage(step: StepOf<"method">, texts: Texts, report: string): CardholderPage {
  return {
    title: texts.methodTitle,
    script: runMethod,
    postsTo: step.methodUrl,
    isFraming: true,
    content: html`<main class="narrow">
<h1>${texts.methodTitle}</h1>
<p class="lead working" role="status">${texts.methodSentence}</p>
<form id="report" method="post" action="${report}">
${renderFields(unscripted)}<button>${texts.continue}</button>
</form>
<form id="form" method="post" action="${step.methodUrl}" target="bank" hidden>
${renderFields([["threeDSMethodData", step.framedMethodData]])}</form>
<iframe id="frame" name="bank" class="unseen" title="${texts.methodFrame}" aria-hidden="true"
 tabindex="-1" sandbox="allow-forms allow-scripts allow-same-origin"></iframe>
</main>`,
  };
}

/** The form as it stands opens the whole window: that is what happens without scripts. */
function challengePage(step: StepOf<"challenge">, texts: Texts): CardholderPage {
  return {
    title: texts.challengeTitle,
    script: openChallenge,
    postsTo: step.acsUrl,
    isFraming: true,
    isWatching: true,
    content: html`<main class="framing">
<h1>${texts.challengeTitle}</h1>
<p class="lead">${texts.challengeSentence}</p>
<form id="form" method="post" action="${step.acsUrl}"
 data-creq03="${step.creqFor("03")}" data-creq04="${step.creqFor("04")}">
${renderFields([["creq", step.creqFor("05")]])}<button>${texts.challengeButton}</button>
</form>
<iframe id="frame" name="bank" title="${texts.challengeFrame}" hidden
 sandbox="allow-forms allow-scripts allow-same-origin allow-popups"
 allow="payment *; publickey-credentials-get *; publickey-credentials-create *"></iframe>
</main>`,
  };
}

function paresPage(step: StepOf<"pares">, texts: Texts): CardholderPage {
  const { action, fields } = formOf(step);
  return {
    title: texts.challengeTitle,
    script: submitAtOnce,
    postsTo: action,
    content: html`<main class="narrow">
<h1>${texts.challengeTitle}</h1>
<p class="lead">${texts.challengeSentence}</p>
<form id="form" method="post" action="${action}">
${renderFields(fields)}<button>${texts.challengeButton}</button>
</form>
</main>`,
  };
}

/** Where the bank's answer is missing it may stay so for long: the page then asks less often. */
export function waitingPage(
  { transaction }: Order,
  texts: Texts,
  { redirect }: Links,
): CardholderPage {
  const isInDoubt = stagesInDoubt.includes(transaction.stage);
  const seconds = isInDoubt ? 5 : 1;
  return {
    title: texts.waitingTitle,
    script: lookAgainSoon,
    refresh: { seconds, address: redirect, onlyWithoutScripts: true },
    content: html`<main class="narrow" data-seconds="${seconds}">
<h1>${texts.waitingTitle}</h1>
<p class="lead working" role="status">${isInDoubt ? texts.doubtSentence : texts.waitingSentence}</p>
</main>`,
  };
}
