/**
 * The cardholder's way through 3-D Secure. One page, at the address that merchants are given, looks
 * at the order and does whatever comes next; the others take what issuers send and lead back to it.
 * So a reload, the back button or a tab opened again go on from where the order is.
 */
import { FormFault, parseForm } from "@tollgate/protocols/form";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Order } from "../../orders/order.ts";
import { Failure } from "../../values/failure.ts";
import { type BrowserReturn, isOver, type ReceiptAddress } from "../../views/result.ts";
import type { JourneyServices } from "../../wiring/services.ts";
import type { Look } from "../design.ts";
import type { CardholderPage } from "./cardholder-page.ts";
import * as ends from "./end-pages.ts";
import { linkFrom } from "./links.ts";
import { seenBrowser } from "./seen-browser.ts";
import { type Links, stepPage, waitingPage } from "./step-pages.ts";
import type { Texts } from "./texts.ts";
import { isFramed, makeVisit } from "./visit.ts";

export type CardholderOptions = {
  readonly pathWord: string;
  readonly journeys: JourneyServices;
  /** Asked for only when the order's payment is over. */
  readonly returnOf: (order: Order) => BrowserReturn;
  readonly look: Look;
};

type LinkRequest = FastifyRequest<{ Params: { orderId: string; token: string } }>;
type Form = ReadonlyMap<string, string>;

/** Takes what was sent along with the order that it is for. */
type Upload = (order: Order, form: Form, request: LinkRequest) => Promise<Order | Failure>;

export function addCardholderRoutes(
  server: FastifyInstance,
  { pathWord, journeys, returnOf, look }: CardholderOptions,
): void {
  const visit = makeVisit(look);
  const pathTo = (page: string) => `/${pathWord}/form/${page}/:orderId/:token`;

  server.get(pathTo("redirect"), async (request: LinkRequest, reply) => {
    const { texts, show } = visit(request, reply);
    const order = await findOrder(request);
    if (order === undefined) return show(ends.unknownPage(texts));
    const links = {
      redirect: linkTo("redirect", request),
      report: linkTo("method-result", request),
      toReceipt: (address: ReceiptAddress) => linkToReceipt(request, address),
    };
    if (order instanceof Failure) return show(ends.unavailablePage(texts, links.redirect));
    return show(presentPage(order, texts, links));
  });

  // Our own page in its own window sends this one; issuers send the others, from any frame.
  takes("method-result", uploadReport, goBack, "show");
  takes("method", uploadMethod, showDone);
  takes("challenge", uploadChallenge, showDone);
  // A shop may have put the issuer's page into a frame, where our page must not be shown.
  takes("pares", uploadPares, (request, reply) =>
    isFramed(request) ? showDone(request, reply) : goBack(request, reply),
  );

  server.post(pathTo("method-frame"), async (request: LinkRequest, reply) => {
    const { texts, show } = visit(request, reply);
    return show(ends.methodDonePage(texts));
  });
  leadsBack("method-frame");

  function takes(
    page: string,
    upload: Upload,
    afterwards: (request: LinkRequest, reply: FastifyReply) => FastifyReply,
    how: "show" | "showFramed" = "showFramed",
  ): void {
    server.post(pathTo(page), async (request: LinkRequest, reply) => {
      const { texts, show, [how]: showTrouble } = visit(request, reply);
      const order = await findOrder(request);
      // No step of ours, so no frame that it could have begun in.
      if (order === undefined) return show(ends.unknownPage(texts));
      const taken =
        order instanceof Failure ? order : await upload(order, readForm(request.body), request);
      // What comes too late changes nothing, and the order itself says best what became of it.
      if (!(taken instanceof Failure) || taken.code === "not_allowed_now") {
        return afterwards(request, reply);
      }
      const onward = linkTo("redirect", request);
      const isOurs = taken.code === "storage_unavailable" || taken.code === "internal_failure";
      return showTrouble((isOurs ? ends.unavailablePage : ends.refusedPage)(texts, onward));
    });
    leadsBack(page);
  }

  /** A tab that is loaded again asks for the address alone, without what was posted to it. */
  function leadsBack(page: string): void {
    server.get(pathTo(page), async (request: LinkRequest, reply) => goBack(request, reply));
  }

  function presentPage(order: Order, texts: Texts, links: Links): CardholderPage {
    if (isOver(order)) return ends.lastPage(returnOf(order), texts, links);
    const step = journeys.stepOf(order);
    return step === undefined ? waitingPage(order, texts, links) : stepPage(step, texts, links);
  }

  function findOrder({ params }: LinkRequest): Promise<Order | undefined | Failure> {
    return journeys.find(params.orderId, params.token);
  }

  function showDone(request: LinkRequest, reply: FastifyReply): FastifyReply {
    const { texts, showFramed } = visit(request, reply);
    return showFramed(ends.donePage(texts, linkTo("redirect", request)));
  }

  function uploadReport(order: Order, form: Form, request: LinkRequest) {
    const completion = form.get("threeDSCompInd") === "Y" ? "Y" : "N";
    return journeys.uploadMethod(order, { browser: seenBrowser(request, completion, form) });
  }

  function uploadMethod(order: Order, _form: Form, request: LinkRequest) {
    return journeys.uploadMethod(order, { browser: seenBrowser(request, "Y") });
  }

  function uploadChallenge(order: Order, form: Form) {
    return journeys.uploadChallenge(order, form.get("cres") ?? "");
  }

  function uploadPares(order: Order, form: Form) {
    const upload = { paRes: form.get("PaRes") ?? "", md: form.get("MD") ?? "" };
    return journeys.uploadPares(order, upload);
  }
}

function goBack(request: LinkRequest, reply: FastifyReply): FastifyReply {
  reply.header("cache-control", "no-store").header("referrer-policy", "no-referrer");
  return reply.redirect(linkTo("redirect", request), 303);
}

function linkTo(page: string, request: LinkRequest): string {
  const { orderId, token } = request.params;
  return linkFrom(
    request,
    2,
    `${page}/${encodeURIComponent(orderId)}/${encodeURIComponent(token)}`,
  );
}

function linkToReceipt(request: LinkRequest, { endpointId, receiptId }: ReceiptAddress): string {
  return linkFrom(request, 3, `view-receipt/${endpointId}/${receiptId}/`);
}

function readForm(body: unknown): Form {
  const form = body instanceof Uint8Array ? parseForm(body) : { pairs: [] };
  return new Map(form instanceof FormFault ? [] : form.pairs);
}
