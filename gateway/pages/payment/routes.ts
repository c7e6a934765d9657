/**
 * The HTTP routes of the payment page: its files, its form and the form's posts. A try redirects
 * the browser to the pages of 3-D Secure, which redirect back if another try is permitted. So a
 * reload, the back button and a second tab always show the current state.
 */
import { FormFault, parseForm } from "@tollgate/protocols/form";
import { type HttpReply, type HttpRequest, type HttpRoute, redirectTo } from "../../http/router.ts";
import type { Merchant } from "../../orders/merchant.ts";
import { Failure } from "../../values/failure.ts";
import { type Html, html } from "../../values/html.ts";
import type { Texts } from "../cardholder/english.ts";
import {
  type CardholderPage,
  chooseLanguage,
  isFramed,
  linkFrom,
  makePageReply,
} from "../cardholder/page-reply.ts";
import { messagePage, unavailablePage } from "../cardholder/pages.ts";
import { type Page, pageHeaders, plainTheme, renderPage, type Theme } from "../design.ts";
import {
  type Assets,
  assetReply,
  compressed,
  isAssetName,
  preloadOf,
  scriptLink,
  styleLink,
} from "./assets.ts";
import {
  type Entered,
  type EnteredFault,
  type PostedFields,
  readCustomer,
  readPaid,
  refill,
  spreadExpiry,
} from "./form-fields.ts";
import { browserNames, type PageReader, type PaymentView, renderPayment } from "./payment-page.ts";
import type { WalletOffer } from "./wallet-buttons.ts";

/** A page that accepts a payment: of an order that waits for its card, or of a payment link. */
export type Payable = {
  readonly merchant: Merchant;
  readonly view: PaymentView;
  findFaults(entered: Entered): readonly EnteredFault[];
  /** Returns where the browser goes next, a proof of work for it to do first, or a failure. */
  pay(entered: Entered, shown: ShownPage): Promise<GoTo | Challenge | Failure>;
};

/** The hidden fields of the submitted form. */
export type ShownPage = {
  /** The proof of work; empty if none was demanded. */
  readonly proof: string;
  /** The id of the payment link's page that the browser has shown; empty for an order's page. */
  readonly linkPage: string;
  /** Set if the try's proof of work has been used up already. */
  readonly isProved?: boolean;
};

/** The path `goTo` is below `/pay/`. `cookie` marks the browser that began the order. */
type GoTo = { readonly goTo: string; readonly cookie?: string | undefined };
type Challenge = { readonly challenge: string };

/** A page that accepts no payment now, or a redirect. */
export type Elsewhere =
  | GoTo
  | { show(texts: Texts, here: { readonly redirect: string }): CardholderPage };

export type FindPayable = (
  token: string,
  request: HttpRequest,
) => Promise<Payable | Elsewhere | Failure | undefined>;

export type PaymentRouteOptions = {
  readonly find: FindPayable;
  readonly assets: Assets;
  readonly theme: Theme;
  /** Empty if the operator has set no name. */
  readonly operator: string;
  readonly addressOf: (request: HttpRequest) => string;
  /** Returns whether too many posts came from one client. */
  readonly isTooFast: (request: HttpRequest) => boolean;
  /** Takes a browser's report that the page's policy has stopped something. */
  readonly takeReport: (request: HttpRequest) => void;
  /** Returns the QR code of a payment link as SVG; undefined for any other token. */
  readonly findCode: (token: string) => Promise<string | Failure | undefined>;
};

const path = "/pay/:token";
/** The last part of the path for browsers' reports, which is too short to be a token. */
export const reportsName = "reports";

