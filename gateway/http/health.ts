/** Whether the gateway lives and can take payments, and its figures for Prometheus. */
import type { HttpReply, HttpRoute } from "./router.ts";

type HealthOptions = {
  /** Whether the gateway can take payments, and what does not work, by name. */
  readonly checkReadiness: () => Promise<{
    readonly ready: boolean;
    /** Why the installation is on hold, if it is. */
    readonly onHold?: string | undefined;
    readonly missing: Readonly<Record<string, string>>;
  }>;
  /** The gates' connections: those that are up, and those that are wanted. */
  readonly connections?: () => Links;
  readonly registry: { readonly contentType: string; metrics(): Promise<string> };
};

export function healthRoutes(options: HealthOptions): readonly HttpRoute[] {
  const { checkReadiness, connections, registry } = options;
  return [
    { method: "GET", path: "/health/live", answer: async () => replyOf(200, { status: "live" }) },
    {
      method: "GET",
      path: "/health/ready",
      async answer() {
        const { ready, onHold, missing } = await checkReadiness();
        const status = ready ? "ready" : onHold === undefined ? "not ready" : "on hold";
        return replyOf(ready ? 200 : 503, {
          status,
          missing,
          ...(onHold !== undefined && { why: onHold }),
          ...(connections && { links: describeLinks(connections()) }),
        });
      },
    },
    {
      method: "GET",
      path: "/metrics",
      async answer() {
        const headers = { "content-type": registry.contentType };
        return { status: 200, headers, body: await registry.metrics() };
      },
    },
  ];
}

/** Those that anyone may ask: in production, figures are on the operator's own port or on none. */
export function publicHealth(
  routes: readonly HttpRoute[],
  environment: "production" | "staging",
): readonly HttpRoute[] {
  return routes.filter(({ path }) => environment === "staging" || path !== "/metrics");
}

type Links = ReadonlyMap<string, { readonly up: number; readonly wanted: number }>;

function describeLinks(links: Links): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...links].map(([gate, { up, wanted }]) => [gate, `${up} of ${wanted}`]),
  );
}

function replyOf(status: number, document: object): HttpReply {
  const headers = {
    "content-type": "application/json; charset=utf-8",
    "cache-control": "no-store",
  };
  return { status, headers, body: JSON.stringify(document) };
}
