/**
 * The ports of a node: that of merchants and, if they are set, those of the portal and of health.
 * The routes of health show whether the gateway lives and can take payments, and its metrics.
 */
import { clientAddressOf, makeIsTrusted, onlyInside, type ProxyHeader } from "./client-network.ts";
import type { HttpReply, HttpRequest, HttpRoute } from "./router.ts";
import { type Bounds, type HttpServerOptions, makeServer } from "./server.ts";
import type { ServerTls } from "./tls.ts";

export type Ports = {
  readonly port: number;
  /** The port of health and metrics; empty if they are on the port above. */
  readonly adminPort: number | "";
  /** The port above, unless the portal has its own. */
  readonly portalPort: number;
};

export type PortSettings = Partial<Omit<Bounds, "isTrusted" | "proxiesOnly" | "onRefused">> & {
  readonly environment: "production" | "staging";
  readonly host: string;
  readonly port: number;
  /** Empty if the portal is on the merchant port. */
  readonly portalPort: number | "";
  readonly adminHost: string;
  readonly adminPort: number | "";
};

type Options = Pick<HttpServerOptions, "isSecure" | "answerError"> &
  Pick<Bounds, "onRefused"> & {
    readonly settings: PortSettings;
    readonly tls: ServerTls | undefined;
    readonly clients: Clients;
    /** The networks from which the portal can be reached; empty for any. */
    readonly portalNetworks: readonly string[];
    readonly merchants: readonly HttpRoute[];
    readonly portal: readonly HttpRoute[];
    readonly health: readonly HttpRoute[];
  };

/** Enough connections for a scraper and a few probes. */
const adminBounds = { connectionsMax: 100, bodyBytesMax: 0, idleTimeoutMs: 10_000 };

export type HttpPorts = ReturnType<typeof makePorts>;

export function makePorts(options: Options) {
  const { settings, tls, clients, health, onRefused, ...served } = options;
  const portal = onlyInside(options.portal, options.portalNetworks, clients);
  const [hasPortalPort, hasAdminPort] = [settings.portalPort !== "", settings.adminPort !== ""];
  // Card data arrives over TLS: from clients, or from proxies that have ended the clients' TLS.
  const proxiesOnly = settings.environment === "production" && tls === undefined;
  const bounds = { ...settings, isTrusted: clients.isTrusted, proxiesOnly, onRefused };
  const open = (routes: readonly HttpRoute[]) =>
    makeServer({
      ...served,
      routes,
      bounds,
      ...(tls && { open: (times, receive) => tls.open(times, receive, onRefused) }),
    });
  const merchants = open([
    ...(hasPortalPort ? [] : portal),
    ...options.merchants,
    ...(hasAdminPort ? [] : publicHealth(health, settings.environment)),
  ]);
  const portals = hasPortalPort ? open(portal) : undefined;
  const admin = hasAdminPort
    ? makeServer({ ...served, routes: health, bounds: adminBounds, isSecure: false })
    : undefined;
  return {
    async listen(): Promise<Ports> {
      const { host, adminHost } = settings;
      const adminPort = await admin?.listen({ host: adminHost, port: Number(settings.adminPort) });
      const portalPort = await portals?.listen({ host, port: Number(settings.portalPort) });
      const port = await merchants.listen({ host, port: settings.port });
      return { port, adminPort: adminPort ?? "", portalPort: portalPort ?? port };
    },
    close: () => Promise.all([merchants.close(), portals?.close(), admin?.close()]),
    countUnfinishedBytes: () =>
      merchants.countUnfinishedBytes() + (portals?.countUnfinishedBytes() ?? 0),
  };
}

export type Clients = ReturnType<typeof readClients>;

/** `proxies` are CIDR blocks of the operator, which may name the client in the header. */
export function readClients(proxies: readonly string[], proxyHeader: ProxyHeader) {
  const isTrusted = makeIsTrusted(proxies);
  return {
    isTrusted,
    proxyHeader,
    addressOf: (request: HttpRequest) => clientAddressOf(request, isTrusted, proxyHeader),
  };
}

type HealthOptions = {
  /** Returns whether the gateway can take payments and, by name, the parts that do not work. */
  readonly checkReadiness: () => Promise<{
    readonly ready: boolean;
    readonly onHold?: string | undefined;
    readonly missing: Readonly<Record<string, string>>;
  }>;
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

/** Metrics are not public: in production, they are on the operator's own port or on none. */
function publicHealth(
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
