/**
 * Builds replies: the acknowledgement of a transaction and the status response, as name=value pairs
 * or as a JSON object of strings. Absent values are left out and never sent empty. The default is
 * the form, even for the `Accept` headers of HTTP libraries; JSON is for clients that prefer it to
 * every type of the form.
 */
import { writeForm } from "@tollgate/protocols/form";
import type { EndpointSettings } from "../orders/merchant.ts";
import type { Order } from "../orders/order.ts";
import type { FoundOrder } from "../orders/requests.ts";
import { findLatestDispute, initialOf } from "../orders/transactions.ts";
import { Failure, failures } from "../values/failure.ts";
import { asSerialNumber, type SerialNumber } from "../values/ids.ts";
import { printBrowserStep } from "../views/browser-step.ts";
import { printStatus } from "../views/status.ts";
import type { CalledParts, Context, Operation, Reply } from "./operation.ts";

export function acknowledge({ order, transaction }: FoundOrder): Reply {
  return {
    type: "async-response",
    describes: { order, transaction },
    clientOrderId: order.clientOrderId,
    orderId: order.id,
    fields: [["end-point-id", order.endpointId]],
  };
}

/** The portal passes a `register` that makes no references. */
type StatusDependencies = Pick<CalledParts, "printDate" | "settingsOf"> & {
  readonly cards: {
    register(order: Order): Promise<{ readonly card: string } | Failure | undefined>;
  };
  readonly threeds: Pick<CalledParts["threeds"], "stepOf">;
};

export async function statusReply(
  found: FoundOrder,
  services: StatusDependencies,
  bySerialNumber?: string,
): Promise<Reply> {
  const { order, transaction } = found;
  const { printDate } = services;
  const cardRefId = await findCardRefId(found, services);
  const settings = services.settingsOf(order);
  // Only the latest transaction can have a pending step.
  const step = transaction === order.transaction ? services.threeds.stepOf(order) : undefined;
  return {
    type: "status-response",
    clientOrderId: order.clientOrderId,
    orderId: order.id,
    fields: [
      ...printStatus(found, { bySerialNumber, cardRefId, printDate, settings }),
      ...printBrowserStep(step),
    ],
  };
}

const noSerialNumber = asSerialNumber("00000000-0000-0000-0000-000000000000");

/** The merchant's status reply without its serial number. It has no effects. */
export function makeStatusText(
  {
    cards,
    ...services
  }: Omit<StatusDependencies, "cards"> & {
    readonly cards: { findRegistered: StatusDependencies["cards"]["register"] };
  },
  wire: WireOptions,
): (order: Order) => Promise<string> {
  const asking = { ...services, cards: { register: cards.findRegistered } };
  return async (order) => {
    const found = latestOf({ order, transaction: order.transaction }, services.settingsOf(order));
    const reply = await statusReply(found, asking);
    return writeReply(reply, noSerialNumber, "form", wire);
  };
}

/** Caches replies about ended orders. Another version of an order is another object. */
const statusReplies = new WeakMap<Order, Reply & { readonly settings: EndpointSettings }>();

/**
 * The reply about an ended order is printed once, except that of a verification, which may change
 * without a new version if the card is removed.
 */
export async function pollReply(found: FoundOrder, services: CalledParts): Promise<Reply> {
  const { order } = found;
  const settings = services.settingsOf(order);
  const known = statusReplies.get(order);
  if (known?.settings === settings) return known;
  const reply = await statusReply(latestOf(found, settings), services);
  if (order.transaction.finishedAt === undefined) return reply;
  if (initialOf(order).kind === "account-verification") return reply;
  const cached = { ...reply, settings, texts: {} };
  statusReplies.set(order, cached);
  return cached;
}

/** If the endpoint's settings say so, a dispute is shown as a transaction of the order. */
function latestOf(found: FoundOrder, { tellsChargebacks }: EndpointSettings): FoundOrder {
  const dispute = tellsChargebacks === "transactions" ? findLatestDispute(found.order) : undefined;
  return dispute ?? found;
}

/**
 * An approved verification registers its card at the first status request. A removed reference, or
 * one whose card was deleted, is not shown.
 */
async function findCardRefId(
  { order }: FoundOrder,
  { cards }: StatusDependencies,
): Promise<string | undefined> {
  const { kind, stage } = initialOf(order);
  if (kind !== "account-verification" || stage !== "approved") return undefined;
  const references = await cards.register(order);
  return references instanceof Failure ? undefined : references?.card;
}

