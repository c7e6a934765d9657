/**
 * The HTTP server on `node:http` (decision 0044): its limits, its headers, and the answers to
 * requests that no route takes. It knows nothing about payments, and bodies are bytes.
 */
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { Server as TlsServer } from "node:tls";
import { Failure } from "../values/failure.ts";
import {
  type AtEnd,
  type BodyBounds,
  BodyRefused,
  makeConnectionBounds,
  makeReadBody,
} from "./bounds.ts";
import type { IsTrusted, ProxyHeader } from "./client-network.ts";
import {
  type FoundRoute,
  type HttpReply,
  type HttpRequest,
  type HttpRoute,
  makeRouter,
} from "./router.ts";
import { breakOff, writeParts } from "./streamed-reply.ts";

export type Bounds = BodyBounds & {
  readonly connectionsMax: number;
  readonly connectionsPerAddressMax: number;
  readonly isTrusted: IsTrusted;
  readonly proxyHeader: ProxyHeader;
  /** Whether only trusted proxies may connect. */
  readonly proxiesOnly: boolean;
  /** The limit for a request's head, from the connection's opening or the last request's end. */
  readonly headerTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly idleTimeoutMs: number;
  /** How long a reply in parts may wait for its client in all. */
  readonly replyWaitMs: number;
  readonly onRefused: (cause: RefusalCause) => void;
};

export type RefusalCause =
  | "too many connections"
  | "too many connections of one address"
  | "too many requests of one client"
  | "too many unanswered requests of one connection"
  | "too many bytes in unfinished bodies"
  | "plain HTTP from an address that is no trusted proxy"
  | "plain HTTP where TLS is expected"
  | "failed TLS handshakes";

export type HttpServerOptions = {
  readonly routes: readonly HttpRoute[];
  readonly bounds?: Partial<Bounds>;
  readonly isSecure: boolean;
  readonly answerError: (error: RequestError) => ErrorReply;
  /** Absent for a server of plain HTTP. */
  readonly open?: (options: ServerOptions, receive: RequestListener) => Server;
};

export type RequestError = {
  readonly status: 400 | 404 | 408 | 413 | 500 | 503;
  readonly path: string;
  readonly accept: string | undefined;
  readonly error?: unknown;
};
export type ErrorReply = { readonly contentType: string; readonly body: string };

/**
 * A client may send requests before it has the answers to earlier ones, and Node processes them all
 * at once, so that one connection could occupy the memory and the database of the gateway.
 */
const unansweredMax = 100;

const closeIdleEveryMs = 20;
/** The longest interval at which the server looks for requests that have taken too long. */
const lookEveryMs = 1_000;

const usualBounds: Bounds = {
  bodyBytesMax: 1_048_576,
  unfinishedBytesMax: 67_108_864,
  connectionsMax: 10_000,
  connectionsPerAddressMax: 0,
  isTrusted: () => false,
  proxyHeader: "x-forwarded-for",
  proxiesOnly: false,
  headerTimeoutMs: 10_000,
  requestTimeoutMs: 20_000,
  idleTimeoutMs: 72_000,
  replyWaitMs: 900_000,
  onRefused: () => undefined,
};

const plainHeaders = { "x-content-type-options": "nosniff" };
const secureHeaders = {
  ...plainHeaders,
  "strict-transport-security": "max-age=31536000; includeSubDomains",
};

