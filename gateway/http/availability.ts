/**
 * Whether the gateway can take requests: the health routes, and the answer to requests while the
 * database cannot be reached.
 */
import type { FastifyInstance } from "fastify";
import { Failure } from "../values/failure.ts";

type Options = {
  /** The missing parts, by name; empty when the gateway is ready. */
  readonly checkReadiness: () => Promise<Readonly<Record<string, string>>>;
  readonly registry: { readonly contentType: string; metrics(): Promise<string> };
};

export function addHealthRoutes(server: FastifyInstance, options: Options): void {
  const { checkReadiness, registry } = options;
  server.get("/health/live", async (_request, reply) => {
    return reply.header("cache-control", "no-store").send({ status: "live" });
  });
  server.get("/health/ready", async (_request, reply) => {
    const missing = await checkReadiness();
    const ready = Object.keys(missing).length === 0;
    reply.code(ready ? 200 : 503).header("cache-control", "no-store");
    return reply.send({ status: ready ? "ready" : "not ready", missing });
  });
  server.get("/metrics", async (_request, reply) => {
    return reply.header("content-type", registry.contentType).send(await registry.metrics());
  });
}

/**
 * Returns `storage_unavailable` where the function rejects because the database connection is lost:
 * the client may send the request again, and status 503 says so.
 */
export function makeStorageGuard(isConnectionLoss: (error: unknown) => boolean) {
  return <Given extends readonly unknown[], Result>(
    call: (...given: Given) => Promise<Result>,
  ): ((...given: Given) => Promise<Result | Failure>) =>
    async (...given) => {
      try {
        return await call(...given);
      } catch (error) {
        if (!isConnectionLoss(error)) throw error;
        return new Failure("storage_unavailable", "", String(error));
      }
    };
}
