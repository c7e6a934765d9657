/** A receiver of callbacks on a real socket, and a clock that the tests move. */
import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { Socket } from "node:net";
import type { TestContext } from "node:test";
import { asInstant, type Clock } from "../../values/time.ts";

export type Answer = (response: Parameters<RequestListener>[1]) => void;
type Certificate = { readonly key: string; readonly cert: string };

export const answerWith =
  (status: number, headers: Record<string, string> = {}): Answer =>
  (response) =>
    void response.writeHead(status, headers).end();
/** Accepts the request and never answers. */
export const hang: Answer = () => undefined;
/** Refuses with a text that never ends, as fast as it is read. */
export const flood: Answer = (response) => {
  response.writeHead(500);
  const text = "x".repeat(65_536);
  const pour = () => {
    while (!response.destroyed && response.write(text));
  };
  response.on("drain", pour);
  pour();
};

export async function startReceiver(
  t: TestContext,
  answer: Answer = answerWith(200),
  tls?: Certificate,
) {
  const heard: Pick<IncomingMessage, "url" | "headers">[] = [];
  const sockets = new Set<Socket>();
  const { promise: isHeard, resolve: hear } = Promise.withResolvers<void>();
  const take: RequestListener = (request, response) => {
    heard.push(request);
    hear();
    answer(response);
  };
  const server = tls === undefined ? createServer(take) : createSecureServer(tls, take);
  // The receiver does not close idle connections; the sender does.
  server.keepAliveTimeout = 0;
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    heard,
    /** Resolves when the receiver has received something. */
    isHeard,
    get connections() {
      return sockets.size;
    },
  };
}

/** The time stands still, and timers run when the test says so. */
export function makeStillClock(): Clock & { passAll(): void } {
  let waiting: (() => void)[] = [];
  return {
    now: () => asInstant(1_794_708_246_000),
    after(_, task) {
      waiting.push(task);
      return () => {
        waiting = waiting.filter((each) => each !== task);
      };
    },
    passAll() {
      for (const task of waiting.splice(0)) task();
    },
  };
}
