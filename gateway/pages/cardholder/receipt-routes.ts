/** Receipts: a page for everybody who knows its address, which merchants make from `receipt-id`. */
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { ReceiptServices } from "../../services.ts";
import { Failure } from "../../values/failure.ts";
import { formatAmount, type Money } from "../../values/money.ts";
import type { Instant } from "../../values/time.ts";
import { receiptOf } from "../../views/receipt.ts";
import type { Look } from "../design.ts";
import { unavailablePage } from "./end-pages.ts";
import { linkFrom } from "./links.ts";
import { noReceiptPage, receiptPage } from "./receipt-page.ts";
import { makeVisit } from "./visit.ts";

export type ReceiptRouteOptions = {
  readonly pathWord: string;
  readonly receipts: ReceiptServices;
  readonly look: Look;
  readonly printDate: (instant: Instant) => string;
};

type ReceiptRequest = FastifyRequest<{ Params: { endpointId: string; receiptId: string } }>;

export function addReceiptRoutes(
  server: FastifyInstance,
  { pathWord, receipts, look, printDate }: ReceiptRouteOptions,
): void {
  const visit = makeVisit(look);
  const path = `/${pathWord}/view-receipt/:endpointId/:receiptId`;

  server.get(path, async (request: ReceiptRequest, reply) => {
    const { texts, show } = visit(request, reply);
    const { endpointId, receiptId } = request.params;
    const found = await receipts.find(endpointId, receiptId);
    if (found === undefined) return show(noReceiptPage(texts));
    if (found instanceof Failure) return show(unavailablePage(texts, linkToSelf(request)));
    const { order, merchantName } = found;
    const printAmount = (money: Money) =>
      texts.money(`${formatAmount(money)} ${money.currency.code}`);
    return show(receiptPage(receiptOf(order, { merchantName, printDate, printAmount }), texts));
  });
}

function linkToSelf(request: ReceiptRequest): string {
  return linkFrom(request, 0, `${encodeURIComponent(request.params.receiptId)}/`);
}
