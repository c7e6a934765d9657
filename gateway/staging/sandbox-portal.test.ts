/**
 * What the sandbox screen shows when the sandbox bank is unreachable, and when the gateway itself
 * is wrong.
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

function handlersAt(bankUrl: string, reads: Partial<Reads> = {}) {
  const findSandbox = async () => ({ ...shop, bankUrl });
  // A ledger reads orders, which the tests below break or never reach.
  return sandboxHandlers({ findSandbox, reads: reads as Reads });
}

test("a bank that is away is said to be silent", async () => {
  const answer = await handlersAt("http://127.0.0.1:1")["GET /sandbox"]({}, {} as never);

  assert.ok(answer instanceof PortalRefusal);
  assert.deepEqual([answer.status, answer.code], [503, "bank_silent"]);
});

test("a fault of the gateway is none of the bank's", async (t) => {
  const bank = createServer((_, response) => response.end('{"entries":[]}')).listen(0);
  t.after(() => bank.close());
  await once(bank, "listening");
  const { port } = bank.address() as AddressInfo;
  const listOrders = async () => Object(undefined).missing.rows;
  const { "GET /sandbox/ledger": ledger } = handlersAt(`http://127.0.0.1:${port}`, { listOrders });

  await assert.rejects(() => ledger({}, {} as never), TypeError);
});
