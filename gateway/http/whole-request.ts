/**
 * Requests that arrive whole and plain: every byte in one piece, and nothing in the head that two
 * readers could understand differently. Also the text of their replies.
 */
import { type IncomingHttpHeaders, STATUS_CODES } from "node:http";
import type { HttpReply, HttpRequest } from "./router.ts";

export type WholeRequest = Pick<HttpRequest, "method" | "url" | "headers" | "body">;

const headBytesMax = 8_192;
const headEnding = "\r\n\r\n";
/** A byte that is not printable ASCII, or half of a line's end. */
const unclear = /[^ -~\r\n]|\r(?!\n)|(?<!\r)\n/;
const requestLine = /^(GET|POST) (\/[!-~]*) HTTP\/1\.1$/;
const plainName = /^[a-z0-9-]+$/;
const plainLength = /^\d{1,9}$/;
const linesMax = 100;
/** They decide what follows the head or the reply, or Node reads another value. */
const unclearNames: ReadonlySet<string> = new Set([
  "transfer-encoding",
  "expect",
  "upgrade",
  "proxy-connection",
  "set-cookie",
]);

/** Nothing when another reader might find more, less or another request in the bytes. */
export function readWholeRequest(bytes: Buffer): WholeRequest | undefined {
  const headEnd = bytes.indexOf(headEnding);
  if (headEnd < 0 || headEnd > headBytesMax) return undefined;
  const head = bytes.toString("latin1", 0, headEnd);
  const lineEnd = head.indexOf("\r\n");
  if (lineEnd < 0 || unclear.test(head)) return undefined;
  const [, method, url] = requestLine.exec(head.slice(0, lineEnd)) ?? [];
  if (method === undefined || url === undefined) return undefined;
  const headers = readHeaders(head, lineEnd + 2);
  if (headers?.host === undefined) return undefined;
  const body = bytes.subarray(headEnd + headEnding.length);
  if (body.length !== lengthIn(headers)) return undefined;
  return method === "GET" && body.length > 0 ? undefined : { method, url, headers, body };
}

/** Nothing when a name occurs twice, or a line means more than its value. */
function readHeaders(head: string, from: number): IncomingHttpHeaders | undefined {
  const headers: IncomingHttpHeaders = {};
  let lines = 0;
  for (let start = from; start < head.length; lines += 1) {
    const lineEnd = head.indexOf("\r\n", start);
    const end = lineEnd < 0 ? head.length : lineEnd;
    const line = head.slice(start, end);
    const colon = line.indexOf(":");
    const name = line.slice(0, colon).toLowerCase();
    if (colon < 0 || lines === linesMax || !plainName.test(name) || unclearNames.has(name))
      return undefined;
    if (headers[name] !== undefined) return undefined;
    const value = line.slice(colon + 1).trim();
    if (name === "connection" && value.toLowerCase() !== "keep-alive") return undefined;
    headers[name] = value;
    start = end + 2;
  }
  return headers;
}

function lengthIn({ "content-length": length }: IncomingHttpHeaders): number {
  if (length === undefined) return 0;
  return plainLength.test(length) ? Number(length) : Number.NaN;
}

/** Without the connection's headers; the others have passed `checkValues`. */
export function printHead({ status, headers, body }: HttpReply): string {
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n`;
  for (const [name, values] of Object.entries(headers)) {
    if (name === "connection") continue;
    for (const value of [values].flat()) head += `${name}: ${value}\r\n`;
  }
  return `${head}content-length: ${Buffer.byteLength(body)}\r\ndate: ${printDate()}\r\n`;
}

const unprintable = /[^\t -~]/;

/** Throws for a value that would be more than a line, or read in another character set. */
export function checkValues(headers: HttpReply["headers"]): void {
  for (const [name, values] of Object.entries(headers)) {
    for (const value of [values].flat()) {
      if (unprintable.test(value)) throw new TypeError(`Invalid character in header ${name}`);
    }
  }
}

let printed = { second: 0, text: "" };

function printDate(): string {
  const second = Math.floor(Date.now() / 1000);
  if (second !== printed.second) printed = { second, text: new Date().toUTCString() };
  return printed.text;
}
