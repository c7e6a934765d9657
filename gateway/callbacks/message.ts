/**
 * Builds the HTTP request of a callback: by default a `GET` with every field in the URL, or the
 * endpoint's choice of a signed form or signed JSON. A callback whose URL would be too long becomes
 * a form.
 */
import { createHmac } from "node:crypto";
import { writeForm } from "@tollgate/protocols/form";
import type {
  CallbackMethod,
  CallbackUrl,
  Endpoint,
  EndpointSettings,
} from "../orders/merchant.ts";
import type { Order } from "../orders/order.ts";
import { findNamed, sequencesPerUrl } from "../orders/transactions.ts";
import {
  asOrderId,
  asSerialNumber,
  type EndpointId,
  type MerchantId,
  type OrderId,
} from "../values/ids.ts";
import { getCurrency } from "../values/iso-codes.ts";
import { formatAmount, Money } from "../values/money.ts";
import { type Clock, hours, type Instant } from "../values/time.ts";
import { printResult, type ResultFields, resultNames } from "../views/result.ts";
import type { Callback, CallbackRequest } from "./callback.ts";
import { fillMacros, hasMacros } from "./callback-urls.ts";

type MessageOptions = {
  readonly fields: ResultFields;
  readonly method: CallbackMethod;
  /** Returns the secrets for Standard Webhooks (two during a renewal), which only a body needs. */
  readonly secrets: () => readonly Uint8Array[];
  readonly timestamp: number;
};

export type MessageDependencies = {
  readonly clock: Clock;
  readonly getEndpoint: (id: EndpointId) => Endpoint;
  readonly secretFor: (name: string) => Uint8Array;
  readonly sign: (merchant: Endpoint["merchant"], text: string) => string;
};

type Told = Pick<Callback, "orderId" | "sequence" | "serialNumber" | "url">;

const urlCharactersMax = 8_000;
const oldSecretLastsMs = hours(24);

export function makeBuildMessage({ getEndpoint, ...keys }: MessageDependencies) {
  return (callback: Told, order: Order): CallbackRequest | undefined => {
    const found = findNamed(order, callback.serialNumber);
    if (found === undefined) return undefined;
    const endpoint = getEndpoint(order.endpointId);
    const sign = (text: string) => keys.sign(endpoint.merchant, text);
    const fields = printResult(found, { sign, settings: endpoint.settings });
    return writeFor(endpoint, callback, fields, keys);
  };
}

type Keys = Pick<MessageDependencies, "clock" | "secretFor" | "sign">;

function writeFor(
  endpoint: Endpoint,
  callback: Omit<Told, "serialNumber">,
  fields: ResultFields,
  { clock, secretFor }: Omit<Keys, "sign">,
): CallbackRequest {
  const now = clock.now();
  const message = writeMessage(callback, {
    fields,
    method: endpoint.settings.callbackMethod ?? "GET",
    secrets: () => secretNames(endpoint, now).map(secretFor),
    timestamp: Math.floor(now / 1000),
  });
  return endpoint.settings.privateCallbacks === true ? { ...message, isPrivate: true } : message;
}

/**
 * A sample is signed like every callback of the endpoint. No order has its ids, so a shop that
 * believes it by mistake has nothing to deliver.
 */
export function writeSample(
  endpoint: Endpoint,
  { type, status = "approved", url }: CallbackUrl,
  serialNumber: string,
  keys: Keys,
): CallbackRequest {
  const [order, own] = ["0", "test-callback"];
  const amount = new Money(100n, getCurrency(endpoint.currency));
  const fields = [
    ["status", status],
    ["orderid", order],
    ["client_orderid", own],
    ["merchant_order", own],
    ["type", type === "all" ? "sale" : type],
    ["amount", formatAmount(amount)],
    ["currency", endpoint.currency],
    ["serial-number", serialNumber],
    ["control", keys.sign(endpoint.merchant, status + order + own)],
  ] as const;
  // A URL of the endpoint may have macros. Every sample has an id of its own.
  const callback = { orderId: asOrderId(serialNumber), sequence: sequencesPerUrl, url };
  return writeFor(endpoint, callback, fields, keys);
}

type CallbackKey = {
  readonly merchantId: MerchantId;
  readonly orderId: string;
  readonly sequence: number;
};
type Journaled = {
  readonly order: string;
  readonly sequence: number;
  readonly serial: string;
  readonly url: string;
};

export type CallbackJournal = {
  find(
    filter: Pick<CallbackKey, "merchantId"> & Partial<CallbackKey> & { readonly since?: Instant },
    most: number,
  ): Promise<readonly Journaled[]>;
  findOrder(
    key: Pick<Order, "merchantId"> & { readonly orderId: OrderId },
  ): Promise<Order | undefined>;
};

/** Returns the request as sent now, to the address that `urlOf` makes from the callback's own. */
export function makeRewrite(
  { find, findOrder }: CallbackJournal,
  buildMessage: ReturnType<typeof makeBuildMessage>,
) {
  return async (
    key: CallbackKey,
    urlOf: (own: string) => string,
  ): Promise<CallbackRequest | undefined> => {
    const [found] = await find(key, 1);
    if (found === undefined) return undefined;
    const { sequence, serial, url } = found;
    const orderId = asOrderId(found.order);
    const order = await findOrder({ merchantId: key.merchantId, orderId });
    const told = { orderId, sequence, serialNumber: asSerialNumber(serial), url: urlOf(url) };
    return order && buildMessage(told, order);
  };
}