export function paymentRoutes(options: PaymentRouteOptions): readonly HttpRoute[] {
  const { find, assets, theme, addressOf } = options;

  async function show(request: HttpRequest): Promise<HttpReply> {
    const [token = ""] = request.params;
    if (isAssetName(token)) return fileReply(token, request);
    const found = await findOrAnswer(token, request);
    return "status" in found ? found : reply(found.view, request);
  }

  async function take(request: HttpRequest): Promise<HttpReply> {
    const [token = ""] = request.params;
    if (token === reportsName) {
      options.takeReport(request);
      return { status: 204, headers: plainHeaders, body: "" };
    }
    if (isFromElsewhere(request)) return goTo(request, tokenIn(request));
    const found = await findOrAnswer(token, request);
    if ("status" in found) return found;
    if (options.isTooFast(request)) {
      return answerFailure(new Failure("too_many_requests"), found.view, request);
    }
    const posted = readForm(request.body);
    const { view } = found;
    const entered: Entered = {
      paid: readPaid(
        posted,
        (view.wallets ?? []).map(({ type }) => type),
      ),
      customer: readCustomer(posted, view.wanted),
      ipAddress: addressOf(request),
      browser: seenBrowser(request, posted),
    };
    const faults = found.findFaults(entered);
    if (faults.length > 0) {
      return reply({ ...view, refilled: refill(posted, faults) }, request, 400);
    }
    const [proof = "", linkPage = ""] = [posted.get("proof"), posted.get("link-page")];
    const paid = await found.pay(entered, { proof, linkPage });
    const refilled = refill(posted, []);
    if (paid instanceof Failure) return answerFailure(paid, { ...view, refilled }, request);
    if ("goTo" in paid) return goTo(request, paid.goTo, paid.cookie);
    const { texts } = chooseLanguage(request.headers["accept-language"]);
    return reply({ ...view, ...paid, notice: texts.pay.proof, refilled }, request, 429);
  }

  /** If no payment is accepted any more, the browser is redirected to the page's current state. */
  function answerFailure(failure: Failure, view: PaymentView, request: HttpRequest): HttpReply {
    if (failure.code === "not_allowed_now") return goTo(request, tokenIn(request));
    const { texts, show: send } = makePageReply(request, theme);
    if (failure.code !== "too_many_requests") return send(tryLater(texts, request));
    return reply({ ...view, notice: texts.pay.tooMany }, request, 429);
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
    return send(tryLater(texts, request));
  }

  async function showCode(request: HttpRequest): Promise<HttpReply> {
    const [token = "", file] = request.params;
    const code = file === "qr.svg" ? await options.findCode(token) : undefined;
    if (typeof code === "string") return { status: 200, headers: pictureHeaders, body: code };
    return { status: code === undefined ? 404 : 503, headers: plainHeaders, body: "" };
  }

  function reply(view: PaymentView, request: HttpRequest, status = 200): HttpReply {
    const { language, texts } = chooseLanguage(request.headers["accept-language"]);
    const reader = { texts, language, operator: options.operator };
    const folder = linkFrom(request, 0, "");
    const sheet = view.wallets?.length ? assets.sheet : undefined;
    const style = assets.styleFor(view.shop.colour);
    const links = html`${styleLink(style, folder)}
${sheet && scriptLink(sheet, folder)}${scriptLink(assets.script, folder)}`;
    const headers = {
      ...headersFor(view, `${folder}${reportsName}`),
      "content-language": language,
      "vary": "Accept-Language",
      link: [style, assets.script].map((asset) => preloadOf(asset, folder)).join(", "),
    };
    const warning = theme.isRehearsal ? texts.rehearsal : undefined;
    const body = renderDocument(view, reader, { links, warning, here: hereIn(request) });
    return compressed({ status, headers, body }, request);
  }

  function fileReply(name: string, request: HttpRequest): HttpReply {
    const asset = assets.find(name);
    if (asset !== undefined) return assetReply(asset, request);
    return { status: 404, headers: plainHeaders, body: "" };
  }

  return [
    { method: "GET", path, answer: show },
    { method: "POST", path, answer: take },
    { method: "GET", path: `${path}/:file`, answer: showCode },
  ];
}

const plainHeaders = { "content-type": "text/plain", "cache-control": "no-store" };
const pictureHeaders = {
  "content-type": "image/svg+xml",
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; sandbox",
};

type Around = Pick<Page, "warning"> & { readonly links: Html; readonly here: string };

function renderDocument(
  view: PaymentView,
  reader: PageReader,
  { links, warning, here }: Around,
): string {
  const { texts, language, operator } = reader;
  const { shop, secondsLeft } = view;
  const facts = { merchant: shop.name, amount: "", operator };
  // In a browser without scripts, the page reloads itself when it has expired.
  const refresh = secondsLeft !== undefined && {
    refresh: { seconds: secondsLeft + 1, address: here, onlyWithoutScripts: true },
  };
  return renderPage({
    language,
    direction: texts.direction,
    links,
    warning,
    theme: plainTheme,
    ...(refresh || {}),
    title: texts.pay.title(facts),
    content: renderPayment(view, reader),
  }).text;
}

/** The policy permits files and posts only at the page's own origin, and no inline code. */
export function headersFor(
  { framedBy = [], wallets = [] }: Pick<PaymentView, "framedBy" | "wallets">,
  reports: string,
) {
  const policy = {
    "style-src": "'self'",
    "script-src": "'self'",
    "connect-src": wallets.length === 0 ? "" : ["'self'", ...wallets.map(walletSources)].join(" "),
    "img-src": "data:",
    "frame-ancestors": framedBy.length === 0 ? "'none'" : framedBy.join(" "),
    "require-trusted-types-for": "'script'",
    "report-to": "page",
    // The directive `report-uri` is for browsers that do not support the Reporting API.
    "report-uri": reports,
  };
  return { ...pageHeaders({ policy }), "reporting-endpoints": `page="${reports}"` };
}

/** The page's policy permits the origins that tell the browser how to open a wallet. */
export function walletSources({ method }: Pick<WalletOffer, "method">): string {
  const { origin, protocol, host } = URL.parse(method) ?? {};
  return origin === undefined ? "" : `${origin} ${protocol}//*.${host}`;
}

/**
 * A malicious site could make its visitors' browsers try cards, each from its own IP address, so
 * posts from other sites are refused. A browser that does not send its origin is accepted.
 */
function isFromElsewhere({ headers }: HttpRequest): boolean {
  return /^(cross|same)-site$/.test(String(headers["sec-fetch-site"]));
}

function tokenIn({ params: [token = ""] }: HttpRequest): string {
  return encodeURIComponent(token);
}

function hereIn(request: HttpRequest): string {
  return linkFrom(request, 0, tokenIn(request));
}

/** The page has no secrets, so any site may show it in a frame. */
function tryLater(texts: Texts, request: HttpRequest): CardholderPage {
  const onward = { address: hereIn(request), isEmbedded: isFramed(request) };
  return { ...unavailablePage(texts, onward), framedBy: "any" };
}

function goTo(request: HttpRequest, to: string, cookie?: string): HttpReply {
  const headers = { "cache-control": "no-store", "referrer-policy": "no-referrer" };
  return redirectTo(linkFrom(request, 0, to), {
    ...headers,
    ...(cookie !== undefined && { "set-cookie": cookie }),
  });
}

function readForm(body: Uint8Array): PostedFields {
  const form = parseForm(body);
  return spreadExpiry(new Map(form instanceof FormFault ? [] : form.pairs));
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