export function makeServer({ routes, isSecure, answerError, ...options }: HttpServerOptions) {
  const bounds = { ...usualBounds, ...options.bounds };
  const commonHeaders = isSecure ? secureHeaders : plainHeaders;
  const findRoute = makeRouter(routes);
  const connections = makeConnectionBounds(bounds);
  const bodies = makeReadBody(bounds);
  const server = (options.open ?? createServer)(timesOf(bounds), receive);
  server.maxConnections = bounds.connectionsMax;
  server.on("drop", () => bounds.onRefused("too many connections"));
  server.on("connection", (socket) => {
    const refusal = connections.findRefusal(socket);
    if (refusal === undefined) return;
    socket.destroy();
    bounds.onRefused(refusal);
  });
  const open = new Set<Socket>();
  server.on(server instanceof TlsServer ? "secureConnection" : "connection", (socket: Socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
  /** The requests whose head has been read and that are not answered yet. */
  const received = new Set<IncomingMessage>();
  const streamed = new Set<IncomingMessage>();
  const unanswered = new WeakMap<Socket, number>();
  let isClosing = false;

  return {
    async listen({ host, port }: { readonly host: string; readonly port: number }) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      server.once("error", reject).listen(port, host, resolve);
      await promise;
      server.off("error", reject);
      return (server.address() as AddressInfo).port;
    },

    /** Resolves when every request that has begun is answered. */
    async close(): Promise<void> {
      isClosing = true;
      // A streamed reply may take minutes.
      for (const incoming of streamed) breakOff(incoming);
      // A client that gets its answer later would keep its connection open, so idle connections are
      // closed again and again.
      const closing = setInterval(() => server.closeIdleConnections(), closeIdleEveryMs).unref();
      // Node stops looking for slow requests once the server closes, so this does it.
      const cutting = setTimeout(closeUnfinished, bounds.requestTimeoutMs).unref();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeIdleConnections();
      await closed;
      clearInterval(closing);
      clearTimeout(cutting);
    },

    closeAllConnections: () => server.closeAllConnections(),

    countUnfinishedBytes: () => bodies.unfinishedBytes,
  };

  /** Closes connections without a request that is being answered. */
  function closeUnfinished(): void {
    const answered = [...received].filter(({ complete }) => complete);
    const answering = new Set(answered.map(({ socket }) => socket));
    for (const socket of open) if (!answering.has(socket)) socket.destroy();
  }

  async function receive(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const exchange = { incoming, response };
    const { socket } = incoming;
    const waiting = unanswered.get(socket) ?? 0;
    if (waiting >= unansweredMax) {
      if (!socket.destroyed) bounds.onRefused("too many unanswered requests of one connection");
      return void socket.destroy();
    }
    unanswered.set(socket, waiting + 1);
    received.add(incoming);
    response.once("close", () => {
      received.delete(incoming);
      unanswered.set(socket, (unanswered.get(socket) ?? 1) - 1);
    });
    const reply = await answerOrFail(exchange);
    // A short body arrives even if no handler reads it, and the connection can be kept.
    if (!incoming.complete) await nextTurn();
    try {
      send(exchange, reply);
    } catch (error) {
      send(exchange, errorReply(incoming, 500, error));
    }
  }

  async function answerOrFail(exchange: Incoming): Promise<HttpReply> {
    try {
      return await answer(exchange);
    } catch (error) {
      return errorReply(exchange.incoming, 500, error);
    }
  }

  function answer({ incoming, response }: Incoming): Promise<HttpReply> | HttpReply {
    const found = findOrRefuse(incoming, (onEnd) => response.once("close", onEnd));
    if (typeof found === "number") return errorReply(incoming, found);
    const { method = "", url = "", headers, socket } = incoming;
    const { route, params } = found;
    const request = { method, url, params, headers, socket, body: noBody };
    const early = route.answerEarly?.(request);
    if (early !== undefined) return early;
    return method === "POST" ? readAndAnswer(incoming, route, request) : route.answer(request);
  }

  function findOrRefuse(asked: Asked, atEnd: AtEnd): FoundRoute | 400 | 404 | 503 {
    if (isClosing) return 503;
    const { method = "", url = "" } = asked;
    if (connections.admitRequest(asked, atEnd)) return findRoute(method, url);
    bounds.onRefused("too many requests of one client");
    return 503;
  }

  async function readAndAnswer(
    incoming: IncomingMessage,
    route: HttpRoute,
    request: HttpRequest & { body: Uint8Array },
  ): Promise<HttpReply> {
    const declared = declaredLength(request);
    // Node reads the bytes that arrived with the head before this function continues. Taking them
    // from there, without the stream's events, saves 7 µs.
    await undefined;
    const read =
      incoming.readableLength === declared
        ? bodies.take(incoming)
        : await new Promise<Uint8Array | BodyRefused>((done) =>
            bodies.read(incoming, declared, done),
          );
    if (!(read instanceof BodyRefused)) {
      request.body = read;
      return await route.answer(request);
    }
    const { statusCode } = read;
    if (statusCode === 503) bounds.onRefused("too many bytes in unfinished bodies");
    return errorReply(request, statusCode);
  }

  /** Head and body are sent in one write. */
  function send(exchange: Incoming, { status, headers, body, parts }: HttpReply): void {
    const { incoming, response } = exchange;
    checkValues(headers);
    const length = parts === undefined && { "content-length": Buffer.byteLength(body) };
    // If the answer does not depend on the body, the rest of the body is not awaited.
    const ending = incoming.complete && !isClosing ? undefined : closeAfterwards;
    response.writeHead(status, { ...commonHeaders, ...headers, ...length, ...ending });
    if (parts === undefined) return void response.end(body);
    streamed.add(incoming);
    const { idleTimeoutMs: stallMs, replyWaitMs: waitMs } = bounds;
    const written = writeParts(exchange, parts, { stallMs, waitMs });
    void written.finally(() => streamed.delete(incoming));
  }

  function errorReply(
    { url: path = "", headers }: Pick<Asked, "url" | "headers">,
    status: RequestError["status"],
    error?: unknown,
  ): HttpReply {
    const { contentType, body } = answerError({ status, path, accept: headers.accept, error });
    const known = { "content-type": contentType, "cache-control": "no-store" };
    const later = status === 503 ? { "retry-after": "1", ...closeAfterwards } : undefined;
    return { status, headers: { ...known, ...later }, body };
  }
}

type Incoming = { readonly incoming: IncomingMessage; readonly response: ServerResponse };
type Asked = Pick<IncomingMessage, "method" | "url" | "headers" | "socket">;

const noBody = new Uint8Array();
const closeAfterwards = { connection: "close" };
const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

const unprintable = /[^\t -~]/;

/** Throws for a value of more than one line, or one that would be read in another character set. */
function checkValues(headers: HttpReply["headers"]): void {
  for (const [name, values] of Object.entries(headers)) {
    for (const value of [values].flat()) {
      if (unprintable.test(value)) throw new TypeError(`Invalid character in header ${name}`);
    }
  }
}

function timesOf({ headerTimeoutMs, requestTimeoutMs, idleTimeoutMs }: Bounds) {
  return {
    headersTimeout: headerTimeoutMs,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: idleTimeoutMs,
    connectionsCheckingInterval: Math.min(lookEveryMs, headerTimeoutMs, requestTimeoutMs),
  };
}

function declaredLength({ headers }: HttpRequest): number | undefined {
  const { "content-length": length } = headers;
  return length === undefined ? undefined : Number(length);
}

/**
 * Wraps functions that need the database. While it is unavailable, they return
 * `storage_unavailable`, sent with status 503, so that the client may send the request again. If
 * `callsMax` calls wait for the database, the next one is refused at once.
 */
export function makeStorageGuard(
  isUnavailable: (error: unknown) => boolean,
  callsMax = Number.POSITIVE_INFINITY,
) {
  let calls = 0;
  return <Given extends readonly unknown[], Result>(
    call: (...given: Given) => Promise<Result>,
  ): ((...given: Given) => Promise<Result | Failure>) =>
    async (...given) => {
      if (calls >= callsMax) return tooManyCalls;
      calls += 1;
      try {
        return await call(...given);
      } catch (error) {
        if (!isUnavailable(error)) throw error;
        return new Failure("storage_unavailable", "", String(error));
      } finally {
        calls -= 1;
      }
    };
}

/** Functions behind the guard, which return a failure while storage is unavailable. */
export type Guarded<Calls extends Record<keyof Calls, (...given: never[]) => unknown>> = {
  readonly [Name in keyof Calls]: [Extract<Awaited<ReturnType<Calls[Name]>>, Failure>] extends [
    never,
  ]
    ? (...given: Parameters<Calls[Name]>) => Promise<Awaited<ReturnType<Calls[Name]>> | Failure>
    : Calls[Name];
};

const tooManyCalls = new Failure("storage_unavailable", "", "too many requests wait for storage");
