/**
 * The gateway's reader of whole requests against Node's: what it takes, Node must read as one
 * request with the same method, target, headers and body, and nothing may be left over. A
 * difference would be a way to smuggle a request past a proxy.
 */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { duplexPair } from "node:stream";
import { buffer } from "node:stream/consumers";
import { readWholeRequest } from "../../gateway/http/whole-request.ts";
import { changed } from "./changed.ts";
import type { Target } from "./target.ts";

const form = "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 3\r\n";
const samples = [
  `POST /gw/api/v2/sale/1 HTTP/1.1\r\nHost: a\r\n${form}\r\na=1`,
  `POST /gw/api/v4/sale/1 HTTP/1.1\r\nhost: a:80\r\n${form}Authorization: OAuth a="b"\r\n\r\na=1`,
  `POST /gw/api/v2/status/1 HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\n${form}\r\na=1`,
  "GET /portal/api/orders?search=x HTTP/1.1\r\nHost: a\r\nCookie: a=b; c=d\r\nAccept: */*\r\n\r\n",
];
const words = [
  ...["Transfer-Encoding: chunked\r\n", "Transfer-Encoding:chunked", "Content-Length: 0\r\n"],
  ...["Content-Length: +3\r\n", "Content-Length: 4\r\n", "Expect: 100-continue\r\n", "\r\n ", "\r"],
  ...[
    "Connection: close\r\n",
    "Connection: upgrade\r\n",
    "Upgrade: h2c\r\n",
    "HTTP/1.0",
    "\r\n\r\n",
  ],
  ...[
    "Set-Cookie: a\r\n",
    "Host: b\r\n",
    "Host:\r\n",
    "X-Y:\r\n",
    ": ",
    " :",
    "HEAD",
    "CONNECT",
    "PRI * HTTP/2.0",
    "#",
  ],
];

export const wholeRequests: Target = {
  name: "whole-request",
  inputs: changed(samples, words),
  async check(input) {
    const bytes = Buffer.from(input, "latin1");
    const read = readWholeRequest(bytes);
    if (read === undefined) return "left to Node";
    assert.deepEqual(await readByNode(bytes), [{ ...read, body: String(read.body) }]);
    return "accepted";
  },
};

/** As many turns as Node needs in this process, and more. */
const turns = 10;

/** All requests that Node finds, and an error for what it cannot read. */
async function readByNode(bytes: Buffer): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  const server = createServer(({ method, url, headers }, response) => {
    const place = found.push("without its end") - 1;
    buffer(response.req).then(
      (body) => {
        found[place] = { method, url, headers, body: String(body) };
        response.end();
      },
      () => undefined,
    );
  });
  server.on("clientError", ({ message }) => found.push(message));
  const [client, side] = duplexPair();
  server.emit("connection", side);
  client.resume().write(bytes);
  for (let turn = 0; turn < turns; turn += 1) await new Promise(setImmediate);
  side.destroy();
  client.destroy();
  return found;
}
