/**
 * A callback's text. By default it is a `GET` with everything in the address; an endpoint may want
 * a form instead, and what is too long for an address becomes one by itself.
 */
import { createHmac } from "node:crypto";
import { writeForm } from "@tollgate/protocols/form";
import type { ResultFields } from "../views/result.ts";
import type { Callback } from "./callback.ts";
import type { Message } from "./send.ts";

export type { Message };

export type MessageOptions = {
  readonly fields: ResultFields;
  readonly method: "GET" | "POST";
  /** Of the endpoint, for Standard Webhooks; two while it changes. Made only for what is signed. */
  readonly secrets: () => readonly Uint8Array[];
  /** Seconds since 1970. */
  readonly timestamp: number;
};

const urlCharactersMax = 8_000;

/** What the text needs to know of a callback. */
type Told = Pick<Callback, "orderId" | "sequence" | "url">;

export function makeMessage(callback: Told, options: MessageOptions): Message {
  const { fields, method, secrets, timestamp } = options;
  // The same for every try, so that a receiver can tell a repeat.
  const id = `${callback.orderId}-${callback.sequence}`;
  const text = writeForm(fields);
  const url = withQuery(callback.url, text);
  if (method === "GET" && isShort(url)) {
    return { method: "GET", url, body: "", headers: { "webhook-id": id } };
  }
  const signed = secrets().map((secret) =>
    createHmac("sha256", secret).update(`${id}.${timestamp}.${text}`).digest("base64"),
  );
  return {
    method: "POST",
    url: callback.url,
    body: text,
    headers: {
      "content-type": "application/x-www-form-urlencoded",
      "webhook-id": id,
      "webhook-timestamp": String(timestamp),
      "webhook-signature": signed.map((each) => `v1,${each}`).join(" "),
    },
  };
}

/** As it goes out: what an address may not hold is escaped, and grows by that. */
function isShort(url: string): boolean {
  const written = isPlain.test(url) ? url : (URL.parse(url)?.href ?? "");
  return written.length <= urlCharactersMax;
}

const isPlain = /^[!#-;=?-[\]_a-z~]*$/;

/** The address's own query stays where it is. */
function withQuery(url: string, text: string): string {
  const [address = ""] = url.split("#");
  if (!address.includes("?")) return `${address}?${text}`;
  return /[?&]$/.test(address) ? `${address}${text}` : `${address}&${text}`;
}
