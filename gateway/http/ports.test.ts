/**
 * The ports that answer for the portal, for health and for metrics, and who may connect to them.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { makePorts, type PortSettings, readClients } from "./ports.ts";
import type { HttpRoute } from "./router.ts";

const paths = ["/merchants", "/portal", "/health/live", "/metrics"] as const;

type Test = { after(clean: () => unknown): void };

/** The ports of a node, with the status of each path on each of them. */
async function openPorts(t: Test, changes: Partial<PortSettings> = {}, proxies = ["127.0.0.0/8"]) {
  const routeOf = (path: string): HttpRoute => ({
    method: "GET",
    path,
    answer: async () => ({ status: 200, headers: {}, body: path }),
  });
  const refused: string[] = [];
  const node = makePorts({
    settings: {
      environment: "staging",
      host: "127.0.0.1",
      port: 0,
      portalPort: "",
      adminHost: "127.0.0.1",
      adminPort: "",
      connectionsMax: 100,
      ...changes,
    },
    tls: undefined,
    clients: readClients(proxies, "x-forwarded-for"),
    portalNetworks: [],
    isSecure: false,
    answerError: ({ status }) => ({ contentType: "text/plain", body: String(status) }),
    onRefused: (cause) => refused.push(cause),
    merchants: [routeOf("/merchants")],
    portal: [routeOf("/portal")],
    health: [routeOf("/health/live"), routeOf("/metrics")],
  });
  const ports = await node.listen();
  t.after(node.close);
  const statusesAt = async (port: number | "") => {
    const answers = paths.map((path) => fetch(`http://127.0.0.1:${port}${path}`));
    return (await Promise.all(answers)).map(({ status }) => status);
  };
  return { ports, refused, statusesAt };
}

test("a node with one port answers for all on it", async (t) => {
  const { ports, statusesAt } = await openPorts(t);

  assert.deepEqual(await statusesAt(ports.port), [200, 200, 200, 200]);
  assert.deepEqual([ports.portalPort, ports.adminPort], [ports.port, ""]);
});

test("in production nobody reads figures on the merchant port", async (t) => {
  const { ports, statusesAt } = await openPorts(t, { environment: "production" });

  assert.deepEqual(await statusesAt(ports.port), [200, 200, 200, 404]);
});

test("the portal and health are on ports of their own where these are set", async (t) => {
  const { ports, statusesAt } = await openPorts(t, { portalPort: 0, adminPort: 0 });

  assert.deepEqual(await statusesAt(ports.port), [200, 404, 404, 404]);
  assert.deepEqual(await statusesAt(ports.portalPort), [404, 200, 404, 404]);
  assert.deepEqual(await statusesAt(ports.adminPort), [404, 404, 200, 200]);
});

test("in production without TLS only the operator's proxies connect, except for health", async (t) => {
  const settings = { environment: "production", adminPort: 0 } as const;
  const { ports, refused, statusesAt } = await openPorts(t, settings, []);

  await assert.rejects(statusesAt(ports.port));

  assert.deepEqual(
    new Set(refused),
    new Set(["plain HTTP from an address that is no trusted proxy"]),
  );
  assert.deepEqual(await statusesAt(ports.adminPort), [404, 404, 200, 200]);
});
