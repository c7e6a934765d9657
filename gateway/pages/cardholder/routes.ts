/**
 * The cardholder's pages of 3-D Secure. The URL that merchants receive shows the order's present
 * stage; all other routes only accept posts and redirect to that URL. So a reload, the back button
 * or a reopened tab shows the right step.
 */
import { FormFault, parseForm } from "@tollgate/protocols/form";
import { type HttpReply, type HttpRequest, type HttpRoute, redirectTo } from "../../http/router.ts";
import type { SeenBrowser } from "../../orders/authentication.ts";
import type { Order } from "../../orders/order.ts";
import type { BrowserAuthentication } from "../../threeds/browser-steps.ts";
import { Failure } from "../../values/failure.ts";
import { type BrowserReturn, isOver } from "../../views/result.ts";
import type { Theme } from "../design.ts";
import type { Texts } from "./english.ts";
import { type CardholderPage, isFramed, linkFrom, makePageReply } from "./page-reply.ts";
import * as pages from "./pages.ts";

export type CardholderOptions = {
  readonly pathWord: string;
  readonly threeds: BrowserAuthentication;
  /** Called only when the order's payment is over. */
  readonly returnOf: (order: Order) => BrowserReturn;
  readonly theme: Theme;
  /** The URL of the order's payment page. */
  readonly payPageOf: (order: Order) => string;
  /** The origins that may embed the payment page and the pages of 3-D Secure that follow it. */
  readonly embedOriginsOf: (order: Order) => readonly string[];
};

type Form = ReadonlyMap<string, string>;

export function cardholderRoutes(options: CardholderOptions): readonly HttpRoute[] {
  const { pathWord, threeds, returnOf, theme, payPageOf, embedOriginsOf } = options;
  const pathTo = (page: string) => `/${pathWord}/form/${page}/:orderId/:token`;
  const findOrder = ({ params: [orderId = "", token = ""] }: HttpRequest) =>
    threeds.find(orderId, token);

  const redirect: HttpRoute = {
    method: "GET",
    path: pathTo("redirect"),
    async answer(request) {
      const { texts, show } = makePageReply(request, theme);
      const order = await findOrder(request);
      if (order === undefined) return show(unknownPage(texts));
      const here = linkTo("redirect", request);
      if (order instanceof Failure) {
        // The error page has no secrets, so any site may frame it. A framed payment can then go on.
        const onward = { address: here, isEmbedded: isFramed(request) };
        return show({ ...pages.unavailablePage(texts, onward), framedBy: "any" });
      }
      if (order.transaction.stage === "awaiting_card") return goToPayPage(order, request);
      const page = presentPage(order, texts, {
        redirect: here,
        report: linkTo("method-result", request),
        toReceipt: ({ endpointId, receiptId }) =>
          linkFrom(request, 3, `view-receipt/${endpointId}/${receiptId}/`),
      });
      return show({ ...page, framedBy: embedOriginsOf(order) });
    },
  };

  const methodFrame: HttpRoute = {
    method: "POST",
    path: pathTo("method-frame"),
    async answer(request) {
      const { texts, show } = makePageReply(request, theme);
      return show(pages.methodDonePage(texts));
    },
  };

  return [
    redirect,
    methodFrame,
    // The gateway's own page posts to `method-result`. Issuers post to the other routes.
    uploadRoute("method-result", (order, form, request) => {
      const completion = form.get("threeDSCompInd") === "Y" ? "Y" : "N";
      const transactionId = form.get("threeDSServerTransID") ?? "";
      const browser = seenBrowser(request, completion, form);
      return threeds.uploadMethod(order, { transactionId, browser });
    }),
    uploadRoute("method", (order, form, request) => {
      const methodData = form.get("threeDSMethodData") ?? "";
      const browser = seenBrowser(request, "Y", new Map());
      return threeds.uploadMethod(order, { methodData, browser });
    }),
    uploadRoute("challenge", (order, form) =>
      threeds.uploadChallenge(order, form.get("cres") ?? ""),
    ),
    uploadRoute("pares", (order, form) =>
      threeds.uploadPares(order, { paRes: form.get("PaRes") ?? "", md: form.get("MD") ?? "" }),
    ),
    // A tab that is reloaded after a post requests the URL with GET and without the form. It is
    // redirected to the page of the order's present stage.
    ...["method-result", "method", "challenge", "pares", "method-frame"].map((page): HttpRoute => {
      return { method: "GET", path: pathTo(page), answer: async (request) => goBack(request) };
    }),
  ];

  /** Leads a cardholder whose try was refused to the payment page, where another is permitted. */
  function goToPayPage(order: Order, request: HttpRequest): HttpReply {
    const token = payPageOf(order).split("/").at(-1) ?? "";
    return redirectTo(linkFrom(request, 4, `pay/${token}`), leaving);
  }

  function presentPage(order: Order, texts: Texts, links: pages.JourneyLinks): CardholderPage {
    if (isOver(order)) {
      const page = pages.lastPage(returnOf(order), texts, links);
      const origins = embedOriginsOf(order);
      return origins.length === 0 ? page : pages.tellingPage(page, order, origins);
    }
    const step = threeds.stepOf(order);
    if (step === undefined) return pages.waitingPage(order, texts, links);
    return pages.stepPage(step, texts, links);
  }

  function uploadRoute(
    page: "method-result" | "method" | "challenge" | "pares",
    upload: (order: Order, form: Form, request: HttpRequest) => Promise<Order | Failure>,
  ): HttpRoute {
    const answer = async (request: HttpRequest): Promise<HttpReply> => {
      const { texts, show, showFramed } = makePageReply(request, theme);
      const order = await findOrder(request);
      // The order does not exist, so the page belongs to no payment and may not be in a frame.
      if (order === undefined) return show(unknownPage(texts));
      const taken =
        order instanceof Failure ? order : await upload(order, readForm(request.body), request);
      const framedBy = order instanceof Failure ? [] : embedOriginsOf(order);
      const isEmbedded = framedBy.length > 0;
      const onward = { address: linkTo("redirect", request), isEmbedded };
      // The post of an earlier try's 3-D Secure method is ignored: it says nothing about this try.
      const isStale = page.startsWith("method") && isFailure(taken, "invalid_parameter");
      // A late result changes nothing. The browser is redirected to the order's present stage.
      if (!(taken instanceof Failure) || isStale || taken.code === "not_allowed_now") {
        // The issuer may have posted from a frame, which must not show the gateway's next page.
        const isOwnWindow = page === "method-result" || (page === "pares" && !isFramed(request));
        return isOwnWindow ? goBack(request) : showFramed(pages.donePage(texts, onward));
      }
      const isOurs = taken.code === "storage_unavailable" || taken.code === "internal_failure";
      const error = (isOurs ? pages.unavailablePage : pages.refusedPage)(texts, onward);
      return page === "method-result" ? show({ ...error, framedBy }) : showFramed(error);
    };
    return { method: "POST", path: pathTo(page), answer };
  }
}

