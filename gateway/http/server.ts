/**
 * The HTTP server: bounds, headers, the health routes, and the answers to requests that no route
 * takes. It knows nothing of payments; bodies arrive as bytes.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from "fastify";
import { Failure } from "../values/failure.ts";
import type { IsTrusted } from "./client-network.ts";
import { makeConnectionBounds } from "./connection-bounds.ts";
import { type BodyBounds, makeReadBody } from "./read-body.ts";

export type Bounds = BodyBounds & {
  readonly connectionsMax: number;
  /** Zero is no bound. */
  readonly connectionsPerAddressMax: number;
  readonly isTrusted: IsTrusted;
  /** For the head of a request, from the opening of the connection or the end of the last one. */
  readonly headerTimeoutMs: number;
  /** For the whole request. */
  readonly requestTimeoutMs: number;
  /** A connection, a request or a body was refused. */
  readonly onRefused: (cause: RefusalCause) => void;
};

export type RefusalCause =
  | "too many connections"
  | "too many connections of one address"
  | "too many requests of one client"
  | "too many bytes in unfinished bodies";

type Options = {
  readonly bounds?: Partial<Bounds>;
  readonly isSecure: boolean;
  /** False when the answer is known without the body: then it is not read. */
  readonly wantsBody?: (request: FastifyRequest) => boolean;
  /** Answers a request that no route has answered. */
  readonly answerError: (error: RequestError) => ErrorReply;
};

export type RequestError = {
  readonly status: 400 | 404 | 408 | 413 | 500 | 503;
  readonly path: string;
  readonly accept: string | undefined;
  readonly error?: unknown;
};
export type ErrorReply = { readonly contentType: string; readonly body: string };

const strictTransport = "max-age=31536000; includeSubDomains";
const closeIdleEveryMs = 20;
const keepAliveTimeout = 72_000;
/** How often at least the server looks for requests that have taken too long. */
const lookEveryMs = 1_000;

const usualBounds: Bounds = {
  ...{ bodyBytesMax: 1_048_576, unfinishedBytesMax: 67_108_864 },
  ...{ connectionsMax: 10_000, connectionsPerAddressMax: 0, isTrusted: () => false },
  ...{ headerTimeoutMs: 10_000, requestTimeoutMs: 20_000, onRefused: () => undefined },
};

