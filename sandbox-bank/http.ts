/**
 * The common parts of the sandbox bank's servers: opening and closing a port, reading and writing
 * HTTP bodies, and the one way in which a request is refused or fails.
 */
import { once } from "node:events";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Server, Socket } from "node:net";
import { setTimeout } from "node:timers/promises";

export type Log = (line: string) => void;

export type Address = { readonly host: string; readonly port: number };

/** A TCP, HTTP or HTTPS server that can be closed and opened again on the same port. */
export class Listener {
  readonly #server: Server;
  readonly #host: string;
  readonly #sockets = new Set<Socket>();
  /** The configured port. Once the server is open, it is the port that the system chose for 0. */
  port: number;
  #hasBeenOpen = false;
  #lastChange: Promise<void> = Promise.resolve();

  constructor(server: Server, { host, port }: Address) {
    this.#server = server;
    this.#host = host;
    this.port = port;
    server.on("connection", (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
  }

  open(): Promise<void> {
    return this.#afterLastChange(async () => {
      if (this.#server.listening) return;
      await this.#listen();
      const address = this.#server.address();
      if (typeof address === "object" && address !== null) this.port = address.port;
      this.#hasBeenOpen = true;
    });
  }

  /** Stops listening and drops every connection. */
  close(): Promise<void> {
    return this.#afterLastChange(async () => {
      if (!this.#server.listening) return;
      const closed = once(this.#server, "close");
      this.#server.close();
      for (const socket of this.#sockets) socket.destroy();
      await closed;
    });
  }

  /**
   * Listens. While the port was closed, the system may have lent it to another program for a
   * moment, so it tries again.
   */
  async #listen(): Promise<void> {
    for (let triesLeft = 100; ; triesLeft -= 1) {
      try {
        await once(this.#server.listen(this.port, this.#host), "listening");
        return;
      } catch (error) {
        const isTaken = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
        if (!isTaken || !this.#hasBeenOpen || triesLeft === 0) throw error;
        await setTimeout(100);
      }
    }
  }

  /** Runs changes in the order of the calls, so that the last one wins. */
  #afterLastChange(change: () => Promise<void>): Promise<void> {
    const done = this.#lastChange.then(change);
    this.#lastChange = done.catch(() => {});
    return done;
  }
}

export type Route = (
  request: IncomingMessage,
  response: ServerResponse,
  query: URLSearchParams,
) => unknown;

export type Routes = ReadonlyMap<string, Route>;

/** Makes a listener that logs an error of a handler and answers with status 500. */
export function makeRequestListener(
  handle: (request: IncomingMessage, response: ServerResponse) => Promise<unknown>,
  log: Log,
): RequestListener {
  return async (request, response) => {
    try {
      await handle(request, response);
    } catch (error) {
      log(`${request.method} ${request.url} failed: ${String(error)}`);
      if (response.headersSent) response.destroy();
      else sendJson(response, 500, { error: `The sandbox bank failed: ${String(error)}` });
    }
  };
}

/** Why the control interface refuses a request, as a sentence. */
export class BadRequest {
  readonly sentence: string;

  constructor(sentence: string) {
    this.sentence = sentence;
  }
}

/** The largest request to the control interface. */
export const bodyBytesMax = 65_536;

/**
 * Reads a body. Returns undefined if it is too long; it is still read to its end, so that the
 * client gets an answer.
 */
export async function readBody(request: IncomingMessage, bytesMax: number) {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes <= bytesMax) chunks.push(chunk);
  }
  return bytes <= bytesMax ? Buffer.concat(chunks).toString() : undefined;
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

/** Returns undefined for text that is not JSON, which no table of fields accepts. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
