/**
 * The payment page over HTTP: its files, the form, and what the form posts. A try that has begun is
 * not shown here: the browser goes on to the pages of the 3-D Secure journey, which come back here
 * when another try is allowed. So reload, back button and a second tab always show what is true.
 */
import { FormFault, parseForm } from "@tollgate/protocols/form";
import { type HttpReply, type HttpRequest, type HttpRoute, redirectTo } from "../../http/router.ts";
import { Failure } from "../../values/failure.ts";
import { type Html, html } from "../../values/html.ts";
import type { Texts } from "../cardholder/english.ts";
import {
  type CardholderPage,
  chooseLanguage,
  linkFrom,
  makePageReply,
} from "../cardholder/page-reply.ts";
import { messagePage, unavailablePage } from "../cardholder/pages.ts";
import { pageHeaders, plainTheme, renderPage, type Theme } from "../design.ts";
import { type Assets, assetReply, isAssetName, scriptLink, styleLink } from "./assets.ts";
import {
  type Entered,
  type EnteredFault,
  type PostedFields,
  readCard,
  readCustomer,
  refill,
} from "./fields.ts";
import { browserNames, type PageReader, type PaymentView, renderPayment } from "./payment-page.ts";

/** What a page can be paid for: an order that waits for its card, or a link without an order. */
export type Payable = {
  readonly view: PaymentView;
  /** The origins that may show the page in a frame. */
  readonly framedBy?: readonly string[];
  findFaults(entered: Entered): readonly EnteredFault[];
  /** Where the browser goes on, relative to `/pay/`; or why there was no try. */
  pay(entered: Entered): Promise<GoTo | Failure>;
};

type GoTo = { readonly goTo: string };

/** There is nothing to pay here now: where the browser finds what there is, or what to show. */
type Elsewhere = GoTo | { show(texts: Texts, here: { readonly redirect: string }): CardholderPage };

export type FindPayable = (
  token: string,
  request: HttpRequest,
) => Promise<Payable | Elsewhere | Failure | undefined>;

export type PaymentRouteOptions = {
  readonly find: FindPayable;
  readonly assets: Assets;
  readonly theme: Theme;
  /** Empty when the operator has set none. */
  readonly operator: string;
  readonly addressOf: (request: HttpRequest) => string;
};

const path = "/pay/:token";

export function paymentRoutes(options: PaymentRouteOptions): readonly HttpRoute[] {
  const { find, assets, theme, addressOf } = options;

  async function show(request: HttpRequest): Promise<HttpReply> {
    const [token = ""] = request.params;
    if (isAssetName(token)) return fileReply(token, request);
    const found = await findOrAnswer(token, request);
    return "status" in found ? found : reply(found, found.view, request);
  }

  async function take(request: HttpRequest): Promise<HttpReply> {
    const [token = ""] = request.params;
    const found = await findOrAnswer(token, request);
    if ("status" in found) return found;
    const posted = readForm(request.body);
    const { view } = found;
    const entered: Entered = {
      paid: readCard(posted),
      customer: readCustomer(posted, view.wanted),
      ipAddress: addressOf(request),
      browser: seenBrowser(request, posted),
    };
    const faults = found.findFaults(entered);
    if (faults.length > 0) {
      return reply(found, { ...view, refilled: refill(posted, faults) }, request, 400);
    }
    const paid = await found.pay(entered);
    if (!(paid instanceof Failure)) return goTo(request, paid.goTo);
    return answerFailure(paid, found, request);
  }

  /** The page itself is asked again after a failure: it knows what there is to do. */
  function answerFailure(failure: Failure, payable: Payable, request: HttpRequest): HttpReply {
    const { texts, show: send } = makePageReply(request, theme);
    if (failure.code === "not_allowed_now") return goTo(request, tokenIn(request));
    if (failure.code !== "too_many_requests") {
      return send(unavailablePage(texts, hereIn(request)));
    }
    return reply(payable, { ...payable.view, notice: texts.pay.tooMany }, request, 429);
  }

  async function findOrAnswer(token: string, request: HttpRequest): Promise<Payable | HttpReply> {
    const found = await find(token, request);
    if (found !== undefined && "pay" in found) return found;
    const { texts, show: send } = makePageReply(request, theme);
    if (found === undefined) {
      return send(messagePage(texts.unknownTitle, texts.unknownSentence, { status: 404 }));
    }
    if (!(found instanceof Failure)) {
      if ("goTo" in found) return goTo(request, found.goTo);
      return send(found.show(texts, { redirect: hereIn(request) }));
    }
    return send(unavailablePage(texts, hereIn(request)));
  }

  function reply(payable: Payable, view: PaymentView, request: HttpRequest, status = 200) {
    const { language, texts } = chooseLanguage(request.headers["accept-language"]);
    const reader = { texts, language, operator: options.operator };
    const folder = linkFrom(request, 0, "");
    const links = html`${styleLink(assets.styleFor(view.shop.colour), folder)}
${scriptLink(assets.script, folder)}`;
    return {
      status,
      headers: { ...headersFor(payable), "content-language": language, "vary": "Accept-Language" },
      body: renderDocument(view, reader, links, hereIn(request)),
    };
  }

  function fileReply(name: string, request: HttpRequest): HttpReply {
    const asset = assets.find(name);
    if (asset !== undefined) return assetReply(asset, request);
    const headers = { "content-type": "text/plain", "cache-control": "no-store" };
    return { status: 404, headers, body: "" };
  }

  return [
    { method: "GET", path, answer: show },
    { method: "POST", path, answer: take },
  ];
}

