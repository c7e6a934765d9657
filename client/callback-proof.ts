/** What proves that a callback comes from the gateway: `control`, and the signature of a form. */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { CallbackRequest, Fields } from "./callback-result.ts";

const toleranceMs = 5 * 60_000;

/** What Standard Webhooks asks for at least; less could be guessed. */
const secretBytesMin = 24;

export function makeHasControl(controlKey: string): (fields: Fields) => boolean {
  if (typeof controlKey !== "string" || controlKey.trim() === "") {
    throw new TypeError("controlKey is empty: anybody could write callbacks");
  }
  return (fields) => {
    const { status = "", orderid = "", client_orderid = "", control = "" } = fields;
    const text = status + orderid + client_orderid + controlKey;
    return isSame(createHash("sha1").update(text).digest("hex"), control.toLowerCase());
  };
}

/** The signature covers the whole body, its id and the time when it was sent. */
export function makeIsSigned(
  webhookSecret: string | readonly string[],
  now: () => number,
): (request: CallbackRequest) => boolean {
  const secrets = [webhookSecret].flat().map(readSecret);
  if (secrets.length === 0) throw new TypeError("webhookSecret is an empty list");
  return ({ method, headers, body = "" }) => {
    const id = headerOf(headers, "webhook-id");
    const timestamp = headerOf(headers, "webhook-timestamp");
    const isFresh =
      /^\d{1,15}$/.test(timestamp) && Math.abs(now() - Number(timestamp) * 1000) <= toleranceMs;
    if (method.toUpperCase() !== "POST" || !isFresh) return false;
    const given = headerOf(headers, "webhook-signature").split(" ");
    const right = secrets.map((secret) => {
      const signed = createHmac("sha256", secret).update(`${id}.${timestamp}.${body}`);
      return `v1,${signed.digest("base64")}`;
    });
    return right.some((signature) => given.some((each) => isSame(signature, each)));
  };
}

function readSecret(secret: unknown): Buffer {
  const text = typeof secret === "string" ? secret.trim().replace(/^whsec_/, "") : "";
  const bytes = Buffer.from(text, "base64");
  // The decoder passes over what is no base64, and would sign with the rest.
  const isWhole = bytes.toString("base64").replace(/=+$/, "") === text.replace(/=+$/, "");
  if (!isWhole || bytes.length < secretBytesMin) {
    throw new TypeError("webhookSecret is not one of the gateway's: whsec_ and 24 bytes or more");
  }
  return bytes;
}

function headerOf(headers: CallbackRequest["headers"], name: string): string {
  if (headers instanceof Headers) return headers.get(name) ?? "";
  const found = Object.entries(headers).find(([each]) => each.toLowerCase() === name)?.[1] ?? "";
  return typeof found === "string" ? found : found.join(" ");
}

function isSame(right: string, given: string): boolean {
  const [one, other] = [Buffer.from(right), Buffer.from(given)];
  return one.length === other.length && timingSafeEqual(one, other);
}
