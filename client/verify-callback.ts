/**
 * Reads a callback and verifies it. The signature of a form proves every field. `control` proves
 * three fields, but not where one ends and the next begins. For the others the gateway can be
 * asked.
 */
import { type Fields, type FinalStatus, isFinalStatus, Refused } from "./call.ts";
import { resultFields, type StatusReply, type StatusRequest } from "./operations.generated.ts";
import { fromBase64, hmacSha256, isSame, sha1Hex, toBase64 } from "./web.ts";

/** The request as any HTTP server has it: `url` with its query, and the unchanged body. */
export type CallbackRequest = {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body?: string;
};

/** A result of which every field is proven. Names and values are those of the interface. */
export type CallbackResult = {
  readonly status: FinalStatus;
  readonly orderid: string;
  readonly client_orderid: string;
  /** The serial number of the transaction that has this result. */
  readonly "serial-number": string;
  readonly type: string;
  readonly amount?: string;
  readonly "charged-amount"?: string;
  readonly currency?: string;
  readonly error_code?: string;
  readonly error_message?: string;
  readonly merchantdata?: string;
  readonly [other: string]: string | undefined;
};

/**
 * The values that `control` alone proves: that the gateway once sent these three values one after
 * the other. It also sends them to the cardholder's browser.
 */
export type ControlledResult = Covered & {
  /**
   * The other fields, such as type, amount and serial number. Any former cardholder can forge them.
   */
  readonly claimed: Fields;
};

/** The fields that every callback must have. */
type Covered = Pick<CallbackResult, "status" | "orderid" | "client_orderid">;

/** Returned instead of a result. "later" means that there may be a result later. */
export class NoResult {
  readonly kind: "later" | "refused";
  readonly why: string;

  constructor(kind: NoResult["kind"], why: string) {
    this.kind = kind;
    this.why = why;
  }
}

const orderIdForm = /^[1-9]\d{6,18}$/;
const serialNumberForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Reads the fields. The gateway's fields come last, so that parameters of the shop's own URL do not
 * hide them.
 */
export function readFields({ method, url, headers, body = "" }: CallbackRequest): Fields {
  const hasBody = method.toUpperCase() === "POST";
  if (hasBody && /^application\/json\b/i.test(headerOf(headers, "content-type"))) {
    return readJson(body);
  }
  return Object.fromEntries(new URLSearchParams(hasBody ? body : url.replace(/^[^?]*\??/, "")));
}

/** Reads an object of texts. Any other text has no fields. */
function readJson(body: string): Fields {
  try {
    const pairs = Object.entries(JSON.parse(body) ?? {});
    return Object.fromEntries(pairs.filter(([, value]) => typeof value === "string")) as Fields;
  } catch {
    return {};
  }
}

export function isCovered(fields: Fields): fields is Fields & Covered {
  const { status = "", orderid = "", client_orderid = "" } = fields;
  return isFinalStatus(status) && orderIdForm.test(orderid) && client_orderid !== "";
}

export function isResult(fields: Fields): fields is CallbackResult {
  return isCovered(fields) && serialNumberOf(fields) !== undefined && Boolean(fields["type"]);
}

/**
 * Returns the serial number in lower case, so that another spelling does not pass for another
 * transaction.
 */
export function serialNumberOf(fields: Fields): string | undefined {
  const given = fields["serial-number"]?.toLowerCase() ?? "";
  return serialNumberForm.test(given) ? given : undefined;
}

export function makeHasControl(controlKey: string): (fields: Fields) => Promise<boolean> {
  if (typeof controlKey !== "string" || controlKey.trim() === "") {
    throw new TypeError("controlKey is empty: anyone could forge callbacks");
  }
  return async ({ status = "", orderid = "", client_orderid = "", control = "" }) => {
    const text = status + orderid + client_orderid + controlKey;
    return isSame(await sha1Hex(text), control.toLowerCase());
  };
}

const toleranceMs = 5 * 60_000;

