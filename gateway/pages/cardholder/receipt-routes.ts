/** Receipts: a page for everybody who knows its address, which merchants make from `receipt-id`. */
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Failure } from "../../values/failure.ts";
import { formatAmount, type Money } from "../../values/money.ts";
import type { Clock, Instant } from "../../values/time.ts";
import { receiptOf } from "../../views/receipt.ts";
import type { ReceiptServices } from "../../wiring/services.ts";
import type { Look } from "../design.ts";
import { clientNetworkOf } from "./client-network.ts";
import { unavailablePage } from "./end-pages.ts";
import { linkFrom } from "./links.ts";
import { makeMissLimit } from "./miss-limit.ts";
import { noReceiptPage, receiptPage } from "./receipt-page.ts";
import { makeVisit } from "./visit.ts";

export type ReceiptRouteOptions = {
  readonly pathWord: string;
  readonly receipts: ReceiptServices;
  readonly look: Look;
  readonly printDate: (instant: Instant) => string;
  readonly clock: Pick<Clock, "now">;
};

type ReceiptRequest = FastifyRequest<{ Params: { endpointId: string; receiptId: string } }>;

export function addReceiptRoutes(
  server: FastifyInstance,
  { pathWord, receipts, look, printDate, clock }: ReceiptRouteOptions,
): void {
  const visit = makeVisit(look);
  const misses = makeMissLimit(clock);
  const path = `/${pathWord}/view-receipt/:endpointId/:receiptId`;

  server.get(path, async (request: ReceiptRequest, reply) => {
    const { texts, show } = visit(request, reply);
    const { endpointId, receiptId } = request.params;
    const client = clientNetworkOf(request.headers);
    const waitSeconds = misses.take(client);
    const patience = unavailablePage(texts, linkToSelf(request));
    // It looks again by itself, by when there is a look to be had.
    if (waitSeconds > 0) return show({ ...patience, status: 429 });
    const found = await receipts.find(endpointId, receiptId);
    if (found === undefined) return show(noReceiptPage(texts));
    misses.giveBack(client);
    if (found instanceof Failure) return show(patience);
    const { order, merchantName } = found;
    const printAmount = (money: Money) =>
      texts.money(`${formatAmount(money)} ${money.currency.code}`);
    return show(receiptPage(receiptOf(order, { merchantName, printDate, printAmount }), texts));
  });
}

function linkToSelf(request: ReceiptRequest): string {
  return linkFrom(request, 0, `${encodeURIComponent(request.params.receiptId)}/`);
}
