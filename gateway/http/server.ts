/**
 * The HTTP server: limits, headers, the health routes, and the answers to requests that no route
 * takes. It knows nothing of payments; bodies arrive as bytes.
 */
import { createServer, type RequestListener } from "node:http";
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from "fastify";
import { Failure } from "../values/failure.ts";

type Options = {
  readonly bodyBytesMax: number;
  readonly isSecure: boolean;
  /** Answers a request that no route has answered. */
  readonly answerError: (error: RequestError) => ErrorReply;
};

export type RequestError = {
  readonly status: 400 | 404 | 408 | 413 | 500;
  readonly path: string;
  readonly accept: string | undefined;
  readonly error?: unknown;
};
export type ErrorReply = { readonly contentType: string; readonly body: string };

const strictTransport = "max-age=31536000; includeSubDomains";
const closeIdleEveryMs = 20;
const times = { requestTimeout: 20_000, headersTimeout: 20_000, keepAliveTimeout: 72_000 };

export function makeServer({ bodyBytesMax, isSecure, answerError }: Options): FastifyInstance {
  const server = fastify({
    bodyLimit: bodyBytesMax,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: 200, ignoreTrailingSlash: true },
    serverFactory: (listener) => createServer(times, withHeaders(listener, isSecure)),
    frameworkErrors: (error, { url, headers }, reply) => {
      const answer = answerError({ status: 400, path: url, accept: headers.accept, error });
      reply.hijack();
      reply.raw.writeHead(400, { "content-type": answer.contentType }).end(answer.body);
    },
  });
  server.removeAllContentTypeParsers();
  server.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => {
    done(null, body);
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
  return server;

  function sendError(
    status: RequestError["status"],
    { url, headers }: FastifyRequest,
    reply: FastifyReply,
    error?: unknown,
  ): void {
    const { contentType, body } = answerError({ status, path: url, accept: headers.accept, error });
    reply.code(status).header("cache-control", "no-store").type(contentType).send(body);
  }
}

/** On every reply; set below the framework, because its hooks cost more. */
function withHeaders(listener: RequestListener, isSecure: boolean): RequestListener {
  return (request, response) => {
    response.setHeader("x-content-type-options", "nosniff");
    if (isSecure) response.setHeader("strict-transport-security", strictTransport);
    listener(request, response);
  };
}

/** The framework reports client errors with a status; any other error is the gateway's own. */
function statusOf(error: unknown): RequestError["status"] {
  const status =
    error instanceof Error && "statusCode" in error ? Number(error.statusCode) : undefined;
  if (status === 413 || status === 408) return status;
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