/**
 * Makes the check of the signature, which covers the whole body, its id and the time when it was
 * sent.
 */
export function makeIsSigned(
  webhookSecret: string | readonly string[],
  now: () => number,
): (request: CallbackRequest) => Promise<boolean> {
  const secrets = [webhookSecret].flat().map(readSecret);
  if (secrets.length === 0) throw new TypeError("webhookSecret is an empty list");
  return async ({ method, headers, body = "" }) => {
    const id = headerOf(headers, "webhook-id");
    const timestamp = headerOf(headers, "webhook-timestamp");
    const isFresh =
      /^\d{1,15}$/.test(timestamp) && Math.abs(now() - Number(timestamp) * 1000) <= toleranceMs;
    if (method.toUpperCase() !== "POST" || !isFresh) return false;
    const given = headerOf(headers, "webhook-signature").split(" ");
    const text = `${id}.${timestamp}.${body}`;
    const right = await Promise.all(secrets.map((secret) => hmacSha256(secret, text)));
    return right.some((signature) => given.some((each) => isSame(`v1,${signature}`, each)));
  };
}

/** The number of bytes that Standard Webhooks requires; a shorter secret could be guessed. */
const secretBytesMin = 24;

function readSecret(secret: unknown): Uint8Array<ArrayBuffer> {
  const text = typeof secret === "string" ? secret.trim().replace(/^whsec_/, "") : "";
  const bytes = fromBase64(text);
  // The decoder ignores white space and spare bits, and the client would sign with the rest.
  const padding = /(?<!=)=+$/;
  const isWhole = bytes && toBase64(bytes).replace(padding, "") === text.replace(padding, "");
  if (bytes === undefined || !isWhole || bytes.length < secretBytesMin) {
    throw new TypeError("webhookSecret is not one of the gateway's: whsec_ and 24 bytes or more");
  }
  return bytes;
}

function headerOf(headers: CallbackRequest["headers"], name: string): string {
  if (headers instanceof Headers) return headers.get(name) ?? "";
  const found = Object.entries(headers).find(([each]) => each.toLowerCase() === name)?.[1] ?? "";
  return typeof found === "string" ? found : found.join(" ");
}

/** A source of status responses, such as an endpoint or a group of the client. */
export type StatusSource = { status(request: StatusRequest): Promise<StatusReply> };

/** Codes of refusals that mean that the transaction does not exist. */
const unknownCodes = [5, 6];

/** Asks the gateway for the transaction, and takes every field from its answer. */
export async function confirmCallback(
  fields: CallbackResult,
  source: StatusSource,
): Promise<CallbackResult | NoResult> {
  const { status, orderid, client_orderid } = fields;
  const serialNumber = serialNumberOf(fields) ?? "";
  try {
    const reply = await source.status({ client_orderid, orderid, "by-request-sn": serialNumber });
    const isAbout =
      reply["gw-order-id"] === orderid &&
      reply["merchant-order-id"] === client_orderid &&
      reply["by-request-sn"]?.toLowerCase() === serialNumber;
    if (!isAbout) return new NoResult("refused", "the status is of another transaction");
    if (!isFinalStatus(reply.status)) return new NoResult("later", "the status is not final yet");
    if (reply.status !== status) return new NoResult("refused", "the status is a different one");
    const confirmed = resultFields.map(([name, inStatus]) => [name, reply[inStatus]] as const);
    const present = confirmed.filter(([, value]) => value !== undefined && value !== "");
    const type = reply["transaction-type"] ?? "";
    const covered = { status, orderid, client_orderid };
    return { ...Object.fromEntries(present), ...covered, type, "serial-number": serialNumber };
  } catch (error) {
    const isUnknown = error instanceof Refused && unknownCodes.includes(error.code);
    if (isUnknown) return new NoResult("refused", "the gateway knows no such transaction");
    const cause = error instanceof Error ? error.message : "";
    return new NoResult("later", `the status request failed: ${cause}`);
  }
}
