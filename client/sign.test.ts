/**
 * Checksums compared with values that another program computed; OAuth headers, one for each
 * attempt.
 */
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { type TestContext, test } from "node:test";
import { inspect } from "node:util";
import { parseForm } from "@tollgate/protocols/form";
import { makeBaseString, OAuthFault, parseOAuthHeader, verify } from "@tollgate/protocols/oauth1";
import { AccessDenied, makeClient, Refused, Unreachable } from "./client.ts";
import { operationFacts, syncOperationFacts } from "./operations.generated.ts";
import { sign, toMinorUnits } from "./sign.ts";
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

// biome-ignore format: a table
const amounts: readonly (readonly [amount: string, currency: string, minor: string])[] = [
  ["0.94",     "USD", "94"],
  ["10.15",    "EUR", "1015"],
  ["10.5",     "EUR", "1050"],
  ["10",       "EUR", "1000"],
  ["19.99",    "USD", "1999"],
  ["00.01",    "USD", "1"],
  ["0",        "USD", "0"],
  ["0.00",     "USD", "0"],
  ["90071992547409.93", "USD", "9007199254740993"],
  ["500",      "JPY", "500"],
  ["500.00",   "JPY", "500"],
  ["500.50",   "JPY", ""],
  ["12.3400",  "USD", "1234"],
  ["1.234",    "KWD", "1234"],
  ["1.2",      "BHD", "1200"],
  ["1.2345",   "CLF", "12345"],
  ["1.234",    "USD", ""],
  [".5",       "USD", ""],
  ["5.",       "USD", ""],
  ["1e3",      "USD", ""],
  ["-1",       "USD", ""],
  ["1,50",     "USD", ""],
  ["",         "USD", ""],
];

test("an amount becomes minor units by its currency's digits, and any other text becomes empty", () => {
  for (const [amount, currency, minor] of amounts) {
    assert.equal(toMinorUnits(amount, currency), minor, `${amount} ${currency}`);
  }
});

const values = new Map(
  Object.entries({
    client_orderid: "invoice-1",
    amount: "10.42",
    currency: "USD",
    email: "jane@example.com",
  }),
);
const merchant = { id: "1001", login: "acme", controlKey: "top-secret-key" };

test("a sale is signed over endpoint, order, minor units, email and key", async () => {
  const control = await sign(operationFacts.sale.control, { ...merchant, values });

  assert.equal(control, "00e6bdeba6a1bb0729d0d92b361bb8dc5bfb092d");
});

test("a status request is signed over login, order, order id and key", async () => {
  const asked = new Map([...values, ["orderid", "77000001"]]);

  const control = await sign(operationFacts.status.control, { ...merchant, values: asked });
  assert.equal(control, "9757ba4c1e8cbfb2347e660619f65de9a5e54001");
});

// biome-ignore format: a table
const followUps: readonly (readonly [sent: Record<string, string>, control: string])[] = [
  [{ amount: "4.2", currency: "USD" },  "1a9c019b9522837120631daf6da2b30866190376"],
  [{ amount: "500", currency: "JPY" },  "48dd7a06aa9501f80b7809f0da6007f22997f494"],
  [{},                                  "9757ba4c1e8cbfb2347e660619f65de9a5e54001"],
  [{ amount: "", currency: "USD" },     "9757ba4c1e8cbfb2347e660619f65de9a5e54001"],
];

test("captures and returns sign minor units and currency, or neither without an amount", async () => {
  const ids = { client_orderid: "invoice-1", orderid: "77000001" };
  for (const [sent, expected] of followUps) {
    const asked = new Map(Object.entries({ ...ids, ...sent }));

    for (const { control } of [operationFacts.capture, operationFacts.return]) {
      assert.equal(await sign(control, { ...merchant, values: asked }), expected);
    }
  }
});

test("an account verification is signed over endpoint, order, email and key", async () => {
  const control = await sign(operationFacts.accountVerification.control, { ...merchant, values });

  assert.equal(control, "1a7c1233ba1f381f384cbd324a2cc1a8ab9b1c89");
});

test("a synchronous variant is signed like its operation", () => {
  for (const name of ["sale", "preauth", "capture", "return", "accountVerification"] as const) {
    assert.deepEqual(syncOperationFacts[name].control, operationFacts[name].control);
  }
});

test("a signed field that is not sent counts as empty", async () => {
  const control = await sign(operationFacts.status.control, { ...merchant, values });

  assert.equal(control, "c46b39cf8e3485b098993b77803a3eff1b6f0f96");
});

test("text is signed as UTF-8", async () => {
  const asked = new Map([["client_orderid", "Größe-ß"]]);

  const control = await sign(operationFacts.status.control, { ...merchant, values: asked });
  assert.equal(control, "795f16fbde5d3c6d6b6e487efe8de5694f850fee");
});

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

test("each attempt has a nonce of its own, and the same body", async (t) => {
  const busy = refuse(503, "TEMPORARILY_UNAVAILABLE", 5001);
  const { endpoint, received, baseUrl } = await makeSigned(t, busy, hangUp, say(acknowledged));

  await endpoint.sale(sale);

  const nonces = received.map((sent) => assertSigned(sent, baseUrl).nonce);
  assert.equal(new Set(nonces).size, 3);
  assert.equal(new Set(received.map(({ body }) => body)).size, 1);
});

test("a 403 is an error of its own, and the request is not sent again", async (t) => {
  const { endpoint, received } = await makeSigned(t, denied);

  await assert.rejects(endpoint.sale(sale), AccessDenied);

  assert.equal(received.length, 1);
});

test("a refusal stays a refusal, and without OAuth a 403 is not a reply", async (t) => {
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

test("an RSA key is accepted in both containers or as an object, and no other key is", () => {
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
