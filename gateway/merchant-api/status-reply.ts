/** The order (status) response, as the status operation and the synchronous twins give it. */
import type { FoundOrder } from "../orders/requests.ts";
import { initialOf } from "../orders/transactions.ts";
import { Failure } from "../values/failure.ts";
import { printBrowserStep } from "../views/browser-step.ts";
import { printStatus } from "../views/status.ts";
import type { Services } from "../wiring/services.ts";
import type { Reply } from "./operation.ts";

export async function statusReply(
  found: FoundOrder,
  asked: { readonly bySerialNumber: string | undefined; readonly services: Services },
): Promise<Reply> {
  const { bySerialNumber, services } = asked;
  const { printDate } = services;
  const cardRefId = await findCardRefId(found, services);
  return {
    type: "status-response",
    clientOrderId: found.order.clientOrderId,
    orderId: found.order.id,
    fields: [
      ...printStatus(found, { bySerialNumber, cardRefId, printDate }),
      ...printBrowserStep(stepOf(found, services)),
    ],
  };
}

/** Of the order's present transaction; an earlier one waits for nobody any more. */
function stepOf({ order, transaction }: FoundOrder, { threeds }: Services) {
  return transaction === order.transaction ? threeds.stepOf(order) : undefined;
}

/**
 * An approved verification registers its card; the reference is made when first asked for. One that
 * was removed, or whose card is gone, has none any more.
 */
async function findCardRefId(
  { order }: FoundOrder,
  { cards }: Services,
): Promise<string | undefined> {
  const { kind, stage } = initialOf(order);
  if (kind !== "account-verification" || stage !== "approved") return undefined;
  const references = await cards.register(order);
  return references instanceof Failure ? undefined : references.card;
}