export function writeMessage(
  callback: Omit<Told, "serialNumber">,
  { secrets, timestamp, ...options }: MessageOptions,
): CallbackRequest {
  // The id is the same in every attempt, so that a receiver can recognise a repeat.
  const id = `${callback.orderId}-${callback.sequence}`;
  const { method, address, form } = partsOf(callback, options);
  const url = withQuery(address, form);
  if (method === "GET" && isShort(url)) {
    return { method: "GET", url, body: "", headers: { "webhook-id": id } };
  }
  const body = method === "JSON" ? JSON.stringify(Object.fromEntries(options.fields)) : form;
  const signatures = secrets().map((secret) =>
    createHmac("sha256", secret).update(`${id}.${timestamp}.${body}`).digest("base64"),
  );
  return {
    method: "POST",
    url: address,
    body,
    headers: {
      "content-type": method === "JSON" ? "application/json" : "application/x-www-form-urlencoded",
      "webhook-id": id,
      "webhook-timestamp": String(timestamp),
      "webhook-signature": signatures.map((each) => `v1,${each}`).join(" "),
    },
  };
}

/** A URL with macros gets only the fields that it names, in its query and with any method. */
function partsOf(
  { sequence, url }: Pick<Told, "sequence" | "url">,
  { method, fields }: Pick<MessageOptions, "method" | "fields">,
) {
  // The URLs of an order have no macros: their text is only text.
  if (sequence < sequencesPerUrl || !hasMacros(url)) {
    const form = method === "JSON" ? "" : writeForm(fields);
    return { method, address: withoutShadows(url), form };
  }
  const [, address = "", form = ""] = /^([^?#]*)\??([^#]*)/.exec(fillMacros(url, fields)) ?? [];
  return { method: "GET" as const, address, form };
}

/**
 * Some receivers read the first of two equal names, and some the query of a `POST` too, so
 * parameters that could be taken for the gateway's are removed from the merchant's query.
 */
function withoutShadows(url: string): string {
  const at = url.indexOf("?");
  if (at < 0) return url;
  const [query = "", ...fragment] = url.slice(at + 1).split("#");
  const parameters = query.split(/(?<=[&;])/);
  const own = parameters.filter((each) => !resultNames.has(nameIn(each)));
  if (own.length === parameters.length) return url;
  const kept = own.join("").replace(/[&;]$/, "");
  const rest = fragment.length === 0 ? "" : `#${fragment.join("#")}`;
  return url.slice(0, at) + (kept === "" ? "" : `?${kept}`) + rest;
}

/**
 * Lenient frameworks decode names, and read `a[]` as `a`, dots and spaces as underscores. Case
 * counts, because deployed shops find their order by an `orderId` of their own.
 */
function nameIn(parameter: string): string {
  const [name = ""] = parameter.split(/[=&;]/);
  const [plain = ""] = unescapeName(name).split(/[[\0]/);
  return plain.trim().replaceAll(/[. ]/g, "_");
}

function unescapeName(name: string): string {
  try {
    return decodeURIComponent(name.replaceAll("+", " "));
  } catch {
    return name;
  }
}

/** The length is measured as sent, because escaping makes the URL longer. */
function isShort(url: string): boolean {
  const written = isPlain.test(url) ? url : (URL.parse(url)?.href ?? "");
  return written.length <= urlCharactersMax;
}

const isPlain = /^[!#-;=?-[\]_a-z~]*$/;

/** The URL keeps its own query and loses its fragment. */
function withQuery(url: string, text: string): string {
  const [address = ""] = url.split("#");
  if (!address.includes("?")) return `${address}?${text}`;
  return /[?&]$/.test(address) ? `${address}${text}` : `${address}&${text}`;
}

/** The newest secret's name comes first. The old one signs too for a day after a renewal. */
export function secretNames(
  { id, settings }: Pick<Endpoint, "id" | "settings">,
  now: Instant,
): readonly string[] {
  const generation = settings.webhookSecret?.generation ?? 0;
  const isRenewing = now < (oldSecretUntil(settings) ?? 0);
  return (isRenewing ? [generation, generation - 1] : [generation]).map((each) =>
    // The first secret has a name without a number, because there were no renewals then.
    each === 0 ? `webhook/${id}` : `webhook/${id}/${each}`,
  );
}

export function renewSecret(settings: EndpointSettings, now: Instant): EndpointSettings {
  const generation = (settings.webhookSecret?.generation ?? 0) + 1;
  return { ...settings, webhookSecret: { generation, renewedAt: now } };
}

/** Only the newest secret signs callbacks from now on. */
export function retireOldSecret(settings: EndpointSettings): EndpointSettings {
  return { ...settings, webhookSecret: { generation: settings.webhookSecret?.generation ?? 0 } };
}

export function oldSecretUntil({ webhookSecret }: EndpointSettings): number | undefined {
  const renewedAt = webhookSecret?.renewedAt;
  return renewedAt === undefined ? undefined : renewedAt + oldSecretLastsMs;
}
