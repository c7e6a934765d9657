/**
 * The HTTP server: listening, limits, headers and the answers that belong to no route. It knows
 * nothing of payments; bodies arrive as bytes.
 */
import { createServer, type RequestListener } from "node:http";
import { type FastifyInstance, fastify } from "fastify";

export type ServerOptions = {
  readonly bodyBytesMax: number;
  readonly isSecure: boolean;
  /** What a client is told when no route answers; the path says in which shape. */
  readonly onMiss: (miss: Miss) => Answer;
};

export type Miss = {
  readonly status: 400 | 404 | 405 | 408 | 413 | 500 | 503;
  readonly path: string;
  readonly accept: string | undefined;
  readonly error?: unknown;
};
export type Answer = { readonly contentType: string; readonly body: string };

const strictTransport = "max-age=31536000; includeSubDomains";
const letGoEveryMs = 20;
const times = { requestTimeout: 20_000, headersTimeout: 20_000, keepAliveTimeout: 72_000 };

export function makeServer({ bodyBytesMax, isSecure, onMiss }: ServerOptions): FastifyInstance {
  const server = fastify({
    bodyLimit: bodyBytesMax,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: 200, ignoreTrailingSlash: true },
    serverFactory: (listener) => createServer(times, withHeaders(listener, isSecure)),
    frameworkErrors: (error, request, reply) => {
      const path = request.url;
      const answer = onMiss({ status: 400, path, accept: request.headers.accept, error });
      reply.hijack();
      reply.raw.writeHead(400, { "content-type": answer.contentType }).end(answer.body);
    },
  });
  server.removeAllContentTypeParsers();
  server.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => {
    done(null, body);
  });

  // Whoever is answered while the server closes would keep the line, and with it the server, open.
  let letGo: NodeJS.Timeout | undefined;
  server.addHook("preClose", async () => {
    letGo = setInterval(() => server.server.closeIdleConnections(), letGoEveryMs).unref();
  });
  server.addHook("onClose", async () => clearInterval(letGo));

  server.setNotFoundHandler((request, reply) => {
    miss(reply, { status: 404, path: request.url, accept: request.headers.accept });
  });
  server.setErrorHandler((error: unknown, request, reply) => {
    const status = statusOf(error);
    miss(reply, { status, path: request.url, accept: request.headers.accept, error });
  });
  return server;

  function miss(reply: Sink, facts: Miss): void {
    const { contentType, body } = onMiss(facts);
    reply.code(facts.status);
    reply.header("cache-control", "no-store");
    reply.header("content-type", contentType);
    if (facts.status === 503) reply.header("retry-after", "1");
    reply.send(body);
  }
}

/** On every reply, whoever answers; set below the framework, whose hooks cost more than this. */
function withHeaders(listener: RequestListener, isSecure: boolean): RequestListener {
  return (request, response) => {
    response.setHeader("x-content-type-options", "nosniff");
    if (isSecure) response.setHeader("strict-transport-security", strictTransport);
    listener(request, response);
  };
}

/** What the framework's several kinds of reply have in common. */
type Sink = {
  code(status: number): unknown;
  header(name: string, value: string): unknown;
  send(body: string): unknown;
};

/** The framework says what the client did wrong; whatever else is thrown is our own fault. */
function statusOf(error: unknown): Miss["status"] {
  const status =
    error instanceof Error && "statusCode" in error ? Number(error.statusCode) : undefined;
  if (status === 413 || status === 408) return status;
  return status !== undefined && status >= 400 && status < 500 ? 400 : 500;
}
