/**
 * Callbacks for the portal: lists of deliveries, every attempt with a check of its checksum, and a
 * preview of the callbacks that a filter selects for sending again.
 */
import type { Order } from "../orders/order.ts";
import { asInstant } from "../values/time.ts";
import type { Api, Handlers } from "./api.ts";
import { type OrderOptions, viewAttempt, viewCallback } from "./orders.ts";
import { type DeliveryFilter, merchantFor, resentMax, type StoredAttempt } from "./reads.ts";
import { type Caller, notFound } from "./route.ts";
import { readCursor } from "./shapes.ts";

export type CallbackOptions = Pick<OrderOptions, "reads" | "configured"> & {
  /** Returns which of the merchant's control keys made the checksum `control`, if any. */
  readonly findSigner: (
    order: Order,
    text: string,
    control: string,
  ) => "current_key" | "old_key" | undefined;
};

export function callbackHandlers(options: CallbackOptions) {
  const { reads, configured } = options;
  const choose = makeChoose(options);
  return {
    async "GET /callbacks"({ after, limit = 50, ...filters }, caller) {
      const filter = await choose(filters, caller);
      if (filter === undefined) return { callbacks: [] };
      const cursor = readCursor(after);
      const page = { limit, after: cursor && { ...cursor, orderId: cursor.id } };
      const { rows, end } = await reads.listCallbacks({ ...filter, ...page });
      const last = rows.length === limit ? rows.at(-1) : undefined;
      const from = last === undefined ? end : { ...last, at: last.madeAt };
      return {
        callbacks: rows.map((each) => viewCallback(each, configured(), caller)),
        ...(from && { next: `${from.at}-${from.orderId}-${from.sequence}` }),
        ...(end && { searchedTo: end.at }),
      };
    },

    async "GET /callbacks/:order/:sequence"({ order: id, sequence }, caller) {
      const order = await reads.findOrder(id, caller.merchantId);
      if (order === undefined) return notFound;
      const key = { merchantId: order.merchantId, orderId: order.id, sequence };
      const [{ rows }, attempts] = await Promise.all([
        reads.listCallbacks({ ...key, after: undefined, limit: 1 }),
        reads.findAttempts(order, sequence),
      ]);
      const [callback] = rows;
      if (callback === undefined) return notFound;
      return {
        callback: viewCallback(callback, configured(), caller),
        attempts: attempts.map((attempt) => ({
          attempt: viewAttempt(attempt, caller),
          signature: checkSignature(attempt, order, options),
        })),
      };
    },
  } satisfies Partial<Handlers>;
}

/** These routes use the filter of `callback resend`, so they count the callbacks that it sends. */
export function resendHandlers(options: CallbackOptions) {
  const { reads } = options;
  const choose = makeChoose(options);
  return {
    async "POST /callbacks/preview"(input, caller) {
      const filter = await choose(input, caller);
      if (filter === undefined) return notFound;
      const found = await reads.countReceivers(filter, resentMax + 1);
      const count = found.reduce((sum, each) => sum + each.count, 0);
      const receivers = addUp(found).slice(0, 20);
      return { count: Math.min(count, resentMax), isMore: count > resentMax, receivers };
    },

    async "GET /callbacks/progress"({ resentAt, ...input }, caller) {
      const filter = await choose(input, caller);
      if (filter === undefined) return notFound;
      const found = await reads.countResent(filter, asInstant(resentAt));
      const sum = (of: (each: (typeof found)[number]) => boolean) =>
        found.filter(of).reduce((total, { count }) => total + count, 0);
      return {
        delivered: sum(({ state }) => state === "delivered"),
        waiting: sum(({ state, failed }) => state === "due" && !failed),
        failed: sum(({ state, failed }) => state !== "delivered" && (state !== "due" || failed)),
      };
    },
  } satisfies Partial<Handlers>;
}

type Receiver = { readonly receiver: string; readonly count: number };

/** Adds up each receiver's counts of all cells: a cell counts only its own merchants' callbacks. */
function addUp(found: readonly Receiver[]): readonly Receiver[] {
  const byName = Map.groupBy(found, ({ receiver }) => receiver);
  const sums = [...byName].map(([receiver, each]) => ({
    receiver,
    count: each.reduce((sum, { count }) => sum + count, 0),
  }));
  return sums.toSorted((one, other) => other.count - one.count);
}

type Chosen = Api["POST /callbacks/preview"]["input"];

/** Returns undefined if the filter's order or merchant is unknown or hidden from the user. */
function makeChoose({ reads, configured }: CallbackOptions) {
  return async (input: Chosen, caller: Caller): Promise<DeliveryFilter | undefined> => {
    const { order: id, merchant, endpoint: endpointId, host, since, until, ...rest } = input;
    const order = id === undefined ? undefined : await reads.findOrder(id, caller.merchantId);
    const merchantId = order?.merchantId ?? merchantFor(caller, configured(), merchant);
    if ((id !== undefined && order === undefined) || merchantId === null) return undefined;
    return {
      ...rest,
      merchantId,
      endpointId,
      orderId: order?.id,
      host: host?.trim().toLowerCase() || undefined,
      ...(since !== undefined && { since: asInstant(since) }),
      ...(until !== undefined && { until: asInstant(until) }),
    };
  };
}

const signedNames = ["status", "orderid", "client_orderid"] as const;

/** Checks a sent callback's checksum by computing it with the merchant's present keys. */
function checkSignature(attempt: StoredAttempt, order: Order, { findSigner }: CallbackOptions) {
  const { body, url, sequence } = attempt;
  const fields = readResult(body === "" ? (URL.parse(url)?.search ?? "") : body);
  const parts = signedNames.map((name) => ({ name, value: fields.get(name) ?? "" }));
  const control = fields.get("control") ?? "";
  const text = parts.map(({ value }) => value).join("");
  const signer = control === "" ? "absent" : (findSigner(order, text, control) ?? "other");
  const webhook = `${order.id}-${sequence}.{webhook-timestamp}.{body}`;
  return { parts, result: signer, ...(body !== "" && { webhook }) } as const;
}

/** A callback has its fields in a form body, the query of a URL, or a JSON body. */
function readResult(text: string): ReadonlyMap<string, string> {
  if (!text.startsWith("{")) return new Map(new URLSearchParams(text));
  try {
    return new Map(Object.entries<string>(JSON.parse(text)));
  } catch {
    return new Map();
  }
}
