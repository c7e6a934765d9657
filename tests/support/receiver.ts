/** A merchant's receiver of callbacks: a real server that records its requests. */
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { atEnd, type Test } from "./clean-up.ts";
import { until } from "./until.ts";

export type Heard = {
  readonly method: string;
  /** The path with its query. */
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  /** The fields of the query or of the form. */
  readonly fields: Readonly<Record<string, string>>;
};

export type Answer = (response: Parameters<RequestListener>[1], heard: Heard) => void;
export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

export const answerWith =
  (status: number, headers: Record<string, string> = {}, body = ""): Answer =>
  (response) =>
    void response.writeHead(status, headers).end(body);
/** Accepts the request and never answers. */
export const hang: Answer = () => undefined;
/** Closes the connection without an answer. */
export const hangUp: Answer = (response) => void response.socket?.destroy();
/** Answers with success, and then sends a body without an end, a byte at a time. */
export function makeDrip() {
  let drops = 0;
  const answer: Answer = (response) => {
    response.writeHead(200).write(".");
    const timer = setInterval(() => {
      response.write(".");
      drops += 1;
    }, 5);
    response.on("close", () => clearInterval(timer));
  };
  return {
    answer,
    get drops() {
      return drops;
    },
  };
}
/** Answers with an error and a body without an end, as fast as it is read. */
export const flood: Answer = (response) => {
  response.writeHead(500);
  const text = "x".repeat(65_536);
  const pour = () => {
    while (!response.destroyed && response.write(text));
  };
  response.on("drain", pour);
  pour();
};

export async function startReceiver(t: Test, first: Answer = answerWith(200)) {
  const heard: Heard[] = [];
  const sockets = new Set<Socket>();
  let answer = first;
  const take: RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      const one = heardFrom(request, Buffer.concat(chunks).toString());
      heard.push(one);
      answer(response, one);
    });
  };
  const server = createServer(take);
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  atEnd(t, () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    heard,
    /** The number of open connections. */
    get connections() {
      return sockets.size;
    },
    /** Sets the answer to all further requests. */
    answer(next: Answer) {
      answer = next;
    },
    untilHeard: (count: number) =>
      until(`${count} callbacks are heard`, () => (heard.length >= count ? heard : undefined)),
  };
}

function heardFrom({ method = "", url = "", headers }: IncomingMessage, body: string): Heard {
  const text = body === "" ? url.replace(/^[^?]*\??/, "") : body;
  const fields = Object.fromEntries(new URLSearchParams(text));
  return { method, path: url, headers, body, fields };
}
