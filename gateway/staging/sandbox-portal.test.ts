/**
 * The sandbox screen says whether the sandbox is unreachable or the gateway itself has a fault.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { PortalRefusal } from "../portal-api/route.ts";
import { sandboxHandlers } from "./sandbox-portal.ts";

const shop = {
  baseUrl: "http://127.0.0.1:1",
  pathWord: "gw",
  endpoints: {},
  merchant: { login: "demo", controlKey: "key" },
};
type Reads = Parameters<typeof sandboxHandlers>[0]["reads"];

function handlersAt(sandboxUrl: string, reads: Partial<Reads> = {}) {
  const findSandbox = async () => ({ ...shop, sandboxUrl });
  // A ledger reads orders, which the tests below either break or never reach.
  return sandboxHandlers({ findSandbox, reads: reads as Reads });
}

test("an unreachable sandbox is reported as such", async () => {
  const answer = await handlersAt("http://127.0.0.1:1")["GET /sandbox"]({}, {} as never);

  assert.ok(answer instanceof PortalRefusal);
  assert.deepEqual([answer.status, answer.code], [503, "bank_silent"]);
});

test("a fault of the gateway is not reported as one of the sandbox", async (t) => {
  const server = createServer((_, response) => response.end('{"entries":[]}')).listen(0);
  t.after(() => server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const listOrders = async () => Object(undefined).missing.rows;
  const { "GET /sandbox/ledger": ledger } = handlersAt(`http://127.0.0.1:${port}`, { listOrders });

  await assert.rejects(() => ledger({}, {} as never), TypeError);
});
