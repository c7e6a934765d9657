/**
 * Replies: the acknowledgement of a transaction, the status response, and both on the wire, as
 * name=value pairs or as a JSON object of strings. Absent values are left out, never sent empty.
 */
import { writeForm } from "@tollgate/protocols/form";
import type { FoundOrder } from "../orders/requests.ts";
import { initialOf } from "../orders/transactions.ts";
import { Failure, failures } from "../values/failure.ts";
import type { SerialNumber } from "../values/ids.ts";
import { printBrowserStep } from "../views/browser-step.ts";
import { printStatus } from "../views/status.ts";
import type { Services } from "../wiring/services.ts";
import type { Operation, Reply } from "./operation.ts";
import type { ReplyFormat } from "./reply-format.ts";

export function acknowledge({ order, transaction }: FoundOrder): Reply {
  return {
    type: "async-response",
    describes: { order, transaction },
    clientOrderId: order.clientOrderId,
    orderId: order.id,
    fields: [["end-point-id", order.endpointId]],
  };
}

export async function statusReply(
  found: FoundOrder,
  services: Services,
  bySerialNumber?: string,
): Promise<Reply> {
  const { order, transaction } = found;
  const { printDate } = services;
  const cardRefId = await findCardRefId(found, services);
  const tellsChargebacks = services.tellsChargebacks(order);
  // Only the latest transaction can have a pending step.
  const step = transaction === order.transaction ? services.threeds.stepOf(order) : undefined;
  return {
    type: "status-response",
    clientOrderId: order.clientOrderId,
    orderId: order.id,
    fields: [
      ...printStatus(found, { bySerialNumber, cardRefId, printDate, tellsChargebacks }),
      ...printBrowserStep(step),
    ],
  };
}

/**
 * An approved verification registers its card at the first status request. A removed reference, or
 * one whose card was deleted, is not shown.
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

/**
 * The synchronous variant of an operation: waits for the result and replies with the status. If
 * there is no result in time, the status is that of a processing order.
 */
export function synchronousVariantOf(operation: Operation): Operation {
  return {
    ...operation,
    name: `sync/${operation.name}`,
    path: operation.path.replace(/^\/(v\d)\//, "/$1/sync/"),
    async handle(request, context): Promise<Reply | Failure> {
      const reply = await operation.handle(request, context);
      if (reply instanceof Failure || reply.describes === undefined) return reply;
      const { services } = context;
      const found = await services.orders.waitForResult(reply.describes);
      if (found instanceof Failure) return found;
      return { ...reply, ...(await statusReply(found, services)) };
    },
  };
}

export type WireOptions = { readonly fieldWord: string; readonly lineFeeds: boolean };

export function writeReply(
  answer: Reply | Failure,
  serialNumber: SerialNumber,
  format: ReplyFormat,
  wire: WireOptions,
): string {
  const pairs = pairsOf(answer, serialNumber, wire.fieldWord);
  if (format === "json") return JSON.stringify(Object.fromEntries(pairs));
  return writeForm(pairs, { lineFeeds: wire.lineFeeds });
}

/** The fixed order: type, serial number, the two order ids, then the operation's own fields. */
function pairsOf(
  answer: Reply | Failure,
  serialNumber: SerialNumber,
  fieldWord: string,
): readonly (readonly [string, string])[] {
  if (answer instanceof Failure) {
    return [
      ["type", failures[answer.code].type],
      ["serial-number", serialNumber],
      ["error-message", answer.message],
      ["error-code", String(answer.number)],
    ];
  }
  const pairs: [string, string][] = [
    ["type", answer.type],
    ["serial-number", serialNumber],
  ];
  if (answer.clientOrderId !== undefined) pairs.push(["merchant-order-id", answer.clientOrderId]);
  if (answer.orderId !== undefined) pairs.push([`${fieldWord}-order-id`, answer.orderId]);
  for (const [name, value] of answer.fields) {
    if (value === undefined || value === "") continue;
    pairs.push([name.startsWith("gw-") ? fieldWord + name.slice(2) : name, value]);
  }
  return pairs;
}