function renderDocument(view: PaymentView, reader: PageReader, links: Html, here: string): string {
  const { texts, language, operator } = reader;
  const { shop, secondsLeft } = view;
  const facts = { merchant: shop.name, amount: "", operator };
  // Without scripts the page finds out that its time is over when it is loaded again.
  const refresh = secondsLeft !== undefined && {
    refresh: { seconds: secondsLeft + 1, address: here, onlyWithoutScripts: true },
  };
  return renderPage({
    ...{ language, direction: texts.direction, links, theme: plainTheme },
    ...(refresh || {}),
    title: texts.pay.title(facts),
    content: renderPayment(view, reader),
  }).text;
}

/** Files of this origin only, nothing inline, nothing from elsewhere; posts to this origin. */
function headersFor({ framedBy = [] }: Payable) {
  const policy = {
    "style-src": "'self'",
    "script-src": "'self'",
    "connect-src": "'self'",
    "img-src": "data:",
    "frame-ancestors": framedBy.length === 0 ? "'none'" : framedBy.join(" "),
    "require-trusted-types-for": "'script'",
  };
  return pageHeaders({ policy });
}

function tokenIn({ params: [token = ""] }: HttpRequest): string {
  return encodeURIComponent(token);
}

function hereIn(request: HttpRequest): string {
  return linkFrom(request, 0, tokenIn(request));
}

function goTo(request: HttpRequest, to: string): HttpReply {
  const headers = { "cache-control": "no-store", "referrer-policy": "no-referrer" };
  return redirectTo(linkFrom(request, 0, to), headers);
}

function readForm(body: Uint8Array): PostedFields {
  const form = parseForm(body);
  return new Map(form instanceof FormFault ? [] : form.pairs);
}

const propertyCharactersMax = 2048;

function seenBrowser({ headers }: HttpRequest, posted: PostedFields) {
  const language = headers["accept-language"]?.split(/[,;]/)[0]?.trim();
  const reported = browserNames.map((name) => [name, posted.get(`browser_${name}`)] as const);
  const all: readonly (readonly [name: string, value: string | undefined])[] = [
    ...reported.map(
      ([name, value]) => [name, value?.match(/^(true|false|-?\d{1,6})$/)?.[0]] as const,
    ),
    ["accept_header", headers.accept],
    ["accept_language", language],
    ["user_agent", headers["user-agent"]],
  ];
  const known = all.flatMap(([name, value]) =>
    value ? [[`customer_browser_${name}`, value.slice(0, propertyCharactersMax)]] : [],
  );
  return Object.fromEntries(known);
}
