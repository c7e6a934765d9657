/**
 * Merchant sessions of walleta: the addresses and the identity of the request, and attacks by a
 * browser.
 */
import assert from "node:assert/strict";
import { createPrivateKey } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, test } from "node:test";
import { openIdentities } from "../../sandbox-bank/certificates/chains.ts";
import { makeAddressRules, makeLookup, type Resolve } from "../callbacks/addresses.ts";
import type { Merchant } from "../orders/merchant.ts";
import { asMerchantId } from "../values/ids.ts";
import { Secret } from "../values/secret.ts";
import { makeMerchantSessions } from "./merchant-session.ts";

const folder = await mkdtemp(join(tmpdir(), "tollgate-sessions-"));
after(() => rm(folder, { recursive: true }));
const { directory: identity } = await openIdentities(folder, Date.now());
const merchant: Merchant = {
  id: asMerchantId("7"),
  login: "acme",
  name: "Acme",
  controlKey: new Secret("key"),
  cell: "main",
  enabled: true,
  oauthKeys: [],
  settings: { wallets: { walleta: { merchantIdentifier: "merchant.acme", country: "US" } } },
};
const key = {
  id: "1",
  merchantId: merchant.id,
  wallet: "walleta-identity" as const,
  privateKey: createPrivateKey(identity.key),
  certificate: identity.cert,
};
const shown = { shopName: "Acme ".repeat(20), domain: "pay.example" };

/** Makes sessions for production, or for staging and its loopback addresses. */
function sessionsWith(
  hosts: readonly string[],
  { isStaging = false, resolved = "127.0.0.1" } = {},
) {
  const causes: string[] = [];
  const resolve: Resolve = (_, done) => done(null, [{ address: resolved, family: 4 }]);
  const rules = makeAddressRules({
    ports: [],
    allowsLoopback: isStaging,
    privateNetworks: [],
    names: [],
  });
  const sessions = makeMerchantSessions({
    hosts,
    allowsAnyPort: isStaging,
    findUrlFault: (url) => rules.findUrlFault(url),
    lookup: makeLookup(rules, resolve),
    authorities: async () => [identity.ca],
    identitiesOf: (id) => (id === merchant.id ? [{ ...key, certificate: undefined }, key] : []),
    onRefused: (_, cause) => void causes.push(cause),
  });
  const ask = (url: string, by = merchant) => sessions.ask(by, { url, ...shown });
  return { ask, causes, hasIdentity: sessions.hasIdentity };
}

async function startWallet(
  t: { after(clean: () => unknown): void },
  answer: (request: IncomingMessage, response: ServerResponse) => unknown,
): Promise<string> {
  const { ca, cert, key: own } = identity;
  const client = { requestCert: true, rejectUnauthorized: true };
  const server = createServer({ ca, cert, key: own, ...client }, answer).listen(0, "127.0.0.1");
  t.after(() => server.close());
  await once(server, "listening");
  const address = server.address();
  assert.ok(typeof address === "object" && address !== null);
  return `https://localhost:${address.port}/session`;
}

test("the wallet is asked as the merchant, and its session is handed on as it is", async (t) => {
  const bodies: string[] = [];
  const url = await startWallet(t, async (request, response) => {
    bodies.push(await text(request));
    response.end('{ "nonce":"1e0" }');
  });
  const { ask, hasIdentity } = sessionsWith(["localhost"], { isStaging: true });

  assert.equal(await ask(url), '{ "nonce":"1e0" }');

  assert.deepEqual(JSON.parse(bodies[0] ?? ""), {
    merchantIdentifier: "merchant.acme",
    displayName: shown.shopName.slice(0, 64),
    initiative: "web",
    initiativeContext: "pay.example",
  });
  assert.equal(hasIdentity(merchant), true);
  assert.equal(hasIdentity({ ...merchant, id: asMerchantId("8") }), false);
});

test("only exact hosts of the list are asked, over https, and nothing inside the network", async () => {
  const hosts = ["wallet.example", "10.0.0.1", "169.254.169.254", "127.0.0.1"];
  const inside = sessionsWith(hosts);
  // biome-ignore format: a table
  const attempts = [
    ["http://wallet.example/session",           /^not an https address$/],
    ["ftp://wallet.example/",                   /^not an https address$/],
    ["wallet.example",                          /^not an https address$/],
    [`https://wallet.example/${"a".repeat(2048)}`, /^not an https address$/],
    ["https://wallet.example.evil.example/",    /^the host is not/],
    ["https://a.wallet.example/",               /^the host is not/],
    ["https://wallet.example./",                /^the host is not/],
    ["https://wallet.example:8443/",            /^the host is not/],
    ["https://wallet.example@evil.example/",    /^the host is not/],
    ["https://evil.example/#@wallet.example",   /^the host is not/],
    ["https://evil.example\\@wallet.example/",  /^the host is not/],
    ["https://user:pass@wallet.example/",       /^it carries a name/],
    ["https://[::ffff:127.0.0.1]/",             /^the host is not/],
    ["https://10.0.0.1/",                       /private network/],
    ["https://169.254.169.254/latest",          /never called/],
    ["https://2130706433/",                     /never called/],
    // Its name leads to this machine.
    ["https://wallet.example/session",          /never called/],
  ] as const;

  for (const [url, cause] of attempts) {
    assert.equal(await inside.ask(url), undefined, url);
    assert.match(inside.causes.pop() ?? "", cause, url);
  }
});

test("redirects are not followed, and what is no session is not handed on", async (t) => {
  const asked: string[] = [];
  let reply: readonly [status: number, body: string] = [302, ""];
  const url = await startWallet(t, ({ url: path = "" }, response) => {
    asked.push(path);
    response.writeHead(reply[0], { location: "/elsewhere" }).end(reply[1]);
  });
  const { ask, causes } = sessionsWith(["localhost"], { isStaging: true });
  // biome-ignore format: a table
  const replies = [
    [302, "{}",                                        /HTTP 302/],
    [500, "{}",                                        /HTTP 500/],
    [200, "[]",                                        /no session/],
    [200, "<html>",                                    /JSON/],
    [200, JSON.stringify({ long: "a".repeat(70_000) }), /too long/],
  ] as const;

  for (const [status, body, cause] of replies) {
    reply = [status, body];
    assert.equal(await ask(url), undefined);
    assert.match(causes.pop() ?? "", cause);
  }
  assert.deepEqual(new Set(asked), new Set(["/session"]));
  assert.equal(await ask(url, { ...merchant, id: asMerchantId("8") }), undefined);
  assert.match(causes.pop() ?? "", /no identity/);
});
