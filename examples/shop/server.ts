/**
 * A minimal HTTP server for the shop: a table of routes, forms of limited size, and the headers
 * that every page of a checkout should have.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type Reply = {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
};

export type Asked = {
  readonly request: IncomingMessage;
  readonly method: string;
  /** The groups of the route's path. */
  readonly parts: readonly string[];
  /** The unchanged body, which the signature of a callback covers. */
  readonly body: string;
  readonly form: Readonly<Record<string, string>>;
};

export type Route = readonly [
  methods: string,
  path: RegExp,
  answer: (asked: Asked) => Promise<Reply> | Reply,
];

/** The limit leaves room for a wallet's token and the bank's answers of 3-D Secure. */
const bodyBytesMax = 256 * 1024;

export async function listen(host: string, port: number) {
  const server = createServer().listen(port, host);
  await once(server, "listening");
  const { address, port: taken } = server.address() as AddressInfo;
  const name = address.includes(":") ? `[${address}]` : address;
  return { server, address: `http://${name}:${taken}` };
}

export function serve(server: Server, routes: readonly Route[]): void {
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    void answer(request, routes).then(({ status = 200, headers, body = "" }) => {
      response.writeHead(status, { ...alwaysSent, ...headers }).end(body);
    });
  });
}

const alwaysSent = {
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  // The addresses of orders are secrets between the shop and its customer.
  "referrer-policy": "no-referrer",
};

async function answer(request: IncomingMessage, routes: readonly Route[]): Promise<Reply> {
  const { method = "", url = "" } = request;
  const [path = ""] = url.split("?");
  for (const [methods, pattern, reply] of routes) {
    const found = pattern.exec(path);
    if (found === null || !methods.split(" ").includes(method)) continue;
    try {
      const body = await readBody(request);
      if (body === undefined) return { status: 413 };
      const form = Object.fromEntries(new URLSearchParams(body));
      return await reply({ request, method, parts: found.slice(1), body, form });
    } catch (error) {
      // Only the name is logged, because the message of an error may quote the request.
      console.error("A request failed:", error instanceof Error ? error.name : "");
      return {
        status: 500,
        body: "Something went wrong. Look at your order before you pay again.",
      };
    }
  }
  return { status: 404, body: "There is no such page." };
}

async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > bodyBytesMax) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

export function redirect(location: string, headers = {}): Reply {
  return { status: 303, headers: { location, ...headers } };
}