export function makeServer({ isSecure, answerError, ...options }: Options) {
  const bounds = { ...usualBounds, ...options.bounds };
  const wantsBody = options.wantsBody ?? (() => true);
  const connections = makeConnectionBounds(bounds);
  const bodies = makeReadBody(bounds);
  const server = fastify({
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: 200, ignoreTrailingSlash: true },
    serverFactory: (listener) => openServer(listener),
    frameworkErrors: (error, { url, headers }, reply) => {
      const answer = answerError({ status: 400, path: url, accept: headers.accept, error });
      reply.hijack();
      reply.raw.writeHead(400, { "content-type": answer.contentType }).end(answer.body);
    },
  });
  server.removeAllContentTypeParsers();
  server.addContentTypeParser("*", (request, payload, done) => {
    const isRead = request.method === "POST" && !request.is404 && wantsBody(request);
    // Later, because a short body has arrived by then and the connection can be kept.
    if (!isRead) setImmediate(done, null, noBody);
    else bodies.read(payload, declaredLength(request), done);
  });

  // A client that is answered while the server closes keeps its connection, and the server, open.
  let closing: NodeJS.Timeout | undefined;
  server.addHook("preClose", async () => {
    closing = setInterval(() => server.server.closeIdleConnections(), closeIdleEveryMs).unref();
  });
  server.addHook("onClose", async () => clearInterval(closing));

  server.setNotFoundHandler((request, reply) => sendError(404, request, reply));
  server.setErrorHandler((error: unknown, request, reply) => {
    sendError(statusOf(error), request, reply, error);
  });
  return Object.assign(server, {
    /** Bytes of bodies that have not arrived whole. */
    countUnfinishedBytes: () => bodies.unfinishedBytes,
  });

  function openServer(listener: (request: IncomingMessage, response: ServerResponse) => void) {
    const { headerTimeoutMs: headersTimeout, requestTimeoutMs: requestTimeout } = bounds;
    const connectionsCheckingInterval = Math.min(lookEveryMs, headersTimeout, requestTimeout);
    const times = { headersTimeout, requestTimeout, keepAliveTimeout, connectionsCheckingInterval };
    const opened = createServer(times, (request, response) => {
      // On every reply; set below the framework, because its hooks cost more.
      response.setHeader("x-content-type-options", "nosniff");
      if (isSecure) response.setHeader("strict-transport-security", strictTransport);
      if (connections.admitRequest(request, response)) listener(request, response);
      else refuse(request, response);
    });
    opened.maxConnections = bounds.connectionsMax;
    opened.on("drop", () => bounds.onRefused("too many connections"));
    return opened.on("connection", (socket) => {
      if (connections.admitConnection(socket)) return;
      socket.destroy();
      bounds.onRefused("too many connections of one address");
    });
  }

  function refuse({ url = "", headers }: IncomingMessage, response: ServerResponse): void {
    bounds.onRefused("too many requests of one client");
    const { contentType, body } = answerError({ status: 503, path: url, accept: headers.accept });
    const head = { "content-type": contentType, "retry-after": "1", connection: "close" };
    response.writeHead(503, head).end(body);
  }

  function sendError(
    status: RequestError["status"],
    request: FastifyRequest,
    reply: FastifyReply,
    error?: unknown,
  ): void {
    const { url, headers } = request;
    if (status === 503) bounds.onRefused("too many bytes in unfinished bodies");
    if (status === 503) reply.header("retry-after", "1");
    closeIfUnread(request, reply);
    const { contentType, body } = answerError({ status, path: url, accept: headers.accept, error });
    reply.code(status).header("cache-control", "no-store").type(contentType).send(body);
  }
}

function declaredLength({ headers }: FastifyRequest): number | undefined {
  const { "content-length": length } = headers;
  return length === undefined ? undefined : Number(length);
}

const noBody = new Uint8Array();

/** The rest of a body that the answer does not depend on is not waited for. */
export function closeIfUnread({ raw }: FastifyRequest, reply: FastifyReply): void {
  if (!raw.complete) reply.header("connection", "close");
}

/** The framework reports client errors with a status; any other error is the gateway's own. */
function statusOf(error: unknown): RequestError["status"] {
  const status =
    error instanceof Error && "statusCode" in error ? Number(error.statusCode) : undefined;
  if (status === 413 || status === 408 || status === 503) return status;
  return status !== undefined && status >= 400 && status < 500 ? 400 : 500;
}

type HealthOptions = {
  /** Whether the gateway can take payments, and what does not work, by name. */
  readonly checkReadiness: () => Promise<{
    readonly ready: boolean;
    readonly missing: Readonly<Record<string, string>>;
  }>;
  /** Connections that are up, of those that are wanted, by gate. */
  readonly describeLinks?: () => Readonly<Record<string, string>>;
  readonly registry: { readonly contentType: string; metrics(): Promise<string> };
};

export function addHealthRoutes(server: FastifyInstance, options: HealthOptions): void {
  const { checkReadiness, describeLinks, registry } = options;
  server.get("/health/live", async (_request, reply) => {
    return reply.header("cache-control", "no-store").send({ status: "live" });
  });
  server.get("/health/ready", async (_request, reply) => {
    const { ready, missing } = await checkReadiness();
    reply.code(ready ? 200 : 503).header("cache-control", "no-store");
    return reply.send({
      ...{ status: ready ? "ready" : "not ready", missing },
      ...(describeLinks && { links: describeLinks() }),
    });
  });
  server.get("/metrics", async (_request, reply) => {
    return reply.header("content-type", registry.contentType).send(await registry.metrics());
  });
}

/**
 * Returns `storage_unavailable` where the function rejects because the database cannot do it now:
 * the client may send the request again, and status 503 says so. Beyond `callsMax` calls that wait
 * for the database, the next one is refused at once.
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

const tooManyCalls = new Failure("storage_unavailable", "", "too many requests wait for storage");
