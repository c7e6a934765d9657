/** Whether the process runs, whether it can take work, and what it measures. */
import type { FastifyInstance } from "fastify";

/** What is missing, by name; empty when the gateway is ready. */
export type CheckReadiness = () => Promise<Readonly<Record<string, string>>>;

export type HealthOptions = {
  readonly checkReadiness: CheckReadiness;
  readonly metrics: () => Promise<{ readonly contentType: string; readonly text: string }>;
};

export function addHealthRoutes(server: FastifyInstance, options: HealthOptions): void {
  server.get("/health/live", async (_request, reply) => {
    return reply.header("cache-control", "no-store").send({ status: "live" });
  });
  server.get("/health/ready", async (_request, reply) => {
    const missing = await options.checkReadiness();
    const ready = Object.keys(missing).length === 0;
    reply.code(ready ? 200 : 503).header("cache-control", "no-store");
    return reply.send({ status: ready ? "ready" : "not ready", missing });
  });
  server.get("/metrics", async (_request, reply) => {
    const { contentType, text } = await options.metrics();
    return reply.header("content-type", contentType).send(text);
  });
}