/** The synchronous variant waits for the result, but not for ever, and replies with the status. */
export function synchronousVariantOf(operation: Operation): Operation {
  const { repeats, handle } = operation;
  return {
    ...operation,
    name: `sync/${operation.name}`,
    path: operation.path.replace(/^\/(v\d)\//, "/$1/sync/"),
    handle: async (request, context) => withResult(await handle(request, context), context),
    ...(repeats && {
      repeats: {
        ...repeats,
        answer: async (begun, context) => withResult(await repeats.answer(begun, context), context),
      },
    }),
  };
}

async function withResult(reply: Reply | Failure, context: Context): Promise<Reply | Failure> {
  if (reply instanceof Failure || reply.describes === undefined) return reply;
  const { services } = context;
  const found = await services.orders.waitForResult(reply.describes);
  if (found instanceof Failure) return found;
  return { ...reply, ...(await statusReply(found, services)) };
}

export type WireOptions = { readonly fieldWord: string; readonly lineFeeds: boolean };

export function writeReply(
  answer: Reply | Failure,
  serialNumber: SerialNumber,
  format: ReplyFormat,
  wire: WireOptions,
): string {
  if (answer instanceof Failure || answer.texts === undefined) {
    return writePairs(pairsOf(answer, serialNumber, wire.fieldWord), format, wire);
  }
  const { texts } = answer;
  texts[format] ??= writePairs(fieldPairs(answer, wire.fieldWord), format, wire);
  const head = writePairs(headPairs(answer, serialNumber), format, wire);
  return format === "json"
    ? `${head.slice(0, -1)},${texts.json?.slice(1)}`
    : `${head}&${texts.form}`;
}

function writePairs(
  pairs: Iterable<readonly [string, string]>,
  format: ReplyFormat,
  { lineFeeds }: WireOptions,
): string {
  if (format === "json") return JSON.stringify(Object.fromEntries(pairs));
  return writeForm(pairs, { lineFeeds });
}

/** The order is fixed: type, serial number, the two order ids, the operation's own fields. */
function pairsOf(
  answer: Reply | Failure,
  serialNumber: SerialNumber,
  fieldWord: string,
): readonly (readonly [string, string])[] {
  if (answer instanceof Failure) {
    const { type } = failures[answer.code];
    return [
      // Declines and filters are results of orders; here one has stopped the request.
      ["type", type === "validation-error" ? type : "error"],
      ["serial-number", serialNumber],
      ["error-message", answer.message],
      ["error-code", String(answer.number)],
    ];
  }
  return [...headPairs(answer, serialNumber), ...fieldPairs(answer, fieldWord)];
}

function headPairs({ type }: Reply, serialNumber: SerialNumber): readonly [string, string][] {
  return [
    ["type", type],
    ["serial-number", serialNumber],
  ];
}

function fieldPairs(answer: Reply, fieldWord: string): readonly [string, string][] {
  const pairs: [string, string][] = [];
  if (answer.clientOrderId !== undefined) pairs.push(["merchant-order-id", answer.clientOrderId]);
  if (answer.orderId !== undefined) pairs.push([`${fieldWord}-order-id`, answer.orderId]);
  for (const [name, value] of answer.fields) {
    if (value === undefined || value === "") continue;
    pairs.push([name.startsWith("gw-") ? fieldWord + name.slice(2) : name, value]);
  }
  return pairs;
}

export type ReplyFormat = "form" | "json";

export const contentTypes = {
  form: "text/html;charset=utf-8",
  json: "application/json;charset=utf-8",
} as const;

/** Media types that a client which reads the form may name. */
const formTypes = ["*/*", "text/*", "text/html"];

export function formatFor(accept: string | undefined): ReplyFormat {
  if (accept === undefined || !/json/i.test(accept)) return "form";
  const weights = readAccept(accept);
  const weightOf = (type: string) => weights.get(type) ?? 0;
  if (weightOf("application/vnd.pay+json") > 0) return "json";
  const json = weightOf("application/json");
  const isPreferred = json > 0 && [...weights.values()].every((weight) => weight <= json);
  return isPreferred && formTypes.every((type) => weightOf(type) < json) ? "json" : "form";
}

const weightForm = /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/;

/** The weights by media range. A range whose weight is malformed counts as not sent. */
function readAccept(accept: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const element of accept.toLowerCase().split(",")) {
    const [type = "", ...parameters] = element.split(";").map((part) => part.trim());
    const weight = parameters.find((each) => each.startsWith("q="))?.slice(2) ?? "1";
    if (!weightForm.test(weight)) continue;
    weights.set(type, Math.max(Number(weight), weights.get(type) ?? 0));
  }
  return weights;
}