function isFailure(taken: Order | Failure, code: Failure["code"]): boolean {
  return taken instanceof Failure && taken.code === code;
}

function unknownPage(texts: Texts): CardholderPage {
  return pages.messagePage(texts.unknownTitle, texts.unknownSentence, { status: 404 });
}

const leaving = { "cache-control": "no-store", "referrer-policy": "no-referrer" };

function goBack(request: HttpRequest): HttpReply {
  return redirectTo(linkTo("redirect", request), leaving);
}

function linkTo(page: string, request: HttpRequest): string {
  const [orderId = "", token = ""] = request.params;
  const path = `${page}/${encodeURIComponent(orderId)}/${encodeURIComponent(token)}`;
  return linkFrom(request, 2, path);
}

function readForm(body: Uint8Array): Form {
  const form = parseForm(body);
  return new Map(form instanceof FormFault ? [] : form.pairs);
}

const propertyCharactersMax = 2048;

/**
 * Returns the browser's properties from the request's headers and the page script's report. The IP
 * address comes from the merchant, because the connection may come from a proxy.
 */
function seenBrowser({ headers }: HttpRequest, completion: "Y" | "N", report: Form): SeenBrowser {
  const language = headers["accept-language"]?.split(/[,;]/)[0]?.trim();
  const all: readonly (readonly [name: string, value: string | undefined])[] = [
    ["browserUserAgent", headers["user-agent"]],
    ["browserAcceptHeader", headers.accept],
    ["browserLanguage", language],
    ...pages.browserReport.map(([name]) => [name, report.get(name)] as const),
  ];
  const known = all.flatMap(([name, value]) =>
    value ? [[name, value.slice(0, propertyCharactersMax)]] : [],
  );
  return { completion, properties: Object.fromEntries(known) };
}
