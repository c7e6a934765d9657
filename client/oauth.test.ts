/** The client with an OAuth key: v4, a header of its own for each try, and what 403 becomes. */
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { type TestContext, test } from "node:test";
import { inspect } from "node:util";
import { parseForm } from "@tollgate/protocols/form";
import { makeBaseString, OAuthFault, parseOAuthHeader, verify } from "@tollgate/protocols/oauth1";
import { AccessDenied, makeClient, Refused, Unreachable } from "./client.ts";
import {
  type Answer,
  acknowledged,
  approved,
  hangUp,
  makeStillTime,
  type Received,
  refuse,
  sale,
  say,
  startServer,
} from "./testing.ts";

const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const now = 1_794_700_800_999;
const denied = say("<p>Access denied.</p>", 403);

async function makeSigned(t: TestContext, ...answers: readonly Answer[]) {
  const { baseUrl, received } = await startServer(t, ...answers);
  const oauth = { consumerKey: "acme", privateKey, now: () => now };
  const client = makeClient({ baseUrl, oauth, timing: makeStillTime() });
  return { client, endpoint: client.endpoint("1001"), received, baseUrl };
}

function assertSigned({ url, body, authorization }: Received, baseUrl: string) {
  const header = parseOAuthHeader(authorization);
  assert.ok(!(header instanceof OAuthFault));
  const form = parseForm(Buffer.from(body));
  assert.ok("pairs" in form);
  const request = { method: "POST", url: baseUrl + url, parameters: form.pairs };
  const text = makeBaseString(request, header.parameters);
  assert.ok(typeof text === "string" && verify(text, header.signature, publicKey));
  return header;
}

test("every call goes to v4, signed, without login and control", async (t) => {
  const { client, endpoint, received, baseUrl } = await makeSigned(t, say(acknowledged));
  const waiting = await makeSigned(t, say(approved));

  await endpoint.sale({ ...sale, order_desc: " Zoë's (really) *good* tea! ~ 100% + more " });
  await client.group("1007").preauth(sale);
  await waiting.endpoint.sync.sale(sale);

  assert.deepEqual(
    [...received, ...waiting.received].map(({ url }) => url),
    ["/gw/api/v4/sale/1001", "/gw/api/v4/preauth/group/1007", "/gw/api/v4/sync/sale/1001"],
  );
  for (const sent of received) {
    const { consumerKey, timestamp } = assertSigned(sent, baseUrl);
    assert.equal(consumerKey, "acme");
    assert.equal(timestamp, Math.floor(now / 1000));
    assert.doesNotMatch(sent.body, /(^|&)(login|control)=/);
  }
});

test("each try has a nonce of its own, and the same body", async (t) => {
  const busy = refuse(503, "TEMPORARILY_UNAVAILABLE", 5001);
  const { endpoint, received, baseUrl } = await makeSigned(t, busy, hangUp, say(acknowledged));

  await endpoint.sale(sale);

  const nonces = received.map((sent) => assertSigned(sent, baseUrl).nonce);
  assert.equal(new Set(nonces).size, 3);
  assert.equal(new Set(received.map(({ body }) => body)).size, 1);
});

test("403 is an error of its own, and nothing is sent again", async (t) => {
  const { endpoint, received } = await makeSigned(t, denied);

  await assert.rejects(endpoint.sale(sale), AccessDenied);

  assert.equal(received.length, 1);
});

test("a refusal stays a refusal; without OAuth, 403 is nobody's reply", async (t) => {
  const { endpoint } = await makeSigned(t, refuse(200, "INVALID_PARAMETER", 5));
  const { baseUrl } = await startServer(t, denied);
  const other = makeClient({ baseUrl, login: "acme", controlKey: "key", timing: makeStillTime() });

  await assert.rejects(endpoint.sale(sale), Refused);
  await assert.rejects(other.endpoint("1001").sale(sale), Unreachable);
});

test("a call that the version does not have is not sent", async (t) => {
  const { endpoint, received } = await makeSigned(t, say(acknowledged));
  const whole: object = endpoint;
  assert.ok("createCardRef" in whole && typeof whole.createCardRef === "function");

  await assert.rejects(whole.createCardRef({ client_orderid: "a", orderid: "1" }), TypeError);

  assert.equal(received.length, 0);
});

test("the key is taken in both containers or as an object, and no other key is", () => {
  const baseUrl = "http://127.0.0.1:1";
  const elliptic = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
  const pem = (type: "pkcs1" | "pkcs8") => String(privateKey.export({ format: "pem", type }));

  for (const key of [pem("pkcs1"), pem("pkcs8"), privateKey]) {
    const client = makeClient({ baseUrl, oauth: { consumerKey: "acme", privateKey: key } });
    assert.doesNotMatch(inspect(client, { depth: 9 }), /PRIVATE|acme/);
  }
  for (const key of ["", "no key", publicKey, elliptic]) {
    const make = () => makeClient({ baseUrl, oauth: { consumerKey: "acme", privateKey: key } });
    assert.throws(make, /oauth.privateKey must be an RSA private key/);
  }
});
